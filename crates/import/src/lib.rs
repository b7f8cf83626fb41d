//! Reads data exports: bytes in, records and complaints out.
//!
//! One module per format. A reader never stops at something it cannot use: it complains, with the
//! place, and goes on. Storing, looking at paths and talking to people happen elsewhere.

mod batch;
mod format;
mod formats;
mod post_text;
mod item;
mod json_elements;
mod jsonl;
mod key;
mod lines;
mod mastodon;
mod sink;
mod stamp;
mod table;
#[cfg(test)]
mod testing;
mod tree;
mod x;

pub use format::{Claim, Detected, Format, Look, detect};
pub use formats::formats;
pub use item::{Complaint, Item};
pub use jsonl::{Jsonl, MAX_LINE_BYTES};
pub use key::{hash_key, mint_key};
pub use mastodon::Mastodon;
pub use sink::{Attached, Attachment, Draft, Sink, Stop};
pub use table::{Csv, Json, JsonLines};
pub use tree::{
    Bounds, Entry, InMemory, Nested, OneFile, ReadSeek, Scratch, ScratchFile, Tree, file_name, safe_path,
    stem,
};
pub use x::X;
