//! When an engine that has nothing to index tidies, and what it may write again then.
//!
//! A large segment takes minutes to write again, so words that are owed wait until that is worth it: those of a purge
//! never, those of a deletion at most an hour, those that were only replaced a day. No clock of the wall is needed: a
//! process that does not live that long leaves what was replaced to one that does, or to the next import.

use std::time::{Duration, Instant};

use tantivy::SegmentMeta;
use tantivy::index::SegmentId;

use crate::index::{Debts, Owed};

/// How long an engine is idle before it tidies.
const TIDY_AFTER: Duration = Duration::from_secs(30);
/// How often it looks at least, though it is never idle, or what it began is still not done: it runs, or it failed.
const LOOK_AT_LEAST: Duration = Duration::from_hours(1);
/// How often segments are written again for records that were deleted.
const DELETED_EVERY: Duration = Duration::from_hours(1);
/// How often for records that were replaced.
const REPLACED_EVERY: Duration = Duration::from_hours(24);
/// How long an engine has to live before it does that at all.
const REPLACED_AFTER: Duration = Duration::from_hours(1);

/// Why an engine tidies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Something was purged for good just now.
    Purge,
    /// Nothing has come for a while.
    Idle,
    /// Somebody wants everything done.
    Asked,
}

/// What it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing to do.
    Tidy,
    /// Nothing that may be done yet.
    Owing,
    /// Something that is begun now.
    Begun,
    /// The same as when it looked last: it is not done, or failed.
    Unfinished,
}

/// An engine at rest.
#[derive(Debug)]
pub(super) struct Rest {
    opened_at: Instant,
    /// None where it is tidy, and nothing came since.
    untidy: Option<Untidy>,
    looked_at: Instant,
    /// How long after it looked it looks again.
    wait: Duration,
    /// What was to be merged when it looked.
    begun: Vec<Vec<SegmentId>>,
    paid_at: Option<Instant>,
    /// The segments that merges are begun for because of what they owe.
    in_hand: Option<Vec<SegmentId>>,
}

/// Since when an engine has something that it may want to tidy.
#[derive(Clone, Copy, Debug)]
struct Untidy {
    since: Instant,
    /// When something came last.
    idle_since: Instant,
}

