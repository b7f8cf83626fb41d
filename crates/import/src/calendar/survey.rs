//! The first look through all files of a claim: which of several copies counts, and which dates of a series stand on
//! their own.
//!
//! One event may lie in several files, and the dates that were changed stand beside their series in any order. Kept
//! across all files is a hash and three numbers for each, some fifty bytes: a million events take about 50 MiB.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::Calendar;
use super::fields::stamp;
use super::identity::Identity;
use super::when::Clock;
use super::zones::Zones;
use crate::content_lines::{Component, Found};

/// Most things that are told apart; beyond, copies are no longer recognised.
const MOST: usize = 4_000_000;

/// What the first look found.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) zones: Zones,
    /// The newest time stamp of each file.
    newest: HashMap<usize, Timestamp>,
    /// The copy that counts, of each thing that is no single date of a series.
    masters: HashMap<u128, Rank>,
    /// The copy that counts, of each changed date of a series.
    overrides: BTreeMap<(u128, Timestamp), Rank>,
    count: u64,
}

/// Which copy is newer. The earlier of two equal ones counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    sequence: i64,
    modified: Option<Timestamp>,
    earlier: std::cmp::Reverse<u64>,
}

impl Survey {
    pub(super) fn new() -> Self {
        let zones = Zones::new();
        Self { zones, newest: HashMap::new(), masters: HashMap::new(), overrides: BTreeMap::new(), count: 0 }
    }

    /// Takes a finding of one file.
    pub(super) fn look(&mut self, entry: usize, found: &Found, calendar: &Calendar) {
        let Found::Component(component) = found else { return };
        if component.name == "VTIMEZONE" {
            self.zones.learn(entry, component);
            return;
        }
        self.count += 1;
        let (identity, rank, newest) = {
            let mut clock = Clock::new(&self.zones, entry);
            clock.set_default(&calendar.zone);
            let Some(identity) = Identity::of(component, &mut clock, &calendar.name) else { return };
            let modified = stamp(component, &mut clock, "LAST-MODIFIED");
            let stamped = stamp(component, &mut clock, "DTSTAMP");
            let created = stamp(component, &mut clock, "CREATED");
            let start = stamp(component, &mut clock, "DTSTART");
            let rank =
                Rank { sequence: sequence(component), modified, earlier: std::cmp::Reverse(self.count) };
            (identity, rank, stamped.max(modified).max(created).or(start))
        };
        if let Some(newest) = newest {
            let known = self.newest.entry(entry).or_insert(newest);
            *known = newest.max(*known);
        }
        if self.masters.len() + self.overrides.len() >= MOST {
            return;
        }
        let hash = hash(&component.name, &identity.key);
        let known = match identity.recurrence {
            None => self.masters.entry(hash).or_insert(rank),
            Some(at) => self.overrides.entry((hash, at)).or_insert(rank),
        };
        *known = rank.max(*known);
    }

    /// The newest time stamp of a file.
    pub(super) fn newest(&self, entry: usize) -> Timestamp {
        self.newest.get(&entry).copied().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Whether the copy with a number is the one that counts. Numbers are given in the order of the first look.
    pub(super) fn counts(&self, component: &Component, identity: &Identity, number: u64) -> bool {
        let hash = hash(&component.name, &identity.key);
        let rank = match identity.recurrence {
            None => self.masters.get(&hash),
            Some(at) => self.overrides.get(&(hash, at)),
        };
        rank.is_none_or(|rank| rank.earlier.0 == number)
    }

    /// The dates of a series that stand on their own.
    pub(super) fn overrides(&self, component: &Component, key: &str) -> Vec<Timestamp> {
        let hash = hash(&component.name, key);
        let range = self.overrides.range((hash, Timestamp::MIN)..=(hash, Timestamp::MAX));
        range.map(|((_, at), _)| *at).collect()
    }

    /// Whether a changed date is the first of a series that is not there, and so stands for it.
    pub(super) fn stands_for_series(&self, component: &Component, identity: &Identity) -> bool {
        let hash = hash(&component.name, &identity.key);
        !self.masters.contains_key(&hash)
            && self.overrides(component, &identity.key).first() == identity.recurrence.as_ref()
    }
}

fn sequence(component: &Component) -> i64 {
    component.find("SEQUENCE").and_then(|property| property.value.trim().parse().ok()).unwrap_or(0)
}

fn hash(kind: &str, key: &str) -> u128 {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(key).finalize();
    let mut half = [0_u8; 16];
    half.copy_from_slice(&digest[..16]);
    u128::from_be_bytes(half)
}
