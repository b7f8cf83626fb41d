//! Chats as `WhatsApp` exports them: a text file per chat, `_chat.txt` from iPhones and `WhatsApp Chat with NAME.txt`
//! from Android, with the media beside it if they were asked for.
//!
//! The text is written for people, in the language and the habits of the phone. There are no ids and no time zone: a
//! message is told from another by its chat, time, author and words.

mod chat;
mod content;
mod header;
mod layout;
mod marks;
mod order;
mod phrases;
mod poll;
mod read;
mod survey;

use std::io;

use pdpp_wire::manifest::Manifest;

use crate::chat::Waiting;
use crate::{Claim, Format, Look, Sink, Stop, Tree};

/// Reads `WhatsApp` chat exports.
#[derive(Debug)]
pub(crate) struct WhatsApp;

impl Format for WhatsApp {
    fn name(&self) -> &'static str {
        "whatsapp"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        layout::claim(look).into_iter().collect()
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/whatsapp.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut waiting = Waiting::new(tree, &claim.entries);
        for index in &claim.entries {
            if layout::could_be_chat(&tree.entries()[*index].path) {
                read::chat(tree, *index, &mut waiting, sink)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
