//! A folder of notes in Markdown: an Obsidian vault, an export of Notion, or plain files.
//!
//! A note's own words are kept as they stand; what is found in them (tags, links, headings) stands beside them. The
//! times of files are not known here, so a note is dated only where its front matter dates it.

mod attachments;
mod claim;
mod dates;
mod front_matter;
mod markdown;
mod note;
mod paths;
mod vault;
mod yaml;

use std::io;

use pdpp_wire::manifest::Manifest;

use self::attachments::Attachments;
use self::note::Notes;
use self::vault::Vault;
use crate::{Claim, Format, Look, Sink, Stop, Tree};

/// Reads a folder of notes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteFolder;

impl Format for NoteFolder {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        claim::claim(look)
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/notes.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let vault = Vault::of(tree.entries(), claim);
        let mut attachments = Attachments::default();
        Notes { vault: &vault, attachments: &mut attachments }.give(tree, sink)?;
        attachments.give(&vault, tree, sink)
    }
}

#[cfg(test)]
mod tests;
