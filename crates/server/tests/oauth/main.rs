//! The authorization server from outside: the whole router over a real data directory, a clock that tests move.
//!
//! A test's doc comment names the rows of the security tables it answers (`9.2-1`, `9.3-1`, …).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agents;
mod bad_input;
mod browsers;
mod busy;
mod clients;
mod codes;
mod consent;
mod desk;
mod devices;
mod discovery;
mod flow;
mod introspection;
mod ledger;
mod narrowing;
mod property;
mod rates;
mod refresh;
mod resources;
mod revocation;
mod sessions;
