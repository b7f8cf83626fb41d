//! Whether an index says what the store says: compared with one made anew.
//!
//! Each is summed up in a number that does not depend on the order or the files its passages lie in, only on
//! which there are and which words they hold.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::Path;

use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED};

use crate::engine::SearchEngine;
use crate::index::Place;
use crate::segments::{Segment, Segments};
use crate::{SearchError, layout::Layout};

/// What an index holds, in two numbers.
#[derive(Debug, PartialEq, Eq)]
struct Sum {
    passages: u64,
    digest: u64,
}

impl SearchEngine {
    /// How the index differs from one made anew from the store, or its files from what was written, in a sentence;
    /// `None` when neither does. The new one is made in `scratch`, which must not be in use, and removed again.
    pub async fn compare_with_store(&self, scratch: &Path) -> Result<Option<String>, SearchError> {
        // First, because files that are damaged cannot be relied on to be followed up.
        if self.core.opened().is_damaged()? {
            return Ok(Some("some files of the index are not as they were written".to_owned()));
        }
        match self.catch_up().await {
            Err(error) if !error.is_locked() => return Err(error),
            _ => {}
        }
        let fresh = Self::open(Place::Directory(scratch.to_owned()), self.core.store.clone())?;
        let compared = match fresh.catch_up().await {
            Ok(()) => sum(&self.core.opened().segments())
                .and_then(|ours| Ok((ours, sum(&fresh.core.opened().segments())?))),
            Err(error) => Err(error),
        };
        drop(fresh);
        std::fs::remove_dir_all(scratch)?;
        let (ours, made) = compared?;
        if ours == made {
            return Ok(None);
        }
        let counts = (ours.passages, made.passages);
        Ok(Some(if counts.0 == counts.1 {
            "some passages of the index are not those of the store".to_owned()
        } else {
            format!("the index has {} passages and should have {}", counts.0, counts.1)
        }))
    }
}

fn sum(segments: &Segments) -> Result<Sum, SearchError> {
    let mut sum = Sum { passages: 0, digest: 0 };
    for segment in segments.all() {
        for doc in (0..segment.reader.max_doc()).filter(|doc| segment.is_alive(*doc)) {
            sum.passages += 1;
            let links = (segment.previous(doc), segment.next(doc));
            let numbers = (segment.record(doc), segment.time(doc), links, segment.stretch(doc));
            let key = segment.key(doc)?.map(|key| key.to_string());
            sum.add(&(numbers, segment.language(doc), segment.sketch(doc), key));
        }
        add_words(segments.layout, segment, &mut sum)?;
    }
    Ok(sum)
}

/// Every word of every living passage, with how often it occurs there.
fn add_words(layout: Layout, segment: &Segment, sum: &mut Sum) -> Result<(), SearchError> {
    for field in [layout.text, layout.surface, layout.scope] {
        let inverted = segment.reader.inverted_index(field)?;
        let mut terms = inverted.terms().stream()?;
        while terms.advance() {
            let info = terms.value().clone();
            let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if segment.is_alive(doc) {
                    let times = if field == layout.scope { 1 } else { postings.term_freq() };
                    sum.add(&(
                        field.field_id(),
                        terms.key(),
                        segment.record(doc),
                        segment.stretch(doc),
                        times,
                    ));
                }
                doc = postings.advance();
            }
        }
    }
    Ok(())
}

impl Sum {
    fn add(&mut self, thing: &impl Hash) {
        let mut hasher = DefaultHasher::new();
        thing.hash(&mut hasher);
        self.digest = self.digest.wrapping_add(hasher.finish());
    }
}
