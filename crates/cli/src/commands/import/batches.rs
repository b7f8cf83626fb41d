//! Records waiting to be stored, one batch per stream, bounded in number and in memory.

use std::collections::BTreeMap;

use pdpp_store::{AdmittedRecord, MAX_BATCH};
use pdpp_wire::StreamName;

/// Most text that waits, all streams together.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Records of one stream, in the file's order.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) stream: StreamName,
    pub(crate) records: Vec<AdmittedRecord>,
}

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Batches {
    waiting: BTreeMap<StreamName, Waiting>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    records: Vec<AdmittedRecord>,
    bytes: usize,
}

impl Batches {
    /// Takes a record and the length of its text; gives the batches that are due.
    pub(super) fn add(&mut self, stream: StreamName, record: AdmittedRecord, bytes: usize) -> Vec<Batch> {
        let waiting = self.waiting.entry(stream.clone()).or_default();
        waiting.records.push(record);
        waiting.bytes += bytes;
        self.bytes += bytes;
        if self.bytes >= MOST_BYTES {
            return self.take_all();
        }
        if waiting.records.len() < MAX_BATCH {
            return Vec::new();
        }
        let Waiting { records, bytes } = std::mem::take(waiting);
        self.bytes -= bytes;
        vec![Batch { stream, records }]
    }

    /// Everything that still waits.
    pub(super) fn take_all(&mut self) -> Vec<Batch> {
        self.bytes = 0;
        let all = std::mem::take(&mut self.waiting).into_iter();
        all.filter(|(_, waiting)| !waiting.records.is_empty())
            .map(|(stream, Waiting { records, .. })| Batch { stream, records })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use pdpp_store::Operation;
    use pdpp_wire::{Instant, RecordKey};

    use super::*;

    fn add(batches: &mut Batches, stream: &str, bytes: usize) -> String {
        let record = AdmittedRecord {
            key: RecordKey::parse("k").unwrap(),
            emitted_at: Instant::parse("2026-01-01").unwrap(),
            operation: Operation::Delete,
        };
        describe(batches.add(StreamName::parse(stream).unwrap(), record, bytes))
    }

    fn describe(due: Vec<Batch>) -> String {
        let each = due.iter().map(|batch| format!("{} {}", batch.stream, batch.records.len()));
        each.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_full_batch_goes_and_the_other_streams_wait() {
        let mut batches = Batches::default();
        assert_eq!(add(&mut batches, "notes", 10), "");
        for _ in 1..MAX_BATCH {
            assert_eq!(add(&mut batches, "days", 10), "");
        }
        assert_eq!(add(&mut batches, "days", 10), format!("days {MAX_BATCH}"));
        assert_eq!(batches.bytes, 10);
        assert_eq!(describe(batches.take_all()), "notes 1");
    }

    #[test]
    fn few_large_records_do_not_wait_for_a_full_batch() {
        let mut batches = Batches::default();
        for _ in 0..3 {
            assert_eq!(add(&mut batches, "notes", MOST_BYTES / 5), "");
        }
        assert_eq!(add(&mut batches, "days", MOST_BYTES / 5), "");
        assert_eq!(add(&mut batches, "notes", MOST_BYTES), "days 1, notes 4");
        assert_eq!(add(&mut batches, "days", 1), "");
        assert_eq!(describe(batches.take_all()), "days 1");
        assert_eq!(describe(batches.take_all()), "");
    }
}
