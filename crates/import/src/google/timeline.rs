//! The new timeline, which lives on the phone: Android's file and the iPhone's.

use jiff::SignedDuration;
use serde_json::Value;

use super::each::{Each, each};
use super::places::{Point, Stretch, extra, give};
use super::seen::Seen;
use super::values::{Fields, number, place_text, text, time};
use crate::{Complaint, Sink, Stop, Tree};

/// Reads the file of an Android phone: what was made of the signals, then the signals.
pub(super) fn read_android(
    tree: &mut dyn Tree,
    entry: usize,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each(tree, entry, &["semanticSegments"], sink, &mut Segments { seen })?;
    each(tree, entry, &["rawSignals"], sink, &mut Signals { last: String::new() })
}

/// Reads the file of an iPhone.
pub(super) fn read_iphone(
    tree: &mut dyn Tree,
    entry: usize,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each(tree, entry, &[], sink, &mut Segments { seen })
}

struct Segments<'s> {
    seen: &'s mut Seen,
}

impl Each for Segments<'_> {
    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let Some(start) = time(element, "/startTime") else {
            return sink.complain(Complaint::damaged(place, "startTime is missing or no time."));
        };
        let stretch = Stretch { start, end: time(element, "/endTime") };
        let zone = |fields: &mut Fields| {
            let offset = number(element, "/startTimeTimezoneUtcOffsetMinutes");
            fields.some("utc_offset_minutes", offset);
            // The iPhone keeps the offset in the time itself.
            fields.text("start_local", text(element, "/startTime"));
        };
        if let Some(visit) = element.get("visit") {
            let mut fields = self::visit(visit);
            zone(&mut fields);
            let id = text(visit, "/topCandidate/placeId").or(text(visit, "/topCandidate/placeID"));
            let level = number(visit, "/hierarchyLevel").unwrap_or(0.0);
            // A stay in a shop is told inside the stay in its mall, from the same moment on.
            let what = format!("{}~{level}", id.unwrap_or("visit"));
            return give("visits", stretch, &what, fields, (place, self.seen), sink);
        }
        if let Some(activity) = element.get("activity") {
            let mut fields = trip(activity);
            zone(&mut fields);
            return give("trips", stretch, "trip", fields, (place, self.seen), sink);
        }
        if let Some(path) = element.get("timelinePath").and_then(Value::as_array) {
            return self.path(path, stretch, place, sink);
        }
        if element.get("timelineMemory").is_some() {
            let mut fields = Fields::default();
            fields.put("mode", "MEMORY");
            extra(element, &["startTime", "endTime"], &mut fields);
            return give("trips", stretch, "memory", fields, (place, self.seen), sink);
        }
        sink.complain(Complaint::damaged(place, "None of visit, activity and timelinePath is there."))
    }
}

impl Segments<'_> {
    fn path(
        &mut self,
        path: &[Value],
        stretch: Stretch,
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut wrong = 0_usize;
        for point in path {
            let at = time(point, "/time").or_else(|| {
                let minutes = number(point, "/durationMinutesOffsetFromStartTime")?;
                let offset = SignedDuration::try_from_secs_f64(minutes * 60.0).ok()?;
                stretch.start.checked_add(offset).ok()
            });
            let degrees = text(point, "/point").and_then(place_text);
            let (Some(at), Some(degrees)) = (at, degrees) else {
                wrong += 1;
                continue;
            };
            let draft =
                Point { at, place: degrees, source: "PATH", device: "" }.draft(Fields::default(), place);
            if self.seen.first("location_points", &draft.key) {
                sink.record(draft)?;
            }
        }
        match wrong {
            0 => Ok(()),
            wrong => {
                let message = format!("{wrong} points of timelinePath have no time or no place.");
                sink.complain(Complaint::damaged(place, message))
            }
        }
    }
}

/// A place, which the two phones write in two ways.
fn position(value: &Value, pointer: &str) -> Option<(f64, f64)> {
    let value = value.pointer(pointer)?;
    value.as_str().or_else(|| text(value, "/latLng")).and_then(place_text)
}

fn visit(visit: &Value) -> Fields {
    let mut fields = Fields::default();
    let id = text(visit, "/topCandidate/placeId").or(text(visit, "/topCandidate/placeID"));
    fields.text("place_id", id);
    fields.text("semantic_type", text(visit, "/topCandidate/semanticType"));
    fields.place("", position(visit, "/topCandidate/placeLocation"));
    fields.some("confidence", number(visit, "/probability").map(|share| share * 100.0));
    fields.some("hierarchy_level", number(visit, "/hierarchyLevel"));
    extra(visit, &["topCandidate", "probability", "hierarchyLevel"], &mut fields);
    fields
}

fn trip(activity: &Value) -> Fields {
    let mut fields = Fields::default();
    fields.text("mode", text(activity, "/topCandidate/type"));
    fields.some("distance_m", number(activity, "/distanceMeters"));
    fields.some("confidence", number(activity, "/probability").map(|share| share * 100.0));
    fields.place("start_", position(activity, "/start"));
    fields.place("end_", position(activity, "/end"));
    fields.object("parking", activity.get("parking"));
    let told = ["topCandidate", "distanceMeters", "probability", "start", "end", "parking"];
    extra(activity, &told, &mut fields);
    fields
}

struct Signals {
    last: String,
}

impl Each for Signals {
    fn tells_breakage(&self) -> bool {
        false
    }

    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        // Guesses at movement and lists of wireless networks are signals too; they name no place.
        let Some(position) = element.get("position") else { return Ok(()) };
        let degrees = text(position, "/LatLng").or(text(position, "/latLng")).and_then(place_text);
        let (Some(at), Some(degrees)) = (time(position, "/timestamp"), degrees) else {
            return sink.complain(Complaint::damaged(place, "timestamp or LatLng of position is missing."));
        };
        let mut fields = Fields::default();
        fields.some("accuracy_m", number(position, "/accuracyMeters"));
        fields.some("altitude_m", number(position, "/altitudeMeters"));
        fields.some("speed_m_s", number(position, "/speedMetersPerSecond"));
        let source = text(position, "/source").unwrap_or_default();
        let draft = Point { at, place: degrees, source, device: "" }.draft(fields, place);
        if draft.key == self.last {
            return Ok(());
        }
        self.last.clone_from(&draft.key);
        sink.record(draft)
    }
}
