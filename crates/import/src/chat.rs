//! What the readers of chat exports share: taking members out of loose JSON, times, media types, and attachments
//! that wait until the text around them has been read.

mod elements;
mod fields;
mod member;
mod moment;
mod seen;
mod waiting;

pub(crate) use crate::media_type::media_type_of;
pub(crate) use crate::members::{flag, list, text, whole as integer};
pub(crate) use elements::{Flow, LONGEST_ELEMENT, each_element};
pub(crate) use fields::Fields;
pub(crate) use member::{shallow, texts};
pub(crate) use moment::{from_fraction, from_unix, local};
pub(crate) use seen::Seen;
pub(crate) use waiting::{Bytes, Pending, Waiting};
