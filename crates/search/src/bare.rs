//! The engine's own best for some words, with nothing of ours around it: what a benchmark puts beside a search.

use std::ops::Bound;

use pdpp_access::{SearchPlan, TimeBound};
use pdpp_evidence::forms;
use pdpp_wire::{Instant, RecordKey};
use tantivy::Term;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use crate::SearchError;
use crate::engine::SearchEngine;
use crate::rank::Scopes;
use crate::segments::DocAt;

impl SearchEngine {
    /// The best records by the engine's own BM25 over the fields of a plan's first part, within the grant's time
    /// where it has one, as (part, key).
    #[doc(hidden)]
    pub fn bare_query(
        &self,
        plan: &SearchPlan,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(usize, RecordKey)>, SearchError> {
        let segments = self.core.opened().segments();
        let scopes = Scopes::new(plan, None);
        let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for word in words.iter().flat_map(|word| forms(word)) {
            for field in &scopes.fields {
                let term = Term::from_field_text(segments.layout.text, &[&*field.scope, &word].concat());
                terms.push((Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))));
            }
        }
        let mut query = BooleanQuery::new(terms);
        if let Some(bound) = plan.parts().first().and_then(|part| part.part().time()) {
            query = BooleanQuery::new(vec![
                (Occur::Must, Box::new(query)),
                (Occur::Must, within(segments.layout.time, bound)),
            ]);
        }
        let top = segments.searcher.search(&query, &TopDocs::with_limit(limit).order_by_score())?;
        let mut found = Vec::with_capacity(top.len());
        for (_, address) in top {
            let at = DocAt { segment: address.segment_ord as usize, doc: address.doc_id };
            found.extend(segments.segment(at).key(at.doc)?.map(|key| (0, key)));
        }
        Ok(found)
    }
}

fn within(time: Field, bound: &TimeBound) -> Box<dyn Query> {
    let term = |at: Instant| Term::from_field_i64(time, at.micros());
    let since = bound.since.map_or(Bound::Unbounded, |at| Bound::Included(term(at)));
    let until = bound.until.map_or(Bound::Unbounded, |at| Bound::Excluded(term(at)));
    Box::new(ConstScoreQuery::new(Box::new(RangeQuery::new(since, until)), 0.0))
}
