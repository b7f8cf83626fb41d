//! What changed when, field by field: the memory behind leak-free change feeds.
//!
//! A reader must not notice a change in a field it may not see, neither as an entry of
//! `changes_since` nor through `emitted_at`. So each record remembers, per top-level field, the
//! sequence and the emission time of that field's last change.

use std::collections::BTreeMap;

use pdpp_access::FieldSet;
use pdpp_wire::Instant;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A sequence number and the emission time that came with it.
type Moment = (u64, i64);

/// When a record's fields last changed. Fields without an entry last changed when it was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldHistory {
    #[serde(rename = "c")]
    created: Moment,
    #[serde(rename = "f", default, skip_serializing_if = "BTreeMap::is_empty")]
    changed: BTreeMap<String, Moment>,
}

impl FieldHistory {
    /// The history of a record created now.
    pub fn created(sequence: u64, emitted_at: Instant) -> Self {
        Self { created: (sequence, emitted_at.micros()), changed: BTreeMap::new() }
    }

    /// A history without later changes needs not be stored beside the creation columns.
    pub fn is_plain(&self) -> bool {
        self.changed.is_empty()
    }

    /// Notes which top-level fields differ between two versions of the data.
    pub fn note_changes(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        sequence: u64,
        at: Instant,
    ) {
        let moment = (sequence, at.micros());
        let gone = old.keys().filter(|name| !new.contains_key(*name));
        let differing =
            new.iter().filter(|(name, value)| old.get(*name) != Some(*value)).map(|(name, _)| name);
        for name in gone.chain(differing) {
            self.changed.insert(name.clone(), moment);
        }
    }

    /// The latest change to any field of the set: its sequence and emission time.
    pub fn visible_change(&self, fields: &FieldSet) -> (u64, Instant) {
        let seen = self.changed.iter().filter(|(name, _)| fields.contains(name)).map(|(_, moment)| *moment);
        let (sequence, micros) = seen.max().unwrap_or(self.created).max(self.created);
        (sequence, Instant::from_micros(micros))
    }

    /// The sequences at which some reader may see the record's latest change; repeated ones included.
    pub fn sequences(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.created.0).chain(self.changed.values().map(|(sequence, _)| *sequence))
    }

    /// The latest emission time of any field: never earlier than what any reader sees.
    pub fn top_emitted_at(&self) -> Instant {
        let latest = self.changed.values().map(|(_, at)| *at).max().unwrap_or(i64::MIN);
        Instant::from_micros(latest.max(self.created.1))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_change_in_a_hidden_field_is_not_noticed() {
        let mut history = FieldHistory::created(1, Instant::from_micros(10));
        let (old, new) = (object(json!({"a": 1, "b": 1})), object(json!({"a": 1, "b": 2})));
        history.note_changes(&old, &new, 5, Instant::from_micros(50));
        let seen = |name: &str| history.visible_change(&FieldSet::only([name.to_owned()]));
        assert_eq!(seen("a"), (1, Instant::from_micros(10)));
        assert_eq!(seen("b"), (5, Instant::from_micros(50)));
        assert_eq!(history.visible_change(&FieldSet::All), (5, Instant::from_micros(50)));
    }

    #[test]
    fn added_and_removed_fields_are_changes() {
        let mut history = FieldHistory::created(1, Instant::from_micros(10));
        history.note_changes(&object(json!({"a": 1})), &object(json!({"b": 1})), 2, Instant::from_micros(20));
        for name in ["a", "b"] {
            assert_eq!(history.visible_change(&FieldSet::only([name.to_owned()])).0, 2);
        }
    }
}
