//! What a document leaves out: the values short enough to be taken along, and the calls that show the rest.
//!
//! No call asks for what was just asked for: a fetch names fewer fields than the one it follows, and what does not
//! fit in one by itself is read by window. So whoever follows the calls comes to an end, and has seen every field.

use serde_json::{Map, Value, json};

use super::document::Record;
use super::fields::Body;
use super::payload::Field;
use super::room::Room;
use crate::record::{export, field_fetch, field_read, is_callable, is_projectable, schema_call};

/// What the short values may cost.
const SHORT_TOKENS: usize = 400;
const SHORT_FIELDS: usize = 24;
/// How many fields the next fetch names, and how many the one after it.
const FETCHED: usize = 8;
const LATER: usize = 32;
const WINDOWS: usize = 3;
/// So many calls are printed in any room.
const LEAST_CALLS: usize = 3;

/// The first short values; they cost less than a call that would fetch them.
pub(super) fn short_values(rest: &[&Field<'_>], room: Room) -> Map<String, Value> {
    let mut short = Map::new();
    let mut left = SHORT_TOKENS * room.listed / Room::of(0).listed;
    for field in rest {
        if short.len() == SHORT_FIELDS.min(room.listed) {
            break;
        }
        let Some(cost) = field.short.filter(|cost| *cost <= left) else { continue };
        left -= cost;
        short.insert(field.name.to_owned(), field.value.clone());
    }
    short
}

/// The calls that show what is not shown here.
pub(super) fn continuations(
    record: &Record<'_>,
    body: &Body<'_>,
    left: &[&Field<'_>],
    room: Room,
) -> Vec<Value> {
    let left_out = LeftOut::of(record, body, left);
    let mut calls = left_out.windows(record, body);
    calls.extend(left_out.fetches(record, body));
    calls.extend(record.payload.binary.iter().filter_map(|field| field.read(record.adapter, record.handle)));
    let most = room.listed.max(LEAST_CALLS);
    let unnamed = left.len() + record.payload.more > room.listed || calls.len() > most;
    calls.truncate(most);
    // Without a connection there are no windows; the schema names those there are.
    let unread = record.handle.connection_id.is_none() && left_out.needs_windows(body);
    if unnamed || unread {
        calls.push(schema_call(record.handle));
    }
    calls.extend_from_slice(&record.related.calls);
    calls.extend(left_out.export(record, body));
    calls
}

/// The fields that are not shown, by what shows them.
#[derive(Default)]
struct LeftOut<'v> {
    /// A fetch of them.
    fetched: Vec<&'v str>,
    /// A window of each.
    long: Vec<&'v str>,
    /// No tool, because their names cannot stand in its call.
    unnameable: Vec<&'v str>,
}

impl<'v> LeftOut<'v> {
    fn of(record: &Record<'_>, body: &Body<'_>, left: &[&Field<'v>]) -> Self {
        let mut sorted = Self::default();
        for field in left.iter().filter(|field| body.field != Some(field.name) && !field.is_bytes) {
            if field.fits_alone && may_be_fetched(record, field.name) {
                sorted.fetched.push(field.name);
            } else {
                sorted.not_fetched(field.name);
            }
        }
        // It should have fitted, and did not.
        if let ([name], true) = (sorted.fetched.as_slice(), sorted.repeats_the_call(record, body)) {
            let name = *name;
            sorted.fetched.clear();
            sorted.not_fetched(name);
        }
        // What was asked for comes first; a server may have sent more.
        sorted.long.sort_by_key(|name| !record.asked.contains(name));
        sorted
    }

    fn not_fetched(&mut self, name: &'v str) {
        if is_callable(name) { self.long.push(name) } else { self.unnameable.push(name) }
    }

    /// Whether a fetch of all these fields would show what is shown now.
    fn repeats_the_call(&self, record: &Record<'_>, body: &Body<'_>) -> bool {
        if record.asked.is_empty() {
            return body.field.is_none() && self.fetched.len() == record.payload.fields.len();
        }
        record.asked.iter().all(|name| self.fetched.contains(name))
    }

    fn needs_windows(&self, body: &Body<'_>) -> bool {
        !self.long.is_empty() || (body.is_cut() && body.field.is_some())
    }

    fn windows(&self, record: &Record<'_>, body: &Body<'_>) -> Vec<Value> {
        let text = body.field.filter(|name| body.is_cut() && is_callable(name));
        let text = text.and_then(|name| window(record, name, body.shown_chars));
        let long = self.long.iter().take(WINDOWS).filter_map(|name| window(record, name, 0));
        text.into_iter().chain(long).collect()
    }

    /// The next fetch, and one for what it leaves.
    fn fetches(&self, record: &Record<'_>, body: &Body<'_>) -> Vec<Value> {
        let all = self.fetched.len();
        let most = if self.repeats_the_call(record, body) { all / 2 } else { all };
        let (next, later) = self.fetched.split_at(most.min(FETCHED));
        let long = self.long.iter().skip(WINDOWS).filter(|name| may_be_fetched(record, name));
        let long = long.filter(|_| record.handle.connection_id.is_some());
        let later: Vec<&str> = later.iter().chain(long).copied().take(LATER).collect();
        let calls = [next, &later].into_iter().filter(|names| !names.is_empty());
        calls.map(|names| field_fetch(&record.read_id, names)).collect()
    }

    /// The request for what no tool can be asked for.
    fn export(&self, record: &Record<'_>, body: &Body<'_>) -> Option<Value> {
        let windowless = record.handle.connection_id.is_none();
        let text = body.field.filter(|name| body.is_cut() && (windowless || !is_callable(name)));
        // A window of each, or a fetch, is all that the other calls are.
        let beyond = |(n, name): &(usize, &&str)| *n >= WINDOWS && !may_be_fetched(record, name);
        let long = self.long.iter().enumerate().filter(|it| windowless || beyond(it)).map(|(_, name)| name);
        let names: Vec<&str> = text.into_iter().chain(long.chain(&self.unnameable).copied()).collect();
        (!names.is_empty()).then(|| json!({ "export": export(record.handle, &names) }))
    }
}

/// Whether a fetch may name the field: once some were asked for, only of those, so that each fetch names fewer.
fn may_be_fetched(record: &Record<'_>, name: &str) -> bool {
    is_projectable(name) && (record.asked.is_empty() || record.asked.contains(&name))
}

fn window(record: &Record<'_>, field: &str, offset: usize) -> Option<Value> {
    record.handle.connection_id.as_ref()?;
    let mut call = field_read(record.handle, field, offset)?;
    if let Some(id) = call.pointer_mut("/args/id") {
        *id = record.read_id.clone().into();
    }
    Some(call)
}
