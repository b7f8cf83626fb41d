//! Ranking records by what their text says, under a plan.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use pdpp_access::SearchPlan;
use pdpp_evidence::{Ignored, Language, Query};
use pdpp_wire::RecordKey;
use serde_json::Value;

use crate::StoreError;

/// An index over the search fields of records. It is derived from the change log and never the truth:
/// whatever it finds is read again from the store, under the plan, before it is shown.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// The best records for a query, best first, of those the plan lets be seen.
    ///
    /// What was written before the call is found by it, unless the index cannot catch up in time, which
    /// the answer then says. Order, scores and counts depend on nothing outside the plan.
    async fn rank(&self, search: Search<'_>) -> Result<Ranking, StoreError>;

    /// Whether the index has taken in everything the store holds.
    async fn is_current(&self) -> Result<bool, StoreError>;
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// Where it may be looked for.
    pub plan: &'a SearchPlan,
    /// The words.
    pub query: &'a Query,
    /// Only these records, as (place of the part in the plan, key); sorted.
    pub only: Option<&'a [(usize, RecordKey)]>,
    /// Whether to say why each hit has its place.
    pub explain: bool,
}

/// Records in order.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The hits, best first, each record once.
    pub hits: Arc<dyn Hits>,
    /// Whether these are all the records that match. If not, they are the best ones.
    pub is_complete: bool,
    /// Whether the index had caught up with the plan's connections.
    pub is_current: bool,
    /// What nothing matched, and what was looked for instead: the near spelling of a word, or the words of a phrase or
    /// of a name such as `INV-2034`.
    pub corrected: Vec<Correction>,
    /// What was left out beside what the query itself says.
    pub ignored: Vec<Ignored>,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            hits: Arc::new(NoHits),
            is_complete: false,
            is_current: false,
            corrected: Vec::new(),
            ignored: Vec::new(),
        }
    }
}

/// The hits of a ranking. A page shows few of them, so what takes work to find out is found out when they are read.
pub trait Hits: Debug + Send + Sync {
    /// How many records of each of [`SearchPlan::parts`] have a word of the query themselves. There are more hits than
    /// these, where neighbours in a thread are, and fewer, where some say nearly the same.
    fn counts(&self) -> &[u64];

    /// Whether the hits up to this one can be read without work.
    fn is_at_hand(&self, end: usize) -> bool;

    /// Whether there are so many hits.
    fn reaches(&self, end: usize) -> Result<bool, StoreError>;

    /// Some of the hits; fewer, where the index cannot tell one any more.
    fn read(&self, range: Range<usize>) -> Result<Vec<RankedHit>, StoreError>;
}

/// Nothing was found.
#[derive(Debug)]
struct NoHits;

impl Hits for NoHits {
    fn counts(&self) -> &[u64] {
        &[]
    }

    fn is_at_hand(&self, _: usize) -> bool {
        true
    }

    fn reaches(&self, end: usize) -> Result<bool, StoreError> {
        Ok(end == 0)
    }

    fn read(&self, _: Range<usize>) -> Result<Vec<RankedHit>, StoreError> {
        Ok(Vec::new())
    }
}

/// A word taken for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// As typed.
    pub typed: String,
    /// As looked for.
    pub used: String,
}

/// One record that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedHit {
    /// Which of [`SearchPlan::parts`].
    pub part: usize,
    /// The record.
    pub key: RecordKey,
    /// Higher is better; comparable within one ranking only.
    pub score: f64,
    /// Where it matched, best first, at most three. Empty when only a neighbour in its thread did.
    pub passages: Vec<Passage>,
    /// How many more records say nearly the same, and were folded into this one.
    pub duplicates: u32,
    /// Why it has its place, as a tree, when that was asked.
    pub explanation: Option<Value>,
}

/// A stretch of one field that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Which of the part's search fields.
    pub field: usize,
    /// For a field that lies in arrays or is long: where the passage begins in the field's text, in characters.
    pub start_chars: usize,
    /// Where it ends.
    pub end_chars: usize,
    /// The language its words were read in, where the index knows.
    pub language: Option<Language>,
}
