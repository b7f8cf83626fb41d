//! Remembers numbers, so that the same message is not given twice.

use std::collections::HashSet;

/// Most numbers that are remembered, about 18 MB. Copies of a message stand near each other, so forgetting the far
/// past loses nothing but a complaint: a later copy has the same key anyway.
const MOST: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct Seen(HashSet<i64>);

impl Seen {
    /// Whether the number is new.
    pub(crate) fn first_time(&mut self, number: i64) -> bool {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(number)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
