//! Calls over real sockets, none of which leaves this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounds;
mod documents;
mod guard;
mod loopback;
mod site;
mod world;
