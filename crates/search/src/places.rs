//! Where each record of a segment is: a table from its number to its first document.
//!
//! Neighbours in a thread, and the records a grant or filter names, are looked up by the hundred; the
//! dictionary takes microseconds for each. The table takes eight bytes for each of its slots, of which a quarter
//! to a half are used; it is made when it is first asked for, and never changes, because documents of a segment
//! never move.

use std::sync::OnceLock;

use tantivy::DocId;

/// The table of one segment.
#[derive(Debug, Default)]
pub(crate) struct Places(OnceLock<Vec<Slot>>);

/// The first document of a run of a record's documents, and the half of its number that does not say where the
/// slot is: a slot of another record is nearly always known without looking at the document.
#[derive(Clone, Copy, Debug)]
struct Slot {
    doc: DocId,
    half: u32,
}

const EMPTY: Slot = Slot { doc: DocId::MAX, half: 0 };

impl Places {
    /// Whether the table was made.
    pub(crate) fn is_made(&self) -> bool {
        self.0.get().is_some()
    }

    /// The least document `alive` gives for any run of a record's documents. `record` tells the number of each
    /// of the segment's `rows`.
    pub(crate) fn find(
        &self,
        rows: DocId,
        record: impl Fn(DocId) -> u64,
        wanted: u64,
        alive: impl Fn(DocId) -> Option<DocId>,
    ) -> Option<DocId> {
        let table = self.0.get_or_init(|| table(rows, &record));
        let (mut at, half) = halves(wanted, table.len());
        let mut found: Option<DocId> = None;
        while table[at].doc != EMPTY.doc {
            // A record that was written twice has two runs, one of them deleted.
            if table[at].half == half
                && record(table[at].doc) == wanted
                && let Some(doc) = alive(table[at].doc)
            {
                found = Some(found.map_or(doc, |least| least.min(doc)));
            }
            at = (at + 1) & (table.len() - 1);
        }
        found
    }
}

/// Where a record's slot is looked for, and the rest of its number. Numbers are digests, so their own bits
/// spread them.
#[expect(clippy::cast_possible_truncation, reason = "halves are what is wanted")]
fn halves(record: u64, slots: usize) -> (usize, u32) {
    (record as usize & (slots - 1), (record >> 32) as u32)
}

fn table(rows: DocId, record: &impl Fn(DocId) -> u64) -> Vec<Slot> {
    let mut runs = Vec::new();
    let mut last = None;
    for doc in 0..rows {
        let number = record(doc);
        if last != Some(number) {
            runs.push((doc, number));
            last = Some(number);
        }
    }
    let mut table = vec![EMPTY; (runs.len() * 2).next_power_of_two().max(2)];
    for (doc, number) in runs {
        let (mut at, half) = halves(number, table.len());
        while table[at].doc != EMPTY.doc {
            at = (at + 1) & (table.len() - 1);
        }
        table[at] = Slot { doc, half };
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_found_at_its_first_living_document() {
        // 7 was written again later, 8 again at once.
        let records = [7, 7, 8, 8, 9, 7, 7];
        let dead = [true, true, true, false, false, false, false];
        let places = Places::default();
        let find = |wanted| {
            let record = |doc: DocId| records[doc as usize];
            places.find(7, record, wanted, |first| {
                (first..7).take_while(|doc| record(*doc) == wanted).find(|doc| !dead[*doc as usize])
            })
        };
        assert_eq!([7, 8, 9, 10].map(find), [Some(5), Some(3), Some(4), None]);
        assert_eq!(Places::default().find(0, |_| 0, 0, Some), None);
    }
}
