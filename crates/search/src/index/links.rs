//! Who stands next to whom in the index, so that both sides of every link agree.
//!
//! A record's documents name its neighbours. When a record comes, goes or moves, the documents of
//! those beside it name the wrong ones until they are made again.

use std::collections::HashMap;
use std::sync::Arc;

use pdpp_store::FedRecord;
use pdpp_wire::RecordKey;

use crate::SearchError;
use crate::place::StreamPlace;
use crate::segments::Segments;

/// A record as the index has it.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    key: RecordKey,
    previous: Option<u64>,
    next: Option<u64>,
}

/// What was committed, and what was added or taken away since.
#[derive(Debug)]
pub(crate) struct Links {
    committed: Arc<Segments>,
    since: HashMap<u64, Option<Linked>>,
}

impl Links {
    pub(crate) fn of(committed: Arc<Segments>) -> Self {
        Self { committed, since: HashMap::new() }
    }

    /// Records fed since the last commit.
    pub(crate) fn fed(&self) -> usize {
        self.since.len()
    }

    /// The record as the index has it now.
    pub(crate) fn find(&self, record: u64) -> Result<Option<Linked>, SearchError> {
        if let Some(known) = self.since.get(&record) {
            return Ok(known.clone());
        }
        let Some(at) = self.committed.find_record(record) else { return Ok(None) };
        let segment = self.committed.segment(at);
        let Some(key) = segment.key(at.doc)? else { return Ok(None) };
        Ok(Some(Linked { key, previous: segment.previous(at.doc), next: segment.next(at.doc) }))
    }

    /// Takes note of a record that is being fed, and names the neighbours whose links are now wrong.
    pub(crate) fn take(
        &mut self,
        place: &StreamPlace,
        fed: &FedRecord,
        before: Option<Linked>,
    ) -> Result<Vec<RecordKey>, SearchError> {
        let record = place.record(&fed.key);
        let of = |key: &Option<RecordKey>| key.as_ref().map(|key| place.record(key));
        let now = fed.data.as_ref().map(|_| Linked {
            key: fed.key.clone(),
            previous: of(&fed.previous),
            next: of(&fed.next),
        });
        let ends =
            |linked: &Option<Linked>| linked.as_ref().map_or((None, None), |at| (at.previous, at.next));
        let (old, new) = (ends(&before), ends(&now));
        self.since.insert(record, now);
        let mut wrong = Vec::new();
        if old == new {
            return Ok(wrong);
        }
        let mut check =
            |number: Option<u64>, is_right: &dyn Fn(&Linked) -> bool| -> Result<(), SearchError> {
                if let Some(number) = number
                    && let Some(linked) = self.find(number)?
                    && !is_right(&linked)
                    && !wrong.contains(&linked.key)
                {
                    wrong.push(linked.key);
                }
                Ok(())
            };
        check(new.0, &|linked| linked.next == Some(record))?;
        check(new.1, &|linked| linked.previous == Some(record))?;
        check(old.0.filter(|_| old.0 != new.0), &|linked| linked.next != Some(record))?;
        check(old.1.filter(|_| old.1 != new.1), &|linked| linked.previous != Some(record))?;
        Ok(wrong)
    }
}
