//! The adapter as its clients see it: JSON-RPC in, JSON-RPC out, before a resource server that does what it is told
//! and remembers what it was asked.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod aggregate;
mod bad_servers;
mod batches;
mod blobs;
mod budget;
mod cancellation;
mod completions;
mod defects;
mod events;
mod expand;
mod fetch;
mod fetch_ids;
mod fetch_journey;
mod field_window;
mod hostile;
mod instructions;
mod ladder;
mod list_streams;
mod page_size;
mod progress;
mod prompts;
mod protocol;
mod query_records;
mod query_records_budget;
mod record_tools;
mod resources;
mod samples;
mod schema;
mod schema_size;
mod search;
mod support;
mod token_table;
mod tokens;
mod tool_list;
