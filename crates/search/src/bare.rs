//! The engine's own best for some words, with nothing of ours around it: what a benchmark puts beside a search.

use pdpp_access::SearchPlan;
use pdpp_evidence::forms;
use pdpp_wire::RecordKey;
use tantivy::Term;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

use crate::SearchError;
use crate::engine::SearchEngine;
use crate::rank::Scopes;
use crate::segments::DocAt;

impl SearchEngine {
    /// The best records by the engine's own BM25 over a plan's fields, without bounds, as (part, key).
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
        let top = segments
            .searcher
            .search(&BooleanQuery::new(terms), &TopDocs::with_limit(limit).order_by_score())?;
        let mut found = Vec::with_capacity(top.len());
        for (_, address) in top {
            let at = DocAt { segment: address.segment_ord as usize, doc: address.doc_id };
            found.extend(segments.segment(at).key(at.doc)?.map(|key| (0, key)));
        }
        Ok(found)
    }
}
