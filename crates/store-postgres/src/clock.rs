//! One time for all nodes: the database's.
//!
//! Leases, expiries and turns are times that one node writes and another reads, and the clocks of two machines may be
//! minutes apart. So a node adds to its own clock what it differs by from the database's. That is measured when it
//! connects and each time it looks for events to send, several times a minute; a clock that is set while the node runs
//! is noticed there, before any lease is judged by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use deadpool_postgres::Object;
use pdpp_access::Clock;
use pdpp_wire::Instant;

use crate::fault::Outcome;

/// Differences below this are the way of a message, not of a clock; in microseconds.
const TOLERANCE: i64 = 500_000;
/// From here on whoever runs the machine should know.
const TELLING: i64 = 5_000_000;
/// How often a node that connects tries to measure, if the answer takes longer than it tolerates.
const TRIES: usize = 3;

/// Whose clock a store goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Time {
    /// The database's, so that all nodes agree.
    #[default]
    Database,
    /// The one it is opened with, whatever the database believes: a test's, which stands still or is moved.
    Given,
}

/// The clock of a store. With [`Time::Database`] all stores over one database show the same.
pub(crate) struct StoreClock {
    own: Arc<dyn Clock>,
    time: Time,
    /// Microseconds that the database's clock is ahead.
    behind: AtomicI64,
}

impl Clock for StoreClock {
    fn now(&self) -> Instant {
        self.now()
    }
}

impl StoreClock {
    pub(crate) fn now(&self) -> Instant {
        let own = self.own.now().micros();
        Instant::from_micros(own.saturating_add(self.behind.load(Ordering::Relaxed)))
    }

    pub(crate) fn new(own: Arc<dyn Clock>, time: Time) -> Self {
        Self { own, time, behind: AtomicI64::new(0) }
    }

    /// Takes the database's time over on a new connection.
    pub(crate) async fn set(&self, client: &Object) -> Outcome<()> {
        for _ in 0..TRIES {
            if self.measure(client).await? {
                break;
            }
        }
        Ok(())
    }

    /// Looks how far the clocks are apart by now. Says whether the answer came fast enough to tell.
    pub(crate) async fn measure(&self, client: &Object) -> Outcome<bool> {
        if self.time == Time::Given {
            return Ok(true);
        }
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let statement = client.prepare_cached(sql).await?;
        let asked = self.own.now().micros();
        let there: i64 = client.query_one(&statement, &[]).await?.get(0);
        let answered = self.own.now().micros();
        Ok(self.learn(there, asked, answered))
    }

    /// The database's clock showed this some time between the question and the answer.
    fn learn(&self, there: i64, asked: i64, answered: i64) -> bool {
        let took = answered.saturating_sub(asked);
        // Also when the own clock was set meanwhile: forwards or backwards.
        if !(0..=TOLERANCE).contains(&took) {
            return false;
        }
        let behind = there.saturating_sub(asked + took / 2);
        let before = self.behind.load(Ordering::Relaxed);
        if behind.abs_diff(before) > TOLERANCE.unsigned_abs() {
            self.behind.store(behind, Ordering::Relaxed);
            if behind.abs() > TELLING {
                let seconds = behind / 1_000_000;
                tracing::warn!(
                    seconds,
                    "the database's clock is ahead of this machine's by so much, and counts; set this machine's"
                );
            }
        }
        true
    }

    /// The instant by which a lease is judged, where the caller believes that it is `at`.
    pub(crate) fn decide(&self, at: Instant) -> Instant {
        match self.time {
            Time::Database => self.now(),
            Time::Given => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use pdpp_testkit::FixedClock;

    use super::*;

    const SECOND: i64 = 1_000_000;

    fn clock() -> (StoreClock, i64) {
        let own = FixedClock::default();
        let now = own.now().micros();
        (StoreClock::new(Arc::new(own), Time::Database), now)
    }

    #[test]
    fn what_the_database_shows_counts() {
        for apart in [600 * SECOND, -600 * SECOND, SECOND] {
            let (clock, own) = clock();
            assert!(clock.learn(own + apart, own, own));
            assert_eq!(clock.now().micros(), own + apart);
            assert!(clock.learn(own, own, own), "it was set right meanwhile");
            assert_eq!(clock.now().micros(), own);
        }
    }

    #[test]
    fn the_way_of_a_message_moves_no_clock() {
        let (clock, own) = clock();
        assert!(clock.learn(own + SECOND / 4, own, own + SECOND / 2));
        assert!(clock.learn(own - SECOND / 4, own, own));
        assert_eq!(clock.now().micros(), own);
    }

    #[test]
    fn a_measurement_that_took_long_says_nothing() {
        let (clock, own) = clock();
        assert!(!clock.learn(own + 600 * SECOND, own, own + SECOND));
        assert!(!clock.learn(own + 600 * SECOND, own, own - SECOND), "the own clock was set back");
        assert_eq!(clock.now().micros(), own);
    }

    #[test]
    fn a_lease_is_judged_by_the_database_and_a_test_by_itself() {
        let (clock, own) = clock();
        let believed = Instant::from_micros(own + 600 * SECOND);
        assert_eq!(clock.decide(believed).micros(), own);
        let given = StoreClock::new(Arc::new(FixedClock::default()), Time::Given);
        assert_eq!(given.decide(believed), believed);
    }
}
