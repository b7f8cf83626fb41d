//! Drives the client against a server on a real socket that does what a test tells it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod credential;
mod in_process;
mod sending;
mod server;
