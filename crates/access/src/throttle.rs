//! How often something may be done, per key: an address, a token. Counts live in memory. They guard the server's own
//! work; whatever must survive a restart, guesses at a secret for one, is counted in the store. Who counts together with
//! others tells them of its count, and is told when all of them had enough.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pdpp_wire::Instant;

/// Keys remembered; when there are more, those whose window is over are forgotten, then all.
const MAX_KEYS: usize = 16_384;

/// So often in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: &'static str,
    most: u32,
    seconds: i64,
}

impl Limit {
    /// A limit; its name keeps its counts apart from another's.
    pub const fn new(name: &'static str, most: u32, seconds: i64) -> Self {
        Self { name, most, seconds }
    }

    /// What its counts are kept under.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// So often.
    pub const fn most(&self) -> u32 {
        self.most
    }

    /// In so many seconds.
    pub const fn seconds(&self) -> i64 {
        self.seconds
    }
}

/// A key did it too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooOften {
    /// How long to wait, in seconds, at least one.
    pub seconds: i64,
    /// Whether this is the first refusal of its window.
    pub is_first: bool,
}

/// Counts per limit and key.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<HashMap<(&'static str, String), Window>>);

#[derive(Clone, Copy, Debug)]
struct Window {
    ends: Instant,
    counted: u32,
    has_refused: bool,
}

impl Throttle {
    /// Counts one more and says how many that makes in this window, or how long to wait.
    pub fn count(&self, limit: Limit, key: &str, now: Instant) -> Result<u32, TooOften> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MAX_KEYS {
            counts.retain(|_, window| window.ends > now);
            if counts.len() >= MAX_KEYS {
                counts.clear();
            }
        }
        let fresh = Window { ends: now.plus_seconds(limit.seconds), counted: 0, has_refused: false };
        let window = counts.entry((limit.name, key.to_owned())).or_insert(fresh);
        if window.ends <= now {
            *window = fresh;
        }
        if window.counted < limit.most {
            window.counted += 1;
            return Ok(window.counted);
        }
        let seconds = (window.ends.unix_seconds() - now.unix_seconds()).max(1);
        let is_first = !std::mem::replace(&mut window.has_refused, true);
        Err(TooOften { seconds, is_first })
    }

    /// Refuses a key until then, because it was counted elsewhere too.
    pub fn close(&self, limit: Limit, key: &str, until: Instant) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = Window { ends: until, counted: limit.most, has_refused: false };
        counts.insert((limit.name, key.to_owned()), closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Limit = Limit::new("two", 2, 60);

    #[test]
    fn a_key_waits_for_the_end_of_its_window_and_no_other_does() {
        let (throttle, start) = (Throttle::default(), Instant::parse("2026-01-05T10:00:00Z").unwrap());
        assert_eq!(throttle.count(TWO, "a", start), Ok(1));
        assert_eq!(throttle.count(TWO, "a", start.plus_seconds(10)), Ok(2));
        let late = start.plus_seconds(20);
        assert_eq!(throttle.count(TWO, "a", late), Err(TooOften { seconds: 40, is_first: true }));
        assert_eq!(throttle.count(TWO, "a", late), Err(TooOften { seconds: 40, is_first: false }));
        assert_eq!(throttle.count(TWO, "b", late), Ok(1));
        assert_eq!(throttle.count(Limit::new("other", 1, 60), "a", late), Ok(1));
        assert_eq!(throttle.count(TWO, "a", start.plus_seconds(60)), Ok(1));
    }

    #[test]
    fn a_key_that_had_enough_elsewhere_waits_here_too() {
        let (throttle, now) = (Throttle::default(), Instant::parse("2026-01-05T10:00:00Z").unwrap());
        assert_eq!(throttle.count(TWO, "a", now), Ok(1));
        throttle.close(TWO, "a", now.plus_seconds(30));
        assert_eq!(throttle.count(TWO, "a", now), Err(TooOften { seconds: 30, is_first: true }));
        assert_eq!(throttle.count(TWO, "a", now.plus_seconds(30)), Ok(1));
    }

    #[test]
    fn strangers_cannot_fill_the_memory() {
        let (throttle, now) = (Throttle::default(), Instant::parse("2026-01-05T10:00:00Z").unwrap());
        for number in 0..3 * MAX_KEYS {
            assert_eq!(throttle.count(TWO, &number.to_string(), now), Ok(1));
        }
        assert!(throttle.0.lock().unwrap().len() <= MAX_KEYS);
    }
}
