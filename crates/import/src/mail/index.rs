//! What has to be known of all messages before the first is told.
//!
//! One message lies in several folders and files, and is one record with the labels of all of them; an answer names
//! only the message before it, and belongs to the conversation of that one. So the export is read twice: first only
//! the headers, of which 24 bytes per message stay. They lie in one sorted list, because a table would take twice the
//! room, and three times while it grows.

use std::collections::HashMap;

use super::flags::Flags;
use super::identity::{Identity, Mark};
use super::label_sets::LabelSets;

/// How many answers to answers are followed to where a conversation began.
const LONGEST_WAY: usize = 100;

/// What the first reading gathers.
#[derive(Debug, Default)]
pub(super) struct Index {
    seen: Vec<Seen>,
    sets: LabelSets,
}

/// One message.
#[derive(Clone, Copy, Debug)]
struct Seen {
    mark: Mark,
    /// What it answers; once the first reading has ended, the conversation it belongs to.
    link: Option<Mark>,
    /// Tells it from another message under the same id.
    print: u32,
    labels: u32,
}

/// What is kept beside the labels of a message, in the same number.
const LABEL_BITS: u32 = 21;
const IS_GIVEN: u32 = 1 << 21;
const IS_AGAIN: u32 = 1 << 22;
const IS_TOLD: u32 = 1 << 23;

/// What a message says about its conversation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Link {
    /// Nothing: as far as it knows it begins one.
    Begins,
    /// The message it answers.
    Answers(Mark),
    /// What its provider calls the conversation.
    Given(Mark),
}

impl Index {
    pub(super) fn add(&mut self, identity: &Identity, labels: Vec<String>, flags: Flags, link: Link) {
        let set = self.sets.number(labels);
        let (link, given) = match link {
            Link::Begins => (None, 0),
            Link::Answers(mark) => (Some(mark).filter(|mark| *mark != identity.mark), 0),
            Link::Given(mark) => (Some(mark), IS_GIVEN),
        };
        let labels = set | given | u32::from(flags.pack()) << 24;
        self.seen.push(Seen { mark: identity.mark, link, print: identity.print, labels });
    }

    pub(super) fn finish(self) -> Known {
        let Self { mut seen, mut sets } = self;
        seen.sort_unstable_by_key(|one| (one.mark, one.print, one.labels));
        seen.dedup_by(|copy, kept| {
            let is_copy = (copy.mark, copy.print) == (kept.mark, kept.print);
            if is_copy {
                kept.join(copy, &mut sets);
            }
            is_copy
        });
        seen.shrink_to_fit();
        let shared = seen.windows(2).filter(|pair| pair[0].mark == pair[1].mark);
        let shared = shared.map(|pair| (pair[0].mark, None)).collect();
        find_beginnings(&mut seen);
        let (roots, left) = count(&mut seen);
        Known { seen, sets, shared, roots, left }
    }
}

impl Seen {
    fn join(&mut self, copy: &Self, sets: &mut LabelSets) {
        let flags = self.flags().join(copy.flags());
        let set = sets.union(self.set(), copy.set());
        self.link = self.link.or(copy.link);
        self.labels = set | IS_AGAIN | (self.labels & IS_GIVEN) | u32::from(flags.pack()) << 24;
    }

    fn set(&self) -> u32 {
        self.labels & ((1 << LABEL_BITS) - 1)
    }

    fn flags(&self) -> Flags {
        Flags::unpack(self.labels.to_be_bytes()[0])
    }
}

/// The place of a message in the sorted list; the first where several share an id.
fn find(seen: &[Seen], mark: Mark) -> Option<usize> {
    let at = seen.partition_point(|one| one.mark < mark);
    (seen.get(at)?.mark == mark).then_some(at)
}

/// Puts in place of what each message answers the message its conversation began with, as far as the export shows.
fn find_beginnings(seen: &mut [Seen]) {
    for index in 0..seen.len() {
        let Seen { mark, link: Some(mut at), labels, .. } = seen[index] else { continue };
        if labels & IS_GIVEN != 0 {
            continue;
        }
        for _ in 0..LONGEST_WAY {
            let Some(before) = find(seen, at).map(|place| seen[place]) else { break };
            match before.link {
                // Two may claim to answer each other.
                Some(next) if before.labels & IS_GIVEN == 0 && next != mark => at = next,
                _ => break,
            }
        }
        seen[index].link = Some(at);
    }
    for one in seen {
        one.link = one.link.or(Some(one.mark));
    }
}

/// The conversations that have more than one message, in order, and how many each has.
fn count(seen: &mut [Seen]) -> (Vec<Mark>, Vec<u32>) {
    seen.sort_unstable_by_key(|one| one.link);
    let (mut roots, mut left) = (Vec::new(), Vec::new());
    for together in seen.chunk_by(|one, other| one.link == other.link) {
        if let (Some(root), 2..) = (together[0].link, together.len()) {
            roots.push(root);
            left.push(u32::try_from(together.len()).unwrap_or(u32::MAX));
        }
    }
    seen.sort_unstable_by_key(|one| (one.mark, one.print));
    (roots, left)
}

/// What the second reading needs.
#[derive(Debug, Default)]
pub(super) struct Known {
    seen: Vec<Seen>,
    sets: LabelSets,
    /// Ids that several messages have, and which of those came first.
    shared: HashMap<Mark, Option<u32>>,
    roots: Vec<Mark>,
    /// How many messages of each conversation are still to come.
    left: Vec<u32>,
}

/// A message that is told for the first time.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) key: String,
    /// The message its conversation began with, as far as the export shows.
    pub(super) root: Mark,
    /// Whether no other message of its conversation follows.
    pub(super) is_last: bool,
    /// The labels and marks of its copies.
    pub(super) more: Option<(Vec<String>, Flags)>,
}

impl Known {
    /// What a message is told as; `None` when it was told already.
    pub(super) fn tell(&mut self, identity: &Identity) -> Option<Fresh> {
        let first = self.shared.get_mut(&identity.mark).map(|first| *first.get_or_insert(identity.print));
        let key = match first {
            Some(first) if first != identity.print => identity.other_key(),
            _ => identity.key.clone(),
        };
        let wanted = (identity.mark, identity.print);
        let Ok(at) = self.seen.binary_search_by_key(&wanted, |one| (one.mark, one.print)) else {
            // Only a file that changed between the two readings has a message nobody saw.
            return Some(Fresh { key, root: identity.mark, is_last: true, more: None });
        };
        let one = &mut self.seen[at];
        if one.labels & IS_TOLD != 0 {
            return None;
        }
        one.labels |= IS_TOLD;
        let root = one.link.unwrap_or(identity.mark);
        let is_again = one.labels & IS_AGAIN != 0;
        let more = is_again.then(|| (self.sets.labels(one.set()).to_vec(), one.flags()));
        let is_last = match self.roots.binary_search(&root) {
            Ok(conversation) => {
                self.left[conversation] = self.left[conversation].saturating_sub(1);
                self.left[conversation] == 0
            }
            Err(_) => true,
        };
        Some(Fresh { key, root, is_last, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_twenty_four_bytes() {
        assert_eq!(size_of::<Seen>(), 24);
    }
}
