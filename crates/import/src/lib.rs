//! Reads data exports: bytes in, records and complaints out.
//!
//! One module per format. A reader never stops at something it cannot use: it complains, with the
//! place, and goes on. Storing, looking at paths and talking to people happen elsewhere.

mod chat;
mod document_kind;
mod extract;

mod chatgpt;
mod claude;
mod decoding;
mod folders;
mod calendar;
mod contacts;
mod content_lines;
mod format;
mod formats;
mod google;
mod charset;
mod html_text;
mod batch;
mod post_text;
mod item;
mod json_elements;
mod json_list;
mod jsonl;
mod key;
mod lines;
mod media_type;
mod members;
mod notes;
mod own_export;
mod mail;
mod sink;
mod slack;
mod telegram;
#[cfg(test)]
mod testing;
mod tree;
mod whatsapp;
mod mastodon;
mod stamp;
mod table;
mod x;

pub use document_kind::DocumentKind;
pub use extract::extract_text;
pub use calendar::Ics;
pub use contacts::Vcf;
pub use format::{Claim, Detected, Format, Look, detect};
pub use formats::formats;
pub use google::Takeout;
pub use item::{Complaint, Item};
pub use jsonl::{Jsonl, MAX_LINE_BYTES};
pub use key::{hash_key, mint_key};
pub use lines::{Line, Lines};
pub use mail::Mail;
pub use mastodon::Mastodon;
pub use sink::{Attached, Attachment, Draft, Sink, Stop};
pub use table::{Csv, Json, JsonLines};
pub use tree::{
    Bounds, Entry, InMemory, Nested, OneFile, ReadSeek, Scratch, ScratchFile, Tree, file_name, safe_path,
    stem,
};
pub use x::X;
