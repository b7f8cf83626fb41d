//! Drives the real binary: one file per command, one directory per test.

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
