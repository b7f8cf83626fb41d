//! Long posts. The list of posts holds only how each begins; the whole text lies in `note-tweet.js` under a number of
//! its own, and nothing names the post it belongs to. Time and beginning tell.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::files::Files;
use super::{Me, script, stamps, tell};
use crate::members::{put, text};
use crate::post_text::decode_entities;
use crate::{Complaint, Sink, Stop, Tree, mint_key};

/// Most text that is held: long posts are rare, and a paid feature.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// How much of the beginning must be the same.
const BEGINNING: usize = 60;

#[derive(Debug)]
struct Note {
    id: String,
    text: String,
    created: Option<String>,
    place: String,
    used: bool,
}

/// Long posts by the second they were written in.
#[derive(Debug, Default)]
pub(super) struct Notes {
    by_second: BTreeMap<i64, Vec<Note>>,
    bytes: usize,
}

impl Notes {
    pub(super) fn read(
        tree: &mut dyn Tree,
        files: &Files,
        me: &Me,
        sink: &mut dyn Sink,
    ) -> Result<Self, Stop> {
        let mut notes = Self::default();
        script::read(tree, files, "note-tweet", true, sink, &mut |item, sink| {
            let note = item.value.get("noteTweet").unwrap_or(&item.value);
            let core = note.get("core").unwrap_or(&Value::Null);
            let (Some(id), Some(words)) = (text(note, "noteTweetId"), text(core, "text")) else {
                return sink
                    .complain(Complaint::damaged(item.place, "`noteTweetId` or `core.text` is missing."));
            };
            let created = text(note, "createdAt");
            let note = Note {
                id: id.to_owned(),
                text: decode_entities(words).into_owned(),
                created: created.and_then(stamps::parse),
                place: item.place.to_owned(),
                used: false,
            };
            notes.bytes += note.text.len();
            match created.and_then(stamps::seconds) {
                Some(second) if notes.bytes <= MOST_BYTES => {
                    notes.by_second.entry(second).or_default().push(note);
                    Ok(())
                }
                _ => note.tell(me, sink),
            }
        })?;
        Ok(notes)
    }

    /// The whole text of a post, if it is one that was cut.
    pub(super) fn whole_text(&mut self, short: &str, second: Option<i64>) -> Option<String> {
        let beginning: String = beginning(short);
        if beginning.chars().count() < 10 {
            return None;
        }
        let second = second?;
        let near = self.by_second.range_mut(second - 2..=second + 2).flat_map(|(_, notes)| notes);
        let mut fitting = near.filter(|note| !note.used && note.text.starts_with(&beginning));
        let note = fitting.next()?;
        note.used = true;
        Some(note.text.clone())
    }

    /// Long posts whose short form is not in the archive are posts all the same.
    pub(super) fn tell_unused(self, me: &Me, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut unused = self.by_second.into_values().flatten().filter(|note| !note.used);
        unused.try_for_each(|note| note.tell(me, sink))
    }
}

impl Note {
    fn tell(&self, me: &Me, sink: &mut dyn Sink) -> Result<(), Stop> {
        let key = mint_key(&format!("note:{}", self.id));
        let mut data = Map::new();
        put(&mut data, "id", Some(key.as_str()));
        put(&mut data, "kind", Some("note"));
        put(&mut data, "author", me.username.as_deref().map(|name| format!("@{name}")));
        put(&mut data, "created_at", self.created.as_deref());
        put(&mut data, "text", Some(self.text.as_str()));
        tell(sink, "posts", key, data, &self.place)
    }
}

/// How a cut post begins, without the dots and the link it ends with.
fn beginning(short: &str) -> String {
    let end = short.find("https://t.co/").unwrap_or(short.len());
    short[..end]
        .trim_end()
        .trim_end_matches('…')
        .chars()
        .take(BEGINNING)
        .collect::<String>()
        .trim_end()
        .to_owned()
}
