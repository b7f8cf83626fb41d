//! Reads data exports: bytes in, records and complaints out.
//!
//! One module per format. A reader never stops at something it cannot use: it complains, with the
//! place, and goes on. Storing, looking at paths and talking to people happen elsewhere.

mod item;
mod jsonl;
mod lines;

pub use item::{Complaint, Item};
pub use jsonl::{Jsonl, MAX_LINE_BYTES};
