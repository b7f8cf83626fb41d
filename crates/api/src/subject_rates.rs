//! How often an owner's tokens together may ask, as far as this node remembers.
//!
//! The number stands in the store and is looked up again after a few seconds, so that a request costs no look of its own
//! and a change bites soon on every node.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pdpp_wire::{Instant, SubjectId};

/// How long a number is believed.
const BELIEVED_SECONDS: i64 = 10;
/// Owners remembered; when there are more, all are looked up again.
const MAX_SUBJECTS: usize = 16_384;

/// What was set for an owner, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubjectRate(pub(crate) Option<u32>);

/// What was set for each owner, and until when it is believed.
#[derive(Debug, Default)]
pub(crate) struct SubjectRates(Mutex<HashMap<SubjectId, (Option<u32>, Instant)>>);

impl SubjectRates {
    /// What was set, if that was looked up lately.
    pub(crate) fn find(&self, subject_id: &SubjectId, now: Instant) -> Option<SubjectRate> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(subject_id).filter(|(_, until)| *until > now).map(|(rate, _)| SubjectRate(*rate))
    }

    /// Remembers it.
    pub(crate) fn put(&self, subject_id: &SubjectId, rate: Option<u32>, now: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_SUBJECTS {
            known.clear();
        }
        known.insert(subject_id.clone(), (rate, now.plus_seconds(BELIEVED_SECONDS)));
    }
}
