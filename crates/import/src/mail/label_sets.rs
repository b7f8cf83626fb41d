//! Sets of labels, each kept once: a mailbox of a million messages has a few hundred.

use std::collections::HashMap;

use super::flags::tidy;

/// Most bytes of all sets; a message whose set does not fit gives its labels to no copy of it.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Number of a set that was not kept.
const NOT_KEPT: u32 = (1 << 21) - 1;

#[derive(Debug, Default)]
pub(super) struct LabelSets {
    numbers: HashMap<Vec<String>, u32>,
    sets: Vec<Vec<String>>,
    bytes: usize,
}

impl LabelSets {
    /// The number of a set, the same for the same labels.
    pub(super) fn number(&mut self, labels: Vec<String>) -> u32 {
        if let Some(known) = self.numbers.get(&labels) {
            return *known;
        }
        let number = u32::try_from(self.sets.len()).unwrap_or(NOT_KEPT);
        if number >= NOT_KEPT || self.bytes > MOST_BYTES {
            return NOT_KEPT;
        }
        self.bytes += 2 * labels.iter().map(|label| label.len() + 48).sum::<usize>() + 96;
        self.sets.push(labels.clone());
        self.numbers.insert(labels, number);
        number
    }

    /// The number of the labels of both. They are put in order, so that it does not matter which copy came first.
    pub(super) fn union(&mut self, one: u32, other: u32) -> u32 {
        if one == other {
            return one;
        }
        let mut both: Vec<String> = self.labels(one).iter().chain(self.labels(other)).cloned().collect();
        both.sort_unstable();
        match self.number(tidy(both)) {
            NOT_KEPT => one.min(other),
            number => number,
        }
    }

    pub(super) fn labels(&self, number: u32) -> &[String] {
        self.sets.get(number as usize).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_set_is_kept_once_and_joined_in_order() {
        let mut sets = LabelSets::default();
        let (one, two) = (sets.number(labels(&["Work", "Inbox"])), sets.number(labels(&["Boat"])));
        assert_eq!(sets.number(labels(&["Boat"])), two);
        let both = sets.union(one, two);
        assert_eq!(both, sets.union(two, one));
        assert_eq!(sets.labels(both), ["Boat", "Inbox", "Work"]);
        assert_eq!(sets.union(both, both), both);
    }

    #[test]
    fn many_sets_stay_within_their_bound() {
        let mut sets = LabelSets::default();
        for number in 0..200_000 {
            sets.number(labels(&[&format!("label {number}")]));
        }
        assert!(sets.bytes < MOST_BYTES + 1_000);
        assert!(sets.labels(NOT_KEPT).is_empty());
        assert_eq!(sets.union(0, NOT_KEPT), 0);
    }
}
