//! Drives the real binary: one file per command, one directory per test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod backup;
mod bad_input;
mod collect;
mod completions;
mod connect;
mod connections;
mod copy;
mod crash;
mod crash_merging;
mod database;
mod demo;
mod doctor;
mod edited_exports;
mod events;
mod exports;
mod full_disk;
mod grant;
mod hostile_documents;
mod hostile_exports;
mod import;
mod journeys;
mod list_search;
mod mcp;
mod mcp_http;
mod narrow;
mod oauth2_client;
mod owner;
mod parity;
mod quickstart;
mod read;
mod serve;
mod sessions;
mod setup;
mod subjects;
mod support;
mod two_processes;
mod two_stores;
mod verify;
