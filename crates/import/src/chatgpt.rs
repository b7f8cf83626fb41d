//! The data export of `ChatGPT`: `conversations.json`, or its parts `conversations-000.json` and on, with files beside them.
//!
//! A conversation is a tree: an edited question or a second answer is a branch, and all of them are kept. Files lie
//! beside the conversations under the service's own ids, so they are fetched after the text, when no other entry is
//! open.

mod aside;
mod assets;
mod claim;
mod content;
mod conversation;
mod message;
mod message_tree;

use std::io;

use pdpp_wire::manifest::Manifest;

use self::assets::Assets;
use self::conversation::Conversations;
use crate::json_list::JsonList;
use crate::{Claim, Format, Look, Sink, Stop, Tree};

/// Most bytes of one conversation.
const LONGEST: usize = 64 << 20;

/// Reads the export of `ChatGPT`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChatGpt;

impl Format for ChatGpt {
    fn name(&self) -> &'static str {
        "chatgpt"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        claim::claim(look)
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/chatgpt.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let assets = Assets::find(tree, claim);
        let shares = aside::shares(tree, claim);
        let mut conversations = Conversations::new(assets, shares);
        for index in claim::named(tree, claim, claim::is_conversations) {
            let list = JsonList { index, element: "conversation", longest: LONGEST };
            list.read(tree, sink, &mut |place, value, sink| conversations.take(place, value, sink))?;
        }
        for index in claim::named(tree, claim, |name| name == "message_feedback.json") {
            let list = JsonList { index, element: "feedback", longest: 1 << 20 };
            list.read(tree, sink, &mut aside::feedback)?;
        }
        conversations.into_assets().attach(tree, sink)
    }
}

#[cfg(test)]
mod tests;
