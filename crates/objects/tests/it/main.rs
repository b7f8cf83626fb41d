//! The promises over a directory, and what becomes of them when a directory or a store misbehaves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../suite/mod.rs"]
mod suite;

mod directory;
mod encrypted;
mod liar;
mod lying;

use std::future::{Ready, ready};

use pdpp_objects::Settings;
use suite::{Place, open};

fn place(_test: &str) -> Ready<Place> {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path().join("made/when/opened");
    let objects = open(root.to_str().unwrap(), &Settings::default(), 1);
    ready(Place { objects, keep: Some(keep) })
}

promises!(place);
