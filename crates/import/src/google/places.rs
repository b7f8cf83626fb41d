//! What the kinds of location files share: visits, trips, and the members nobody else tells.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::seen::Seen;
use super::values::Fields;
use crate::{Draft, Sink, Stop, mint_key};

/// Members that have no place of their own go under `extra`, as they are.
pub(super) fn extra(value: &Value, told: &[&str], fields: &mut Fields) {
    let Some(members) = value.as_object() else { return };
    let rest = members.iter().filter(|(name, value)| !told.contains(&name.as_str()) && !value.is_null());
    let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !rest.is_empty() {
        fields.put("extra", rest);
    }
}

/// When something on the timeline began and ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) start: Timestamp,
    pub(super) end: Option<Timestamp>,
}

/// A stay or a movement, with the members that follow from its time.
pub(super) fn give(
    stream: &str,
    stretch: Stretch,
    what: &str,
    mut members: Fields,
    (place, seen): (&str, &mut Seen),
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let key = mint_key(&format!("{}~{what}", stretch.start.strftime("%Y%m%dT%H%M%S%.fZ")));
    if !seen.first(stream, &key) {
        return Ok(());
    }
    let mut fields = Fields::with_id(&key);
    fields.time("start", Some(stretch.start));
    fields.time("end", stretch.end);
    if let Some(end) = stretch.end {
        fields.put("duration_seconds", end.duration_since(stretch.start).as_secs().max(0));
    }
    fields.0.append(&mut members.0);
    sink.record(Draft { stream: stream.to_owned(), key, data: fields.0, place: place.to_owned() })
}

/// One place at one moment.
#[derive(Debug)]
pub(super) struct Point<'a> {
    pub(super) at: Timestamp,
    pub(super) place: (f64, f64),
    pub(super) source: &'a str,
    pub(super) device: &'a str,
}

impl Point<'_> {
    /// The record, further members added, and its key.
    pub(super) fn draft(&self, members: Fields, place: &str) -> Draft {
        let (latitude, longitude) = self.place;
        // The moment alone is not enough: one phone sends what masts and what satellites say at once.
        let key =
            format!("{}~{latitude}~{longitude}~{}~{}", self.at.as_millisecond(), self.source, self.device);
        let key = mint_key(&key);
        let mut fields = Fields::with_id(&key);
        fields.time("time", Some(self.at));
        fields.place("", Some(self.place));
        fields.text("source", Some(self.source));
        fields.text("device", Some(self.device));
        fields.0.extend(members.0);
        Draft { stream: "location_points".to_owned(), key, data: fields.0, place: place.to_owned() }
    }
}
