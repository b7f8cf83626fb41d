//! Walks the chats of an export and gives their messages, media and themselves.
//!
//! When many media wait for their bytes, the walk is put down, they are given, and the file is walked again to where
//! it was left. That happens once in some hundred thousand media, and keeps memory flat.

use serde_json::Value;

use super::chat::Chat;
use super::{media, message};
use crate::chat::{LONGEST_ELEMENT, Waiting};
use crate::json_elements::{Elements, Found};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree};

/// Where the messages of chats are in a file.
#[derive(Debug)]
pub(super) struct Place {
    path: &'static [&'static str],
    /// At which depth the object of a chat opens.
    depth: usize,
    left: bool,
}

pub(super) const ONE_CHAT: Place = Place { path: &["messages"], depth: 0, left: false };
pub(super) const CHATS: Place = Place { path: &["chats", "list", "*", "messages"], depth: 3, left: false };
pub(super) const LEFT_CHATS: Place =
    Place { path: &["left_chats", "list", "*", "messages"], depth: 3, left: true };

#[derive(Debug)]
pub(super) struct Walk<'w> {
    pub(super) index: usize,
    pub(super) path: &'w str,
    /// The folder the paths of media start from.
    pub(super) root: &'w str,
    pub(super) waiting: &'w mut Waiting,
}

impl Walk<'_> {
    pub(super) fn chats(
        &mut self,
        tree: &mut dyn Tree,
        place: &Place,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let (mut chat, mut after) = (None, 0);
        loop {
            let paused = self.stretch(tree, place, after, &mut chat, sink)?;
            self.waiting.flush(tree, sink)?;
            match paused {
                Some(number) => after = number,
                None => break,
            }
        }
        match chat {
            Some(chat) => chat.give(self.path, sink),
            None => Ok(()),
        }
    }

    /// Reads what stands behind message `after`; `Some` where it stopped so that media can be given.
    fn stretch(
        &mut self,
        tree: &mut dyn Tree,
        place: &Place,
        after: u64,
        chat: &mut Option<Chat>,
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Stop> {
        let reader = match open_buffered(tree, self.index) {
            Ok(reader) => reader,
            Err(error) => {
                sink.complain(Complaint::unreadable(self.path, &error))?;
                return Ok(None);
            }
        };
        let mut elements = Elements::new(reader, place.path, LONGEST_ELEMENT);
        let mut passed = 0;
        loop {
            let found = match elements.next() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(None),
                Err(error) => {
                    sink.complain(Complaint::unreadable(self.path, &error))?;
                    return Ok(None);
                }
            };
            if passed < after {
                // Walking again to where it was left: all of this is known.
                if let Found::Element { number, .. } | Found::TooLong { number } = found {
                    passed = number;
                }
                continue;
            }
            match found {
                Found::Enter { depth } if depth == place.depth => {
                    if let Some(done) = chat.replace(Chat::new(place.left)) {
                        done.give(self.path, sink)?;
                    }
                }
                Found::Beside { depth, name, json } if depth == place.depth => {
                    if let Some(chat) = chat {
                        chat.learn(&name, json);
                    }
                }
                Found::Element { number, json } => {
                    self.message(number, json, chat.get_or_insert_with(|| Chat::new(place.left)), sink)?;
                    if self.waiting.full() {
                        return Ok(Some(number));
                    }
                }
                Found::TooLong { number } => {
                    let mebibytes = LONGEST_ELEMENT / 1024 / 1024;
                    let message = format!("It is longer than {mebibytes} MiB.");
                    sink.complain(Complaint::damaged(self.at(number), message))?;
                }
                // Every walk of one file meets the same break; the first tells of it.
                Found::Broken { at } if !place.left => {
                    let message =
                        "The JSON ends too early or is broken here; what follows could not be read.";
                    sink.complain(Complaint::damaged(format!("{} byte {at}", self.path), message))?;
                }
                _ => {}
            }
        }
    }

    fn at(&self, number: u64) -> String {
        format!("{} message {number}", self.path)
    }

    fn message(
        &mut self,
        number: u64,
        json: &[u8],
        chat: &mut Chat,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let place = self.at(number);
        let Ok(value) = serde_json::from_slice::<Value>(json) else {
            return sink.complain(Complaint::damaged(place, "It is no JSON that can be read."));
        };
        let message = match message::read(&value, chat) {
            Ok(message) => message,
            Err(problem) => return sink.complain(Complaint::damaged(place, problem)),
        };
        if !chat.seen.first_time(message.number) {
            return sink.complain(Complaint::damaged(place, "`id` was used before in this chat."));
        }
        chat.count(message.sent_at.as_deref());
        let media = media::of_message(&value, &message, &chat.id, &place, self.root);
        sink.record(message.fields.draft("messages", &message.key, place))?;
        for found in media {
            match found {
                media::Media::Beside(pending) => self.waiting.push(pending),
                media::Media::NotIncluded(draft) => sink.record(draft)?,
            }
        }
        Ok(())
    }
}
