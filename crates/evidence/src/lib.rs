//! Decides what a reader is shown.
//!
//! Every door of the program (REST, MCP, the command line) shows pieces of records: a window of a long text,
//! a preview around a match, metadata instead of binary content, the call that reads on. What such a piece
//! contains is decided here once, so that the same question gives the same evidence through any door.
//!
//! The crate is pure: values in, values out. It reads nothing, knows no tokens and renders no pages. Most of
//! its input is text that strangers wrote, so every function is total, takes linear time, and bounds what it
//! returns.
//!
//! Characters are Unicode scalar values everywhere: offsets, limits and totals.

#![cfg_attr(
    test,
    expect(
        clippy::needless_pass_by_value,
        clippy::needless_raw_string_hashes,
        reason = "`check(input, expect![…])` reads best with values, and expect-test writes the literals itself"
    )
)]

mod binary;
mod compact_schema;
mod continuation;
mod field_flags;
mod field_path;
mod field_text;
mod fold;
mod handle;
mod preview;
mod proof;
mod query;
mod roles;
mod scalars;
mod schema_scope;
mod size;
mod untrusted;
mod window;
mod words;

#[cfg(test)]
mod random;

pub use binary::{Content, classify, redact, redact_in_place};
pub use compact_schema::compact;
pub use continuation::{FieldTarget, FieldWindowRead, percent_encode_segment};
pub use field_flags::flags;
pub use field_path::{FieldPath, FieldPathError};
pub use field_text::{FieldText, TextKind, text_of};
pub use fold::{find_folded, fold};
pub use handle::{BlobHandle, FieldWindowHandle, HandleError, RecordHandle, percent_decode, safe_name};
pub use preview::{Preview, PreviewBudget, preview, render_marked};
pub use proof::{Proof, Wanted, prove};
pub use query::{Clause, Ignored, IgnoredReason, Need, Query, What, parse as parse_query};
pub use roles::{Display, Role, Roles};
pub use schema_scope::scope;
pub use size::{Extent, json_bytes};
pub use untrusted::{Neutral, neutralise};
pub use window::{
    DEFAULT_LIMIT_CHARS, MAX_CONTEXT_CHARS, MAX_LIMIT_CHARS, QueryNotFound, TextWindow, WindowRequest, cut,
};
pub use words::{
    Language, TermMatch, Token, TokenRef, WantedTerm, find_terms, for_each_token, forms, is_stop_word,
    language_of, tokenize,
};
