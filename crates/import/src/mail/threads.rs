//! Conversations, gathered while messages are told: a few words for each.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Map, json};

use super::headers::Mailbox;
use super::identity::ThreadId;
use crate::{Draft, Sink, Stop};

/// Most people that are named.
const MOST_PEOPLE: usize = 20;
/// Most bytes of their addresses.
const MOST_PEOPLE_BYTES: usize = 1000;
/// Longest subject.
const LONGEST_SUBJECT: usize = 500;

/// All conversations of an import, in the order their first message was told.
#[derive(Debug, Default)]
pub(super) struct Threads {
    places: HashMap<ThreadId, u32>,
    threads: Vec<Thread>,
}

#[derive(Debug)]
struct Thread {
    id: ThreadId,
    /// Of the earliest message.
    subject: Option<Box<str>>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    messages: u32,
    /// Addresses, one a line.
    people: String,
    has_more_people: bool,
}

impl Threads {
    pub(super) fn add(
        &mut self,
        id: ThreadId,
        at: Option<Timestamp>,
        subject: Option<&str>,
        people: impl Iterator<Item = Mailbox>,
    ) {
        let place = *self.places.entry(id).or_insert_with(|| {
            self.threads.push(Thread {
                id,
                subject: None,
                first: None,
                last: None,
                messages: 0,
                people: String::new(),
                has_more_people: false,
            });
            u32::try_from(self.threads.len() - 1).unwrap_or(u32::MAX)
        });
        let Some(thread) = self.threads.get_mut(place as usize) else { return };
        let is_earliest =
            thread.messages == 0 || at.is_some_and(|at| thread.first.is_none_or(|first| at < first));
        if is_earliest && let Some(subject) = subject {
            thread.subject = Some(subject[..subject.floor_char_boundary(LONGEST_SUBJECT)].into());
        }
        thread.messages += 1;
        thread.first = thread.first.into_iter().chain(at).min();
        thread.last = thread.last.into_iter().chain(at).max();
        for address in people.filter_map(|one| one.address) {
            thread.meet(&address.to_lowercase());
        }
        thread.people.shrink_to_fit();
    }

    pub(super) fn tell(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        for thread in self.threads {
            sink.record(thread.draft())?;
        }
        Ok(())
    }
}

impl Thread {
    fn meet(&mut self, address: &str) {
        if self.people.lines().any(|known| known == address) {
            return;
        }
        let is_full = self.people.lines().count() >= MOST_PEOPLE;
        if is_full || self.people.len() + address.len() > MOST_PEOPLE_BYTES {
            self.has_more_people = true;
            return;
        }
        if !self.people.is_empty() {
            self.people.push('\n');
        }
        self.people.push_str(address);
    }

    fn draft(self) -> Draft {
        let key = self.id.key();
        let mut data = Map::new();
        data.insert("id".into(), json!(key));
        if let Some(subject) = self.subject {
            data.insert("subject".into(), json!(subject));
        }
        for (name, at) in [("first_at", self.first), ("last_at", self.last)] {
            if let Some(at) = at {
                data.insert(name.into(), json!(at.to_string()));
            }
        }
        data.insert("message_count".into(), json!(self.messages));
        data.insert("participants".into(), json!(self.people.replace('\n', ", ")));
        data.insert("has_more_participants".into(), json!(self.has_more_people));
        let place = format!("conversation {key}");
        Draft { stream: "threads".into(), key, data, place }
    }
}
