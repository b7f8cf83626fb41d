//! Which words are still in the files although their records are gone, and how soon that has to end.
//!
//! A deletion only marks a passage; its words leave the files when its segment is written again. What is owed is part of
//! every commit, so that whoever opens the index next pays what a process that was killed left behind.

use serde::{Deserialize, Serialize};

/// The most pressing reason for which passages were deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Owed {
    /// None, or the same words stand elsewhere: a record was only given other neighbours.
    #[default]
    Nothing,
    /// Records came with other words.
    Replaced,
    /// Records were deleted.
    Deleted,
    /// A stream was purged, or a connection removed.
    Purged,
}

/// What an index owes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Debts {
    /// What nobody has begun to pay.
    pub(crate) open: Owed,
    /// What merges that were begun will have paid when they end.
    pub(crate) in_hand: Owed,
}

impl Debts {
    /// Deletes for one more reason.
    pub(crate) fn owe(&mut self, owed: Owed) {
        self.open = self.open.max(owed);
    }

    /// Merges for all of it are begun.
    pub(crate) fn take_in_hand(&mut self) {
        self.in_hand = self.in_hand.max(self.open);
        self.open = Owed::Nothing;
    }

    /// Nobody knows what became of what was begun.
    pub(crate) fn begin_again(&mut self) {
        self.owe(self.in_hand);
        self.in_hand = Owed::Nothing;
    }

    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
