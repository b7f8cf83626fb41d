//! The archive X (once Twitter) hands out: scripts in `data/` that each assign one list, and folders of media.
//!
//! Posts and messages are read one at a time. Long posts lie in a file of their own and are joined with the short post
//! that stands for them. People appear as numbers nearly everywhere; where a post mentions somebody, the number gets a
//! name. Advertising, devices and sign-in history are left alone.

mod claim;
mod connections;
mod files;
mod likes;
mod media;
mod messages;
mod names;
mod notes;
mod post;
mod posts;
mod profile;
mod script;
mod stamps;

use std::io;

use pdpp_wire::manifest::Manifest;
use serde_json::{Map, Value};

use self::files::Files;
use self::names::Names;
use crate::{Claim, Draft, Format, Look, Sink, Stop, Tree};

/// An X archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct X;

impl Format for X {
    fn name(&self) -> &'static str {
        "x"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        claim::claim(look)
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/x.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut archive =
            Archive { files: Files::new(tree, claim), names: Names::default(), me: Me::default() };
        archive.me = profile::read(tree, &archive.files, sink)?;
        // Posts come first: they teach the names that messages and connections lack.
        posts::read(tree, &mut archive, sink)?;
        likes::read(tree, &archive.files, sink)?;
        messages::read(tree, &mut archive, sink)?;
        connections::read(tree, &archive, sink)?;
        archive.files.tell_leftovers(tree, sink)
    }
}

/// What is known while an archive is read.
struct Archive {
    files: Files,
    names: Names,
    me: Me,
}

/// Whose archive it is.
#[derive(Debug, Default)]
struct Me {
    id: Option<String>,
    username: Option<String>,
}

fn tell(
    sink: &mut dyn Sink,
    stream: &str,
    key: String,
    data: Map<String, Value>,
    place: &str,
) -> Result<(), Stop> {
    sink.record(Draft { stream: stream.to_owned(), key, data, place: place.to_owned() })
}

#[cfg(test)]
mod tests;
