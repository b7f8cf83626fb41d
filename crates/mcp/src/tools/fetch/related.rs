//! The related records of a document, looked at once: there may be many, and the document is written anew until it
//! fits.

use pdpp_evidence::{RecordHandle, redact};
use serde_json::{Map, Value, json};

use super::room::Room;
use crate::bounded;
use crate::expand::Relation;
use crate::shown::neutralised;
use crate::tokens::estimate_json;

/// What related records may cost.
const TOKENS: usize = 1_200;
/// How many relations are told to go on.
const CALLS: usize = 2;
/// What such a call may cost; a longer one names a record by an id that is none of ours.
const CALL_TOKENS: usize = 300;

/// What was expanded, with long texts cut, and the calls that read what is missing.
#[derive(Default)]
pub(super) struct Related {
    /// The members of the metadata that show it: none when nothing was expanded.
    shown: Map<String, Value>,
    /// How many texts are cut.
    cuts: usize,
    /// The calls that read the lists that go on.
    pub(super) calls: Vec<Value>,
}

impl Related {
    pub(super) fn of(row: &Map<String, Value>, handle: &RecordHandle, relations: &[Relation]) -> Self {
        let Some(related) = row.get("expanded").filter(|it| it.is_object()) else { return Self::default() };
        let calls = relations.iter().filter_map(|relation| relation.rest_of(row, handle));
        let calls = calls.filter(|call| estimate_json(call) <= CALL_TOKENS).take(CALLS).collect();
        // Under its own name, so that a cut in it is not taken for a cut in a field of this record.
        let mut related = json!({ "expanded": redact(related).0 });
        let cuts = bounded::fit_row(&mut related, TOKENS, None);
        let whole = related.get_mut("expanded").map(Value::take);
        let mut shown = Map::new();
        shown.insert("expanded".to_owned(), neutralised(whole.unwrap_or(related)));
        let count = cuts.len();
        bounded::report(cuts, &mut shown);
        Self { shown, cuts: count, calls }
    }

    /// Adds it to the metadata.
    pub(super) fn show(&self, room: Room, metadata: &mut Map<String, Value>) {
        metadata.extend(self.shown.iter().map(|(name, value)| (name.clone(), value.clone())));
        let listed = metadata.get_mut("truncated_fields").and_then(Value::as_array_mut);
        if let Some(listed) = listed.filter(|listed| listed.len() > room.listed) {
            listed.truncate(room.listed);
            metadata.insert("truncated_field_count".to_owned(), self.cuts.into());
        }
    }
}
