//! Reads data exports: bytes in, records and complaints out.
//!
//! One module per format. A reader never stops at something it cannot use: it complains, with the
//! place, and goes on. Storing, looking at paths and talking to people happen elsewhere.

mod batch;
mod calendar;
mod charset;
mod chat;
mod chatgpt;
mod claude;
mod contacts;
mod content_lines;
mod decoding;
mod document_kind;
mod extract;
mod folders;
mod format;
mod formats;
mod google;
mod html_text;
mod item;
mod json_elements;
mod json_list;
mod jsonl;
mod key;
mod lines;
mod mail;
mod mastodon;
mod media_type;
mod members;
mod notes;
mod own_export;
mod post_text;
#[cfg(test)]
mod shipped_manifests;
mod sink;
mod slack;
mod stamp;
mod table;
mod telegram;
#[cfg(test)]
mod testing;
mod tree;
mod whatsapp;
mod x;

pub use document_kind::DocumentKind;
pub use extract::extract_text;
pub use format::{Claim, Detected, Format, Look, detect};
pub use formats::formats;
pub use item::{Complaint, Item};
pub use jsonl::{Jsonl, MAX_LINE_BYTES};
pub use key::{hash_key, mint_key};
pub use lines::{Line, Lines};
pub use sink::{Attached, Attachment, Draft, Sink, Stop};
pub use tree::{
    Bounds, Entry, InMemory, Nested, OneFile, ReadSeek, Scratch, ScratchFile, Tree, file_name, safe_path,
    stem,
};
