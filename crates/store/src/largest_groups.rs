//! Counts by a field's values: the largest groups, kept in bounded memory however many there are.
//!
//! A backend may know a value only by something that stands for it (a digest, a moment). Such a group is spelled as a
//! record has it, which takes reading the record, and is only done for groups that can be among the largest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::Group;

/// Groups that are not spelled yet and compete for the last places by their text, at most. Of more groups of one size,
/// those count that came first.
const COMPETING: usize = 1_000;

/// The largest groups so far; `S` says where the value of one stands.
#[derive(Debug)]
pub struct LargestGroups<S> {
    limit: usize,
    /// By size, then by the key's JSON text.
    spelled: BTreeMap<(Reverse<u64>, String), Value>,
    /// By size, then in the order they came.
    unspelled: BTreeMap<(Reverse<u64>, usize), S>,
}

impl<S> LargestGroups<S> {
    /// Of which so many are wanted.
    pub fn new(limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { limit, spelled: BTreeMap::new(), unspelled: BTreeMap::new() }
    }

    /// Offers a group whose key is known.
    pub fn offer(&mut self, count: u64, key: Value) {
        let is_full = self.spelled.len() >= self.limit;
        if is_full && self.spelled.last_key_value().is_none_or(|((Reverse(least), _), _)| count < *least) {
            return;
        }
        self.spelled.insert((Reverse(count), key.to_string()), key);
        if self.spelled.len() > self.limit {
            self.spelled.pop_last();
        }
    }

    /// Offers a group whose key would have to be read.
    pub fn offer_unspelled(&mut self, count: u64, sample: S) {
        let most = self.limit.max(COMPETING);
        // Those of one size are numbered as they come.
        let next = self.unspelled.range((Reverse(count), 0)..=(Reverse(count), usize::MAX)).next_back();
        let number = next.map_or(0, |((_, number), _)| number + 1);
        self.unspelled.insert((Reverse(count), number), sample);
        if self.unspelled.len() > most {
            self.unspelled.pop_last();
        }
    }

    /// Takes the groups whose keys must be read: those that can be among the largest, with their sizes.
    pub fn take_unspelled(&mut self) -> Vec<(u64, S)> {
        let sizes = self.spelled.keys().map(|(size, _)| *size);
        let mut sizes: Vec<_> = sizes.chain(self.unspelled.keys().map(|(size, _)| *size)).collect();
        sizes.sort_unstable();
        let last = self.limit.checked_sub(1).and_then(|last| sizes.get(last)).copied();
        let unspelled = std::mem::take(&mut self.unspelled).into_iter();
        let may_be = |size: Reverse<u64>| last.is_none_or(|last| size <= last);
        unspelled.filter(|((size, _), _)| may_be(*size)).map(|((size, _), sample)| (size.0, sample)).collect()
    }

    /// The largest groups with those that were read, then by the JSON text of their keys.
    pub fn finish(self, read: impl IntoIterator<Item = (u64, Value)>) -> Vec<Group> {
        let spelled = self.spelled.into_iter().map(|((size, text), key)| (size, text, key));
        let read = read.into_iter().map(|(size, key)| (Reverse(size), key.to_string(), key));
        let mut groups: Vec<_> = spelled.chain(read).collect();
        groups.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        groups.truncate(self.limit);
        groups.into_iter().map(|(Reverse(count), _, key)| Group { key, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_and_only_those_are_read() {
        let mut largest = LargestGroups::new(3);
        for (count, key) in [(2, "b"), (9, "a"), (2, "a"), (1, "c")] {
            largest.offer(count, key.into());
        }
        for (count, sample) in [(5, "five"), (1, "one"), (2, "two")] {
            largest.offer_unspelled(count, sample);
        }
        let read = largest.take_unspelled();
        assert_eq!(read, [(5, "five"), (2, "two")]);
        let read = read.into_iter().map(|(count, sample)| (count, sample.to_uppercase().into()));
        let groups: Vec<_> = largest.finish(read).into_iter().map(|group| (group.count, group.key)).collect();
        assert_eq!(groups, [(9, "a".into()), (5, "FIVE".into()), (2, "TWO".into())]);
    }
}
