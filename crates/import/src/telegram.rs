//! What Telegram Desktop exports as JSON: a whole account, or one chat, each in one `result.json` with the media in
//! folders beside it.
//!
//! The file may be gigabytes long, so it is walked element by element, once for each list in it.

mod chat;
mod contacts;
mod layout;
mod media;
mod message;
mod text;
mod walk;

use std::io;

use pdpp_wire::manifest::Manifest;

use crate::chat::Waiting;
use crate::telegram::layout::Shape;
use crate::telegram::walk::Walk;
use crate::tree::open_buffered;
use crate::{Claim, Complaint, Format, Look, Sink, Stop, Tree};

/// Reads exports of Telegram Desktop.
#[derive(Debug)]
pub(crate) struct Telegram;

impl Format for Telegram {
    fn name(&self) -> &'static str {
        "telegram"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        layout::claims(look)
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/telegram.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some((&index, media)) = claim.entries.split_first() else {
            return Ok(());
        };
        let path = tree.entries()[index].path.clone();
        let head = match open_buffered(tree, index).and_then(layout::read_head) {
            Ok(head) => head,
            Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
        };
        let mut waiting = Waiting::new(tree, media);
        let root = path[..path.rfind('/').map_or(0, |slash| slash + 1)].to_owned();
        let mut walk = Walk { index, path: &path, root: &root, waiting: &mut waiting };
        if layout::recognise(&head).is_some_and(|found| found.shape == Shape::OneChat) {
            walk.chats(tree, &walk::ONE_CHAT, sink)?;
        } else {
            contacts::read(tree, index, &path, sink)?;
            walk.chats(tree, &walk::CHATS, sink)?;
            walk.chats(tree, &walk::LEFT_CHATS, sink)?;
        }
        waiting.complain_of_missing(&path, sink)
    }
}

#[cfg(test)]
mod tests;
