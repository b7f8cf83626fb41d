//! How much an owner may keep and ask for, where an operator says so.
//!
//! What is used is counted in the transaction that changes it, so a quota holds whoever writes at the same time. A line
//! that does not fit is refused by itself: what became of it does not depend on how lines were cut into batches. Whatever
//! makes the archive no larger is always taken, also above a quota that was lowered, so that an owner can make room.

use std::fmt;

use async_trait::async_trait;
use pdpp_wire::SubjectId;
use serde::Serialize;

use crate::StoreError;

/// Keeps quotas, and says what is used.
#[async_trait]
pub trait Quotas: Send + Sync {
    /// What the owner may have; everything, for whom nothing was set.
    async fn find_quota(&self, subject_id: &SubjectId) -> Result<Quota, StoreError>;

    /// Puts a quota in the place of the last; says whether there is such an owner. What is kept already stays, however
    /// much it is.
    async fn set_quota(&self, subject_id: &SubjectId, quota: Quota) -> Result<bool, StoreError>;

    /// What the owner has; nothing, for whoever is not known.
    async fn find_usage(&self, subject_id: &SubjectId) -> Result<Usage, StoreError>;
}

/// What an owner may have. `None` is as much as there is room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quota {
    /// Live records.
    pub records: Option<u64>,
    /// Bytes of live records' data and of blobs.
    pub bytes: Option<u64>,
    /// Requests in one minute, with all of the owner's tokens together, at all nodes together.
    pub requests_per_minute: Option<u32>,
}

impl Quota {
    /// Whether nothing is bounded.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What an owner has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Live records.
    pub records: u64,
    /// Bytes of their data as it is stored, and of blobs, each distinct one once.
    pub bytes: u64,
}

/// By how much a change makes an archive larger, or smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Live records.
    pub records: i64,
    /// Bytes.
    pub bytes: i64,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Live records.
    Records,
    /// Bytes of data and blobs.
    Bytes,
}

/// More than an owner may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct OverQuota {
    /// Of what.
    pub measure: Measure,
    /// How much there may be.
    pub limit: u64,
    /// How much there is.
    pub used: u64,
    /// How much more it would take.
    pub wanted: u64,
}

impl fmt::Display for OverQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { measure, limit, used, wanted } = self;
        let what = match measure {
            Measure::Records => "records",
            Measure::Bytes => "bytes",
        };
        write!(
            f,
            "The quota is {limit} {what}, {used} are used and this needs {wanted} more: delete something, or ask \
             whoever runs the server for a larger quota."
        )
    }
}

/// What is left of a quota while changes are applied one after another.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    quota: Quota,
    used: Growth,
    taken: Growth,
}

impl Room {
    /// The room of an owner who has so much.
    pub fn new(quota: Quota, usage: Usage) -> Self {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let used = Growth { records: signed(usage.records), bytes: signed(usage.bytes) };
        Self { quota, used, taken: Growth::default() }
    }

    /// Takes what a change needs, or gives back what it frees; refuses a change that makes the archive larger than it
    /// may be.
    pub fn take(&mut self, growth: Growth) -> Result<(), OverQuota> {
        let Growth { records, bytes } = self.used;
        check(Measure::Records, self.quota.records, records, growth.records)?;
        check(Measure::Bytes, self.quota.bytes, bytes, growth.bytes)?;
        for sum in [&mut self.used, &mut self.taken] {
            sum.records = sum.records.saturating_add(growth.records);
            sum.bytes = sum.bytes.saturating_add(growth.bytes);
        }
        Ok(())
    }

    /// What all changes together came to.
    pub fn taken(&self) -> Growth {
        self.taken
    }
}

fn check(measure: Measure, limit: Option<u64>, used: i64, growth: i64) -> Result<(), OverQuota> {
    let used = u64::try_from(used).unwrap_or(0);
    match (limit, u64::try_from(growth)) {
        (Some(limit), Ok(wanted)) if wanted > 0 && used.saturating_add(wanted) > limit => {
            Err(OverQuota { measure, limit, used, wanted })
        }
        _ => Ok(()),
    }
}

/// The size of what is stored, as quotas count it.
pub fn size_of(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(records: u64, bytes: u64) -> Room {
        let quota = Quota { records: Some(10), bytes: Some(100), requests_per_minute: None };
        Room::new(quota, Usage { records, bytes })
    }

    fn take(room: &mut Room, records: i64, bytes: i64) -> bool {
        room.take(Growth { records, bytes }).is_ok()
    }

    #[test]
    fn a_quota_can_be_filled_to_the_last_byte() {
        let mut room = room(8, 60);
        assert!(take(&mut room, 1, 40) && !take(&mut room, 1, 1) && take(&mut room, 1, 0));
        assert!(!take(&mut room, 1, 0));
        assert_eq!(room.taken(), Growth { records: 2, bytes: 40 });
    }

    #[test]
    fn whoever_is_above_a_lowered_quota_can_make_room() {
        let mut room = room(20, 500);
        assert!(take(&mut room, 0, 0) && take(&mut room, -1, -30) && take(&mut room, 0, -1));
        assert!(!take(&mut room, 0, 1) && !take(&mut room, 1, 0));
    }

    #[test]
    fn what_is_freed_can_be_taken_again() {
        let mut room = room(10, 100);
        assert!(!take(&mut room, 1, 5) && take(&mut room, -1, -5) && take(&mut room, 1, 5));
    }

    #[test]
    fn a_refusal_says_the_limit_what_is_used_and_what_to_do() {
        let refused = room(1, 90).take(Growth { records: 1, bytes: 20 }).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "The quota is 100 bytes, 90 are used and this needs 20 more: delete something, or ask whoever runs the \
             server for a larger quota."
        );
    }
}
