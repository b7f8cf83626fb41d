//! Conversations, gathered while their messages are told: a few words for each.

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

/// Conversations that have begun and not ended. One is told with its last message, so that only those lie in memory
/// that an export keeps open.
#[derive(Debug, Default)]
pub(super) struct Threads {
    open: HashMap<ThreadId, Thread>,
    begun: u64,
}

#[derive(Debug)]
struct Thread {
    id: ThreadId,
    /// Which it is of those that have begun.
    number: u64,
    /// Of the earliest message.
    subject: Option<Box<str>>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    messages: u32,
    /// Addresses, one a line.
    people: String,
    has_more_people: bool,
}

/// What a message adds to its conversation.
#[derive(Debug)]
pub(super) struct Part<'m> {
    pub(super) id: ThreadId,
    /// Whether no other message of the conversation follows.
    pub(super) is_last: bool,
    pub(super) at: Option<Timestamp>,
    pub(super) subject: Option<&'m str>,
}

impl Threads {
    /// Adds a message; gives the conversation when it was the last.
    pub(super) fn add(&mut self, part: &Part<'_>, people: impl Iterator<Item = Mailbox>) -> Option<Draft> {
        let begun = &mut self.begun;
        let thread = self.open.entry(part.id).or_insert_with(|| {
            *begun += 1;
            Thread {
                id: part.id,
                number: *begun,
                subject: None,
                first: None,
                last: None,
                messages: 0,
                people: String::new(),
                has_more_people: false,
            }
        });
        thread.add(part, people);
        if part.is_last { self.open.remove(&part.id).map(Thread::draft) } else { None }
    }

    /// Tells those whose last message never came, which only a file that changed meanwhile has.
    pub(super) fn tell(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut left: Vec<Thread> = self.open.into_values().collect();
        left.sort_unstable_by_key(|thread| thread.number);
        left.into_iter().try_for_each(|thread| sink.record(thread.draft()))
    }
}

impl Thread {
    fn add(&mut self, part: &Part<'_>, people: impl Iterator<Item = Mailbox>) {
        let is_earliest =
            self.messages == 0 || part.at.is_some_and(|at| self.first.is_none_or(|first| at < first));
        if is_earliest && let Some(subject) = part.subject {
            self.subject = Some(subject[..subject.floor_char_boundary(LONGEST_SUBJECT)].into());
        }
        self.messages += 1;
        self.first = self.first.into_iter().chain(part.at).min();
        self.last = self.last.into_iter().chain(part.at).max();
        for address in people.filter_map(|one| one.address) {
            self.meet(&address.to_lowercase());
        }
        self.people.shrink_to_fit();
    }

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
