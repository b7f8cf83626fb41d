//! How much room a document gives to what it shows.

/// A shorter text would not be worth its record.
const LEAST_TEXT: usize = 200;
const LEAST_VALUE: usize = 16;

/// Lengths in characters, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Of the text.
    pub(super) text: usize,
    /// Of any other value, and of a name.
    pub(super) value: usize,
    /// What a list names at most.
    pub(super) listed: usize,
}

impl Room {
    /// What a record with a text of this length usually fits in.
    pub(super) fn of(text: usize) -> Self {
        Self { text, value: 200, listed: 40 }
    }

    /// Less: first of the text, of which a window can show more, then of all that strangers named.
    pub(super) fn smaller(self) -> Option<Self> {
        if self.text >= LEAST_TEXT {
            return Some(Self { text: self.text * 7 / 8, ..self });
        }
        let value = (self.value / 2).max(LEAST_VALUE);
        (self.listed > 1).then_some(Self { value, listed: self.listed / 2, ..self })
    }
}
