//! The REST surface over the real embedded store: whole answers, compared as text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written by `UPDATE_EXPECT=1`")]
#![expect(clippy::too_many_lines, reason = "a snapshot of a whole answer is as long as the answer")]

mod aggregate;
mod authority;
mod bad_input;
mod blobs;
mod changes;
mod delete;
mod described;
mod discovery;
mod errors;
mod events;
mod field_window;
mod frame;
mod ingest;
mod ledger;
mod manifests;
mod operations;
mod quotas;
mod record;
mod records;
mod schema;
mod search;
mod sorted_pages;
mod state;
mod streams;
mod world;
