//! What has to be known of all messages before the first is told.
//!
//! One message lies in several folders and files, and is one record with the labels of all of them; an answer names
//! only the message before it, and belongs to the conversation of that one. So the export is read twice: first only
//! the headers, of which 24 bytes per message stay, 32 more for answers, and what second copies add.

use std::collections::{HashMap, HashSet};

use super::flags::{Flags, tidy};
use super::identity::{Identity, Mark, ThreadId};

/// Most bytes of labels that second copies may add; they repeat, and each set is kept once.
const MOST_LABEL_BYTES: usize = 16 * 1024 * 1024;
/// How many answers to answers are followed to where a conversation began.
const LONGEST_WAY: usize = 100;

/// What the first reading gathers.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Every message, with what tells it from another under the same id.
    seen: HashMap<Mark, u64>,
    known: Known,
    sets: HashMap<Vec<String>, u32>,
    label_bytes: usize,
}

/// What the second reading needs.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Messages that lie there more than once, with the labels and the marks of the later copies.
    again: HashMap<Mark, (u32, Flags)>,
    /// Ids that several messages have, and which of those came first.
    shared: HashMap<Mark, u64>,
    /// Answers, and what they answer.
    parents: HashMap<Mark, Mark>,
    /// Sets of labels.
    sets: Vec<Vec<String>>,
    /// Messages of `again` that were told.
    told: HashSet<Mark>,
}

impl Index {
    pub(super) fn add(&mut self, identity: &Identity, labels: &[String], flags: Flags, parent: Option<Mark>) {
        let mut mark = identity.mark;
        if let Some(first) = self.seen.get(&mark).copied()
            && first != identity.print
        {
            self.known.shared.insert(mark, first);
            mark = Mark::of(&identity.other_key());
        }
        if self.seen.insert(mark, identity.print).is_some() {
            self.add_copy(mark, labels, flags);
        } else if let Some(parent) = parent.filter(|parent| *parent != mark) {
            self.known.parents.insert(mark, parent);
        }
    }

    fn add_copy(&mut self, mark: Mark, labels: &[String], flags: Flags) {
        let before = self.known.again.get(&mark).copied();
        let flags = before.map_or(flags, |(_, before)| before.join(flags));
        let known = before.map_or(&[][..], |(set, _)| self.known.labels(set));
        let joined = tidy(known.iter().chain(labels).cloned());
        let set = match self.sets.get(&joined) {
            Some(set) => *set,
            None if self.label_bytes > MOST_LABEL_BYTES => before.map_or(u32::MAX, |(set, _)| set),
            None => {
                self.label_bytes += joined.iter().map(|label| label.len() + 64).sum::<usize>();
                let set = u32::try_from(self.known.sets.len()).unwrap_or(u32::MAX);
                self.known.sets.push(joined.clone());
                self.sets.insert(joined, set);
                set
            }
        };
        self.known.again.insert(mark, (set, flags));
    }

    pub(super) fn finish(self) -> Known {
        self.known
    }
}

/// A message that is told for the first time.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) key: String,
    pub(super) mark: Mark,
    /// The labels and marks of its later copies.
    pub(super) more: Option<(Vec<String>, Flags)>,
}

impl Known {
    /// What a message is told as; `None` when it was told already.
    pub(super) fn tell(&mut self, identity: &Identity) -> Option<Fresh> {
        let (mut key, mut mark) = (identity.key.clone(), identity.mark);
        if self.shared.get(&mark).is_some_and(|first| *first != identity.print) {
            key = identity.other_key();
            mark = Mark::of(&key);
        }
        let Some((set, flags)) = self.again.get(&mark).copied() else {
            return Some(Fresh { key, mark, more: None });
        };
        if !self.told.insert(mark) {
            return None;
        }
        Some(Fresh { key, mark, more: Some((self.labels(set).to_vec(), flags)) })
    }

    fn labels(&self, set: u32) -> &[String] {
        self.sets.get(set as usize).map_or(&[], Vec::as_slice)
    }

    /// The message a conversation began with, as far as the export shows.
    pub(super) fn thread(&self, mark: Mark) -> ThreadId {
        let mut at = mark;
        for _ in 0..LONGEST_WAY {
            match self.parents.get(&at) {
                Some(parent) if *parent != mark => at = *parent,
                _ => break,
            }
        }
        ThreadId::Root(at)
    }
}
