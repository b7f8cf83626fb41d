//! Drives the real binary: one file per command, one directory per test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod bad_input;
mod connections;
mod crash;
mod demo;
mod grant;
mod import;
mod owner;
mod serve;
mod support;
mod verify;
