//! `pdpp read`: the evidence ladder for people and scripts, against any PDPP server.
//!
//! Search shows a proven piece and prints the command that reads on from it; that command reads one bounded
//! window, not the record. Meaning (what is binary, what is cut, where a window goes on) comes from
//! `pdpp-evidence`, as it does for the other surfaces.

mod command;
mod fetch;
mod field_window;
mod output;
mod search;
mod source;
mod target;

use clap::{Args, Subcommand};

/// Search and read granted data from any PDPP server
///
/// The server is the one in the URL, --url or `PDPP_PROVIDER_URL`, else `http://127.0.0.1:7663`. The credential is the
/// token in `PDPP_CLIENT_TOKEN`, else the one `pdpp connect` keeps. A URL comes first, and counts as one only when
/// there is one word more than the command needs.
#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Search(search::SearchArgs),
    Fetch(fetch::FetchArgs),
    FieldWindow(field_window::FieldWindowArgs),
}

pub(crate) async fn run(args: ReadArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Search(args) => search::run(args).await,
        Action::Fetch(args) => fetch::run(args).await,
        Action::FieldWindow(args) => field_window::run(args).await,
    }
}
