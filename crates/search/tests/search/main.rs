//! The index on a real store: what it follows, what it finds, and what it may never tell.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asked;
mod behind;
mod copies;
mod cut;
mod damage;
mod following;
mod pages;
mod pool;
mod proven;
mod purging;
mod query;
mod ranking;
mod scope;
mod support;
