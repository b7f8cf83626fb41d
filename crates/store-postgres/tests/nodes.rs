//! Several nodes on one database: what they do to the same rows and bytes at the same time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "nodes/blobs.rs"]
mod blobs;
#[path = "nodes/clocks.rs"]
mod clocks;
#[path = "nodes/events.rs"]
mod events;
#[path = "nodes/places.rs"]
mod places;
#[path = "support/mod.rs"]
mod support;

use std::time::Duration;

use pdpp_store_postgres::Options;
use tokio_postgres::Client;

/// Enough patience for a machine that does much else.
fn patient() -> Options {
    Options { connections: 6, wait: Duration::from_mins(1), ..support::options() }
}

/// A connection of nobody's, that sees everything.
async fn onlooker(kept: &support::Kept) -> Client {
    let (client, connection) = tokio_postgres::connect(&kept.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("SET pdpp.subject = '*'").await.unwrap();
    client
}
