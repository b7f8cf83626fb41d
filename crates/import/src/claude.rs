//! Claude's data export: `conversations.json` with projects, memories and users beside it.
//!
//! Older exports hold all projects in `projects.json`; newer ones a file for each, and the newest come as several
//! archives (`conversations-000.zip`, `projects-000.zip`, …) that belong together. The service puts no uploaded files
//! into its export, but the text it took from them is there.

mod attachment;
mod claim;
mod conversation;
mod memory;
mod message;
mod project;

use std::io;

use pdpp_wire::manifest::Manifest;
use serde_json::Value;

use self::claim::Kind;
use self::conversation::Conversations;
use crate::json_list::{JsonList, Take, parse};
use crate::tree::read_whole;
use crate::{Claim, Complaint, Format, Look, Sink, Stop, Tree};

/// Most bytes of one conversation, one project with its documents, or one file of memories.
const LONGEST: usize = 64 << 20;

/// Reads Claude's export.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claude;

impl Format for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        claim::claim(look)
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/claude.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut conversations = Conversations::default();
        for index in &claim.entries {
            let path = tree.entries()[*index].path.clone();
            let mut take: Box<Take<'_>> = match Kind::of(&path) {
                Some(Kind::Conversations) => {
                    Box::new(|place, value, sink| conversations.take(place, value, sink))
                }
                Some(Kind::Project) => Box::new(project::take),
                Some(Kind::Memory) => Box::new(memory::take),
                Some(Kind::Users) | None => continue,
            };
            let element = Kind::of(&path).map_or("element", Kind::element);
            read_one_or_many(tree, *index, element, sink, &mut *take)?;
        }
        Ok(())
    }
}

/// A file that is an array of objects, or one object.
fn read_one_or_many(
    tree: &mut dyn Tree,
    index: usize,
    element: &str,
    sink: &mut dyn Sink,
    take: &mut Take<'_>,
) -> Result<(), Stop> {
    if !claim::begins_with_object(tree, index) {
        return JsonList { index, element, longest: LONGEST }.read(tree, sink, take);
    }
    let path = tree.entries()[index].path.clone();
    match read_whole(tree, index, LONGEST as u64) {
        Err(error) => sink.complain(Complaint::unreadable(path, &error)),
        Ok(bytes) => match parse(&bytes).filter(Value::is_object) {
            Some(value) => take(&path, &value, sink),
            None => sink.complain(Complaint::damaged(path, "It is not a JSON object.")),
        },
    }
}

#[cfg(test)]
mod tests;
