//! Every promise of the store, kept on a Postgres server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

mod postgres {
    pdpp_store::conformance_tests!(crate::support::fresh_store);
}
