//! What pages cost the last time, so that the next one is asked for in the size that fits.
//!
//! A page that does not fit a result is asked for again, smaller. Rows of one stream under one projection cost
//! about the same, so the size that fitted is remembered and the usual call needs one request. It is a hint and
//! nothing more: every page is measured, whatever was remembered. What one bearer's pages cost is not used for
//! another's.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use pdpp_client::Bearer;

/// How many targets are remembered; the one that was not asked for longest goes first.
const ENTRIES: usize = 64;

/// What is being paged through, under whose bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target(u64);

/// What is known about the pages of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// How many rows fit a result.
    pub(crate) fits: usize,
    /// How many rows the server sends when it is given no limit.
    pub(crate) usual: Option<usize>,
}

impl Known {
    /// After a page of `served` rows, of which `fits` would have fitted: fewer at once, more step by step, because
    /// rows differ and a page that is too large costs a whole request.
    #[must_use]
    pub(crate) fn after(self, served: usize, fits: usize) -> Self {
        let fits = fits.max(1);
        if fits < self.fits {
            return Self { fits, ..self };
        }
        // A few rows at the end of a list say little about the others.
        let telling = served * 2 >= self.fits;
        let more = if telling { (fits - self.fits).div_ceil(2) } else { 0 };
        Self { fits: self.fits + more, ..self }
    }
}

/// The memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageMemory {
    kept: Arc<Mutex<VecDeque<(Target, Known)>>>,
    hasher: RandomState,
    /// Tells bearers apart without keeping them.
    bearer: u64,
}

impl PageMemory {
    /// The same memory for another bearer, which sees nothing of the others.
    pub(crate) fn of(&self, bearer: &Bearer) -> Self {
        Self { bearer: self.hasher.hash_one(bearer.expose()), ..self.clone() }
    }

    /// Names a target by whatever decides what its rows cost.
    pub(crate) fn target(&self, what: impl Hash) -> Target {
        Target(self.hasher.hash_one((self.bearer, what)))
    }

    /// What is known about a target.
    pub(crate) fn recall(&self, target: Target) -> Option<Known> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| *known == target).map(|(_, known)| *known)
    }

    /// Remembers a target.
    pub(crate) fn keep(&self, target: Target, known: Known) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, _)| *other != target);
        if kept.len() == ENTRIES {
            kept.pop_front();
        }
        kept.push_back((target, known));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(fits: usize) -> Known {
        Known { fits, usual: None }
    }

    #[test]
    fn pages_shrink_at_once_and_grow_in_steps() {
        assert_eq!(known(10).after(10, 4), known(4));
        assert_eq!(known(10).after(10, 10), known(10));
        assert_eq!(known(10).after(10, 20), known(15));
        assert_eq!(known(10).after(2, 20), known(10), "two rows say little");
        assert_eq!(known(10).after(10, 0), known(1), "a page has a row");
    }

    #[test]
    fn bearers_share_no_memory_and_the_oldest_is_forgotten() {
        let memory = PageMemory::default();
        let (ana, bruno) = (memory.of(&Bearer::new("ana")), memory.of(&Bearer::new("bruno")));
        ana.keep(ana.target("messages"), known(7));
        assert_eq!(ana.recall(ana.target("messages")), Some(known(7)));
        assert_eq!(bruno.recall(bruno.target("messages")), None);
        for number in 0..ENTRIES {
            bruno.keep(bruno.target(number), known(1));
        }
        assert_eq!(ana.recall(ana.target("messages")), None);
    }
}
