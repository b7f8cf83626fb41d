//! The owner's pages from outside: the whole router over a real data directory, forms filled in as a browser would.
//!
//! A test's doc comment names the rows of the security tables it answers (`9.2-6`, `9.3-11`, …).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod authenticator;
mod browser;
mod connections;
mod consent;
#[expect(dead_code, reason = "shared with the tests of the authorization server, which need more of it")]
#[path = "../oauth/desk.rs"]
mod desk;
mod devices;
mod events;
mod first_run;
#[path = "../oauth/flow.rs"]
mod flow;
mod forgery;
mod headers;
mod home;
mod hostile;
mod html;
mod login;
mod narrowing;
mod owners;
mod passkeys;
mod picker;
