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
/// Hits kept in all rankings together; the oldest rankings go first.
const MAX_HITS: usize = 200_000;

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
        let mut hits: usize = rankings.iter().map(|(_, kept)| kept.ranking.hits.parts().len()).sum();
        while hits > MAX_HITS && rankings.len() > 1 {
            hits -= rankings.pop_front().map_or(0, |(_, kept)| kept.ranking.hits.parts().len());
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
    use std::ops::Range;

    use pdpp_store::{Hits, RankedHit, StoreError};

    use super::*;

    fn kept(hits: usize, seconds: i64) -> Kept {
        let ranking = Ranking { hits: Arc::new(Unknown(vec![0; hits])), ..Ranking::default() };
        Kept { ranking: Arc::new(ranking), is_filtered: true, at: Instant::from_micros(seconds * 1_000_000) }
    }

    /// So many hits, of which nothing is known.
    #[derive(Debug)]
    struct Unknown(Vec<usize>);

    impl Hits for Unknown {
        fn parts(&self) -> &[usize] {
            &self.0
        }

        fn read(&self, _: Range<usize>) -> Result<Vec<RankedHit>, StoreError> {
            Ok(Vec::new())
        }
    }

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_ranking_is_kept_for_five_minutes() {
        let rankings = Rankings::default();
        rankings.keep(7, kept(3, 0));
        assert_eq!(rankings.find(7, at(300)).unwrap().ranking.hits.parts().len(), 3);
        assert!(rankings.find(8, at(300)).is_none());
        assert!(rankings.find(7, at(331)).is_none());
    }

    #[test]
    fn many_rankings_push_out_the_oldest() {
        let rankings = Rankings::default();
        for number in 0..5 {
            rankings.keep(number, kept(MAX_HITS / 4, 0));
        }
        assert!(rankings.find(0, at(0)).is_none());
        assert!(rankings.find(4, at(0)).is_some());
    }
}
