//! Counts by a field's values: the largest groups, kept in bounded memory however many there are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use pdpp_store::Group;
use serde_json::{Number, Value};

use super::aggregate::Selected;
use super::stored::stored_values;
use super::tally::{self, Sample, Tally};
use super::target::Target;
use crate::fault::Outcome;
use crate::session::Session;
use crate::value::Held;

/// A long text or a time is spelled as a record has it, which takes reading the record. At most so
/// many of them compete for the last places by their text; of more groups of one size, those whose
/// field values (a digest, a moment) come first.
const COMPETING: usize = 1_000;

/// The largest groups, then by the JSON text of their keys.
pub(super) async fn by_value(
    session: &Session,
    target: &Target<'_>,
    selected: &Selected<'_>,
    (name, field): (&str, i32),
    limit: u32,
) -> Outcome<Vec<Group>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut largest = Largest { limit, spelled: BTreeMap::new(), unspelled: BTreeMap::new() };
    tally::each(session, selected, field, |tally| largest.offer(tally)).await?;
    largest.spell(session, target, name).await
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
    fn offer(&mut self, tally: Tally<'t>) {
        let Tally { held, count, sample } = tally;
        let key = match held {
            Some(Held::Instant(_) | Held::Digest(_)) => return self.keep_unspelled(count, sample),
            None => Value::Null,
            Some(Held::Boolean(flag)) => flag.into(),
            Some(Held::Whole(number)) => number.into(),
            Some(Held::Broken(number)) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            Some(Held::Text(text)) => text.into(),
        };
        self.keep_spelled(count, key);
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
    async fn spell(self, session: &Session, target: &Target<'_>, name: &str) -> Outcome<Vec<Group>> {
        let Self { limit, spelled, unspelled } = self;
        let sizes = spelled.keys().map(|(size, _)| *size).chain(unspelled.keys().map(|(size, _)| *size));
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_unstable();
        let last = limit.checked_sub(1).and_then(|last| sizes.get(last)).copied();
        let mut groups: Vec<_> = spelled.into_iter().map(|((size, text), key)| (size, text, key)).collect();
        let read = unspelled.into_iter().filter(|((size, _), _)| last.is_none_or(|last| *size <= last));
        let (sizes, samples): (Vec<_>, Vec<_>) = read.map(|((size, _), sample)| (size, sample)).unzip();
        for (size, key) in sizes.into_iter().zip(stored_values(session, target, &samples, name).await?) {
            groups.push((size, key.to_string(), key));
        }
        groups.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        groups.truncate(limit);
        Ok(groups.into_iter().map(|(Reverse(count), _, key)| Group { key, count }).collect())
    }
}
