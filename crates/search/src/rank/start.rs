//! A query that begins at a document.
//!
//! What lies before the first document of a grant need not be read. The scorer stays the engine's own, so that
//! a union of such queries is pruned like any union of terms.

use tantivy::query::{BoostQuery, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, Score, SegmentReader};

/// A query from one document of one segment on.
#[derive(Clone, Debug)]
pub(crate) struct StartingAt {
    query: BoostQuery,
    first: DocId,
}

struct StartingWeight {
    weight: Box<dyn Weight>,
    first: DocId,
}

impl StartingAt {
    pub(crate) fn new(query: BoostQuery, first: DocId) -> Self {
        Self { query, first }
    }
}

impl Query for StartingAt {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(StartingWeight { weight: self.query.weight(scoring)?, first: self.first }))
    }
}

impl Weight for StartingWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut scorer = self.weight.scorer(reader, boost)?;
        if scorer.doc() < self.first {
            scorer.seek(self.first);
        }
        Ok(scorer)
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.weight.explain(reader, doc)
    }
}
