//! How much record data one answer holds.
//!
//! Only what is shown counts: a page that ended earlier because of a hidden field would tell its size.

use pdpp_access::FieldSet;

/// Most bytes of records on one page, and most bytes of children attached to it.
pub const PAGE_BYTES: i64 = 8 * 1024 * 1024;

/// What is left of an answer's bytes.
#[derive(Debug)]
pub struct PageBudget {
    left: i64,
    is_untouched: bool,
}

impl Default for PageBudget {
    fn default() -> Self {
        Self { left: PAGE_BYTES, is_untouched: true }
    }
}

impl PageBudget {
    /// The longest stored text worth fetching of which these fields are shown. Where some are left out, what remains
    /// of a long record may still fit.
    pub fn room(&self, shown: &FieldSet) -> i64 {
        match shown {
            FieldSet::All => self.most(),
            FieldSet::Only(_) => i64::MAX,
        }
    }

    /// Takes a record's shown bytes, if they fit. The first record always does, else no page could
    /// ever hold it.
    pub fn take(&mut self, bytes: usize) -> bool {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        if bytes > self.most() {
            return false;
        }
        self.left = self.left.saturating_sub(bytes);
        self.is_untouched = false;
        true
    }

    fn most(&self) -> i64 {
        if self.is_untouched { i64::MAX } else { self.left }
    }
}
