//! Counts by a field's values: the largest groups, kept in bounded memory however many there are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pdpp_store::Group;
use pdpp_wire::manifest::FieldType;
use rusqlite::Connection;
use serde_json::{Number, Value};

use super::aggregate::{Selected, stored_value};
use super::tally::{self, Held, Sample, Tally};
use crate::fault::{Fault, Outcome};
use crate::layout::TypedColumn;

/// A long text or a time is spelled as a record has it, which takes reading the record. At most so
/// many of them compete for the last places by their text; of more groups of one size, those whose
/// column values (a digest, a moment) come first.
const COMPETING: usize = 1_000;

/// The largest groups, then by the JSON text of their keys.
pub(super) fn by_value(
    connection: &Connection,
    selected: &Selected<'_>,
    field: &str,
    column: &TypedColumn,
    limit: u32,
) -> Outcome<Vec<Group>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut largest = Largest { limit, spelled: BTreeMap::new(), unspelled: BTreeMap::new() };
    tally::each(connection, selected, column, |tally| largest.offer(column.field_type, tally))?;
    largest.spell(connection, field)
}

/// The largest groups so far.
struct Largest<'t> {
    limit: usize,
    /// By size, then by the key's JSON text.
    spelled: BTreeMap<(Reverse<u64>, String), Value>,
    /// By size, then in the order they came; each with a record that spells its key.
    unspelled: BTreeMap<(Reverse<u64>, usize), Sample<'t>>,
}

impl<'t> Largest<'t> {
    fn offer(&mut self, field_type: FieldType, tally: Tally<'t>) -> Outcome<()> {
        let Tally { held, count, sample } = tally;
        let key = match (held, sample) {
            (Held::Digest(_), None) => return Err(Fault::damaged("a digest belongs to no record")),
            (Held::Whole(_) | Held::Digest(_), Some(sample)) => {
                self.keep_unspelled(count, sample);
                return Ok(());
            }
            (Held::Missing, _) => Value::Null,
            (Held::Whole(number), None) if field_type == FieldType::Boolean => (number != 0).into(),
            (Held::Whole(number), None) => number.into(),
            (Held::Other(number), _) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            (Held::Text(text), _) => text.into(),
        };
        self.keep_spelled(count, key);
        Ok(())
    }

    fn keep_spelled(&mut self, count: u64, key: Value) {
        let is_full = self.spelled.len() >= self.limit;
        if is_full && self.spelled.last_key_value().is_none_or(|((Reverse(least), _), _)| count < *least) {
            return;
        }
        self.spelled.insert((Reverse(count), key.to_string()), key);
        if self.spelled.len() > self.limit {
            self.spelled.pop_last();
        }
    }

    fn keep_unspelled(&mut self, count: u64, sample: Sample<'t>) {
        let most = self.limit.max(COMPETING);
        // Those of one size are numbered as they come.
        let next = self.unspelled.range((Reverse(count), 0)..=(Reverse(count), usize::MAX)).next_back();
        let number = next.map_or(0, |((_, number), _)| number + 1);
        self.unspelled.insert((Reverse(count), number), sample);
        if self.unspelled.len() > most {
            self.unspelled.pop_last();
        }
    }

    /// The groups to show. Only records whose groups can be among them are read.
    fn spell(self, connection: &Connection, field: &str) -> Outcome<Vec<Group>> {
        let Self { limit, spelled, unspelled } = self;
        let sizes = spelled.keys().map(|(size, _)| *size).chain(unspelled.keys().map(|(size, _)| *size));
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_unstable();
        let last = limit.checked_sub(1).and_then(|last| sizes.get(last)).copied();
        let mut groups: Vec<_> = spelled.into_iter().map(|((size, text), key)| (size, text, key)).collect();
        for ((size, _), (key, part)) in unspelled {
            if last.is_none_or(|last| size <= last) {
                let key = stored_value(connection, part, key, field)?;
                groups.push((size, key.to_string(), key));
            }
        }
        groups.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        groups.truncate(limit);
        Ok(groups.into_iter().map(|(Reverse(count), _, key)| Group { key, count }).collect())
    }
}