impl Rest {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            opened_at: now,
            untidy: Some(Untidy { since: now, idle_since: now }),
            looked_at: now,
            wait: TIDY_AFTER,
            begun: Vec::new(),
            paid_at: None,
            in_hand: None,
        }
    }

    /// Something came. It neither hastens what failed nor puts it off.
    pub(super) fn disturbed(&mut self, now: Instant) {
        let since = self.untidy.map_or(now, |untidy| untidy.since);
        self.untidy = Some(Untidy { since, idle_since: now });
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        let Some(Untidy { since, idle_since }) = self.untidy else { return false };
        let is_idle = now.duration_since(idle_since) > TIDY_AFTER;
        (is_idle && now.duration_since(self.looked_at) > self.wait)
            || now.duration_since(since) > LOOK_AT_LEAST
    }

    pub(super) fn found(&mut self, found: Found, now: Instant) {
        self.looked_at = now;
        let idle_since = self.untidy.map_or(now, |untidy| untidy.idle_since);
        self.untidy = (found != Found::Tidy).then_some(Untidy { since: now, idle_since });
        self.wait = match found {
            Found::Unfinished => LOOK_AT_LEAST.min(self.wait * 2),
            Found::Tidy | Found::Owing | Found::Begun => TIDY_AFTER,
        };
    }

    /// Takes note of what is to be merged. Says whether it is the same as last time.
    pub(super) fn begin(&mut self, due: Vec<Vec<SegmentId>>) -> Found {
        let is_same = self.begun == due;
        self.begun = due;
        if is_same { Found::Unfinished } else { Found::Begun }
    }

    /// Whether nothing of what was to be merged is there any more.
    pub(super) fn is_merged(&self, segments: &[SegmentMeta]) -> bool {
        let is_there = |id: &SegmentId| segments.iter().any(|segment| segment.id() == *id);
        !self.begun.iter().flatten().any(is_there)
    }

    /// Takes note of which merges have ended. Says whether some have not.
    pub(super) fn review(&mut self, debts: &mut Debts, segments: &[SegmentMeta]) -> bool {
        let is_there = |id: &SegmentId| segments.iter().any(|segment| segment.id() == *id);
        match &self.in_hand {
            Some(begun) if begun.iter().any(is_there) => {}
            Some(_) => (self.in_hand, debts.in_hand) = (None, Owed::Nothing),
            // Whoever began it is gone.
            None => debts.begin_again(),
        }
        self.in_hand.is_some()
    }

    /// Whether what is owed may be paid now.
    pub(super) fn may_pay(&self, owed: Owed, occasion: Occasion, now: Instant) -> bool {
        let was_long_ago =
            |every| self.paid_at.is_none_or(|paid_at: Instant| now.duration_since(paid_at) >= every);
        match (owed, occasion) {
            (Owed::Nothing, _) => false,
            (Owed::Purged, _) | (_, Occasion::Asked) => true,
            (_, Occasion::Purge) => false,
            (Owed::Deleted, Occasion::Idle) => was_long_ago(DELETED_EVERY),
            (Owed::Replaced, Occasion::Idle) => {
                was_long_ago(REPLACED_EVERY) && now.duration_since(self.opened_at) >= REPLACED_AFTER
            }
        }
    }

    /// Of these segments some are being written again. If others owe too, because a merge was at them that had begun
    /// before, nothing counts as paid.
    pub(super) fn paying(&mut self, begun: Vec<SegmentId>, segments: &[SegmentMeta], now: Instant) {
        let mut owing = segments.iter().filter(|segment| segment.num_deleted_docs() > 0);
        let is_all = owing.all(|segment| begun.contains(&segment.id()));
        self.in_hand = is_all.then_some(begun);
        self.paid_at = if is_all { Some(now) } else { self.paid_at };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);
    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn an_engine_that_is_never_idle_looks_every_hour() {
        let start = Instant::now();
        let (mut rest, mut now, mut looks) = (Rest::new(start), start, 0);
        while now < start + HOUR * 24 {
            now += MINUTE / 4;
            rest.disturbed(now);
            if rest.is_due(now) {
                rest.found(Found::Begun, now);
                looks += 1;
            }
        }
        assert!((23..=24).contains(&looks), "{looks}");
    }

    #[test]
    fn what_was_done_makes_nothing_wait() {
        let start = Instant::now();
        let (mut rest, mut now) = (Rest::new(start), start);
        for _ in 0..20 {
            rest.disturbed(now + MINUTE);
            now += MINUTE * 2;
            assert!(rest.is_due(now));
            rest.found(Found::Begun, now);
        }
    }

    #[test]
    fn what_is_begun_is_looked_at_less_and_less_often_until_it_is_done() {
        let start = Instant::now();
        let (mut rest, mut now, mut looks) = (Rest::new(start), start, 0);
        // A full disk, and a message every two minutes.
        for minute in 0..24 * 60 {
            now += MINUTE;
            if minute % 2 == 0 {
                rest.disturbed(now);
            }
            if rest.is_due(now) {
                rest.found(Found::Unfinished, now);
                looks += 1;
            }
        }
        assert!((24..=32).contains(&looks), "{looks}");
        rest.found(Found::Tidy, now);
        assert!(!rest.is_due(now + HOUR), "nothing came");
        rest.disturbed(now + HOUR);
        assert!(!rest.is_due(now + HOUR + TIDY_AFTER));
        assert!(rest.is_due(now + HOUR + MINUTE));
    }

    #[test]
    fn the_same_merges_again_are_unfinished() {
        let segment = |n: u8| SegmentId::from_uuid_string(&format!("{n:032x}")).unwrap();
        let mut rest = Rest::new(Instant::now());
        let due = vec![vec![segment(1)], vec![segment(2), segment(3)]];
        assert_eq!(rest.begin(due.clone()), Found::Begun);
        assert_eq!(rest.begin(due), Found::Unfinished);
        assert!(rest.is_merged(&[]), "all of them are gone");
        assert_eq!(rest.begin(vec![vec![segment(4)]]), Found::Begun);
    }

    #[test]
    fn a_message_does_not_hasten_what_failed() {
        let start = Instant::now();
        let mut rest = Rest::new(start);
        for _ in 0..10 {
            rest.found(Found::Unfinished, start);
        }
        rest.disturbed(start + MINUTE);
        assert!(!rest.is_due(start + MINUTE * 30));
        assert!(rest.is_due(start + HOUR + MINUTE * 2));
    }

    /// Purged passages are gone for good; what that costs is bounded.
    #[test]
    fn what_is_owed_is_paid_at_once_in_an_hour_or_in_a_day() {
        let start = Instant::now();
        let mut rest = Rest::new(start);
        let idle = |rest: &Rest, owed, after: Duration| rest.may_pay(owed, Occasion::Idle, start + after);
        assert!(!idle(&rest, Owed::Nothing, HOUR * 100));
        assert!(idle(&rest, Owed::Purged, Duration::ZERO));
        assert!(idle(&rest, Owed::Deleted, MINUTE));
        assert!(!idle(&rest, Owed::Replaced, MINUTE));
        assert!(idle(&rest, Owed::Replaced, HOUR));
        assert!(!rest.may_pay(Owed::Deleted, Occasion::Purge, start + HOUR));
        rest.paying(Vec::new(), &[], start + MINUTE);
        assert!(idle(&rest, Owed::Purged, MINUTE * 2));
        assert!(!idle(&rest, Owed::Deleted, HOUR));
        assert!(idle(&rest, Owed::Deleted, HOUR + MINUTE));
        assert!(!idle(&rest, Owed::Replaced, HOUR * 24));
        assert!(idle(&rest, Owed::Replaced, HOUR * 24 + MINUTE));
        assert!(rest.may_pay(Owed::Replaced, Occasion::Asked, start + MINUTE));
    }

    #[test]
    fn what_a_killed_process_had_in_hand_is_owed_again() {
        let mut rest = Rest::new(Instant::now());
        let mut debts = Debts { open: Owed::Replaced, in_hand: Owed::Purged };
        assert!(!rest.review(&mut debts, &[]));
        assert_eq!(debts, Debts { open: Owed::Purged, in_hand: Owed::Nothing });
        debts.take_in_hand();
        rest.paying(Vec::new(), &[], Instant::now());
        assert_eq!(debts, Debts { open: Owed::Nothing, in_hand: Owed::Purged });
        // Its segments are gone, so it is paid; what came meanwhile is not.
        debts.owe(Owed::Replaced);
        assert!(!rest.review(&mut debts, &[]));
        assert_eq!(debts, Debts { open: Owed::Replaced, in_hand: Owed::Nothing });
    }
}
