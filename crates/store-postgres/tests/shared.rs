//! Several nodes on one database: who may read, and what was read.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "shared/authority.rs"]
mod authority;
#[path = "shared/ledger.rs"]
mod ledger;
#[path = "support/mod.rs"]
mod support;

use std::time::Duration;

use pdpp_store_postgres::Options;

/// Enough patience for a machine that does much else.
fn patient() -> Options {
    Options { connections: 6, wait: Duration::from_mins(1), ..support::options() }
}
