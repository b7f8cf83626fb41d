//! Reading from a Postgres server: how it is done, and that it is told as the embedded store tells it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod desk;
mod query_plans;
mod same_answers;
#[path = "../support/mod.rs"]
mod support;
