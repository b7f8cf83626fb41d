//! `pdpp read`: the evidence ladder for people and scripts, against any PDPP server or the owner's own directory.
//!
//! Search shows a proven piece and prints the command that reads on from it; that command reads one bounded
//! window, not the record. Meaning (what is binary, what is cut, where a window goes on) comes from
//! `pdpp-evidence`, as it does for the other surfaces.

mod aggregate;
mod blob;
mod command;
mod fetch;
mod field_window;
mod filter;
mod local;
mod output;
mod pages;
mod picture;
mod query_records;
mod schema;
mod search;
mod source;
mod streams;
mod target;

use clap::{Args, Subcommand};

/// Search and read granted data from any PDPP server, or your own on this machine
///
/// The server is the one in the URL, --url or `PDPP_PROVIDER_URL`, else the only one `pdpp connect` was used for, else
/// `http://127.0.0.1:7663`. The credential is the token in `PDPP_CLIENT_TOKEN`, else the one `pdpp connect` keeps. A URL
/// comes first, and counts as one only when there is one word more than the command needs. With --data DIR you read your
/// own data directory as its owner, without server or grant.
#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Schema(schema::SchemaArgs),
    Streams(streams::StreamsArgs),
    QueryRecords(query_records::QueryRecordsArgs),
    Search(search::SearchArgs),
    FieldWindow(field_window::FieldWindowArgs),
    Fetch(fetch::FetchArgs),
    Aggregate(aggregate::AggregateArgs),
    Blob(blob::BlobArgs),
}

pub(crate) async fn run(args: ReadArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Schema(args) => schema::run(args).await,
        Action::Streams(args) => streams::run(args).await,
        Action::QueryRecords(args) => query_records::run(args).await,
        Action::Search(args) => search::run(args).await,
        Action::FieldWindow(args) => field_window::run(args).await,
        Action::Fetch(args) => fetch::run(args).await,
        Action::Aggregate(args) => aggregate::run(args).await,
        Action::Blob(args) => blob::run(args).await,
    }
}
