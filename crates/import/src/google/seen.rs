//! Which things were given already: one search stands in My Activity and in the history of its product.

use std::collections::HashSet;

/// Most things that are told apart; beyond, copies are no longer recognised.
const MOST: usize = 3_600_000;

/// Remembers keys by eight bytes each, so that years of activity stay within forty megabytes: the table doubles
/// beyond that number.
#[derive(Debug, Default)]
pub(super) struct Seen {
    keys: HashSet<u64>,
}

impl Seen {
    /// Whether this is the first time a key of a stream is seen.
    pub(super) fn first(&mut self, stream: &str, key: &str) -> bool {
        if self.keys.len() >= MOST {
            return true;
        }
        let hashed = crate::hash_key(&[stream, key]);
        let half = hashed.get(1..17).and_then(|hex| u64::from_str_radix(hex, 16).ok());
        half.is_none_or(|half| self.keys.insert(half))
    }
}
