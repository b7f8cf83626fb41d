//! Drives the real binary: one file per command, one directory per test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod bad_input;
mod collect;
mod connections;
mod crash;
mod demo;
mod exports;
mod grant;
mod import;
mod journeys;
mod mcp;
mod mcp_http;
mod oauth2_client;
mod owner;
mod read;
mod serve;
mod support;
mod two_processes;
mod verify;
