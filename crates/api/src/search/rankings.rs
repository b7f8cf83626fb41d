//! Rankings kept for a while, so that the pages of one search belong together.
//!
//! A cursor names a ranking and a place in it. The ranking is of no use without the cursor, which is sealed
//! and bound to query and grants; and what it names is read again under the plan of whoever presents it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use pdpp_store::Ranking;
use pdpp_wire::Instant;

/// How long a ranking is kept, in microseconds: five minutes and a little for the way.
const LIFETIME_MICROS: i64 = 330 * 1_000_000;
/// Rankings kept; the oldest go first. Each has a few hundred hits at most.
const MAX_RANKINGS: usize = 1_000;

/// Rankings by their number, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Rankings(Mutex<VecDeque<(u64, Kept)>>);

/// One ranking.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) ranking: Arc<Ranking>,
    /// Whether its filter was applied before ranking, so that its counts hold.
    pub(crate) is_filtered: bool,
    pub(crate) at: Instant,
}

impl Rankings {
    pub(crate) fn keep(&self, number: u64, kept: Kept) {
        let mut rankings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop_old(&mut rankings, kept.at);
        rankings.push_back((number, kept));
        if rankings.len() > MAX_RANKINGS {
            rankings.pop_front();
        }
    }

    pub(crate) fn find(&self, number: u64, now: Instant) -> Option<Kept> {
        let mut rankings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop_old(&mut rankings, now);
        rankings.iter().find(|(known, _)| *known == number).map(|(_, kept)| kept.clone())
    }
}

fn drop_old(rankings: &mut VecDeque<(u64, Kept)>, now: Instant) {
    while rankings.front().is_some_and(|(_, kept)| now.micros() - kept.at.micros() > LIFETIME_MICROS) {
        rankings.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(seconds: i64) -> Kept {
        Kept { ranking: Arc::default(), is_filtered: true, at: at(seconds) }
    }

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_ranking_is_kept_for_five_minutes() {
        let rankings = Rankings::default();
        rankings.keep(7, kept(0));
        assert!(rankings.find(7, at(300)).is_some());
        assert!(rankings.find(8, at(300)).is_none());
        assert!(rankings.find(7, at(331)).is_none());
    }

    #[test]
    fn many_rankings_push_out_the_oldest() {
        let rankings = Rankings::default();
        for number in 0..=MAX_RANKINGS as u64 {
            rankings.keep(number, kept(0));
        }
        assert!(rankings.find(0, at(0)).is_none());
        assert!(rankings.find(1, at(0)).is_some());
    }
}
