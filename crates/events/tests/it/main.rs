//! Events against a real receiver on this machine, which misbehaves on command.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod announcing;
mod callbacks;
mod delivering;
mod property;
mod receiver;
mod subscriptions;
mod world;
