//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};

use pdpp_access::Clock;
use pdpp_wire::Instant;

/// Stands at one instant; shared clones of an `Arc` move together.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock standing at this instant.
    pub fn at(now: Instant) -> Self {
        Self(AtomicI64::new(now.micros()))
    }

    /// A clock standing at the time this text spells.
    #[track_caller]
    pub fn at_text(now: &str) -> Self {
        Self::at(Instant::parse(now).expect("tests spell times correctly"))
    }

    /// Moves the clock to this instant.
    pub fn set(&self, now: Instant) {
        self.0.store(now.micros(), Ordering::SeqCst);
    }

    /// Moves the clock forwards, or backwards.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }
}

impl Default for FixedClock {
    /// Shortly after the newest record of the sample archive.
    fn default() -> Self {
        Self::at_text("2026-03-01T12:00:00Z")
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_only_when_told() {
        let clock = FixedClock::default();
        let start = clock.now();
        assert_eq!(clock.now(), start);
        clock.advance_seconds(60);
        assert_eq!(clock.now(), start.plus_seconds(60));
    }
}
