//! A month of the old timeline: stays at places and movements between them.

use jiff::Timestamp;
use serde_json::Value;

use super::each::{Each, each};
use super::places::{Stretch, extra, give};
use super::seen::Seen;
use super::values::{Fields, number, place_e7, text, time_or_millis};
use crate::{Complaint, Sink, Stop, Tree};

/// Reads a month.
pub(super) fn read(
    tree: &mut dyn Tree,
    entry: usize,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    each(tree, entry, &["timelineObjects"], sink, &mut Month { seen })
}

struct Month<'s> {
    seen: &'s mut Seen,
}

impl Each for Month<'_> {
    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (stream, inner, fields, what) = match (element.get("placeVisit"), element.get("activitySegment"))
        {
            (Some(visit), _) => ("visits", visit, self::visit(visit), visit_name(visit)),
            (None, Some(segment)) => ("trips", segment, trip(segment), String::from("trip")),
            (None, None) => {
                let message = "Neither placeVisit nor activitySegment is there.";
                return sink.complain(Complaint::damaged(place, message));
            }
        };
        let Some(stretch) = stretch(inner) else {
            return sink.complain(Complaint::damaged(place, "duration has no start."));
        };
        give(stream, stretch, &what, fields, (place, self.seen), sink)
    }
}

fn stretch(inner: &Value) -> Option<Stretch> {
    let time = |name: &str| -> Option<Timestamp> {
        time_or_millis(inner, &format!("/duration/{name}"), &format!("/duration/{name}Ms"))
    };
    Some(Stretch { start: time("startTimestamp")?, end: time("endTimestamp") })
}

/// What tells two stays apart that began at one moment.
fn visit_name(visit: &Value) -> String {
    match (text(visit, "/location/placeId"), place_e7(visit, "/location")) {
        (Some(id), _) => id.to_owned(),
        (None, Some((latitude, longitude))) => format!("{latitude}~{longitude}"),
        (None, None) => String::from("visit"),
    }
}

fn visit(visit: &Value) -> Fields {
    let mut fields = Fields::default();
    fields.text("name", text(visit, "/location/name"));
    fields.text("address", text(visit, "/location/address"));
    fields.text("place_id", text(visit, "/location/placeId"));
    fields.text("semantic_type", text(visit, "/location/semanticType"));
    fields.place("", place_e7(visit, "/location").or_else(|| centre(visit)));
    fields.some(
        "confidence",
        number(visit, "/visitConfidence").or(number(visit, "/location/locationConfidence")),
    );
    fields.text("confirmation", text(visit, "/editConfirmationStatus"));
    fields.list("other_candidates", visit.get("otherCandidateLocations"));
    fields.list("inner_visits", visit.get("childVisits"));
    let told = [
        "location",
        "duration",
        "visitConfidence",
        "editConfirmationStatus",
        "otherCandidateLocations",
        "childVisits",
        "centerLatE7",
        "centerLngE7",
        "simplifiedRawPath",
    ];
    extra(visit, &told, &mut fields);
    fields
}

fn centre(visit: &Value) -> Option<(f64, f64)> {
    let point = serde_json::json!({"latE7": visit.get("centerLatE7")?, "lngE7": visit.get("centerLngE7")?});
    place_e7(&point, "")
}

fn trip(segment: &Value) -> Fields {
    let mut fields = Fields::default();
    fields.text("mode", text(segment, "/activityType"));
    fields.text("confidence_level", text(segment, "/confidence"));
    fields
        .some("distance_m", number(segment, "/distance").or(number(segment, "/waypointPath/distanceMeters")));
    fields.place("start_", place_e7(segment, "/startLocation"));
    fields.place("end_", place_e7(segment, "/endLocation"));
    fields.list("candidates", segment.get("activities"));
    fields.object("transit", segment.get("transitPath"));
    fields.object("parking", segment.get("parkingEvent"));
    let points = segment.pointer("/waypointPath/waypoints").or(segment.pointer("/simplifiedRawPath/points"));
    let points = points.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let path = points.iter().filter_map(|point| place_e7(point, ""));
    let path: Vec<Value> =
        path.map(|(latitude, longitude)| serde_json::json!([latitude, longitude])).collect();
    if !path.is_empty() {
        fields.put("path", path);
    }
    let told = [
        "activityType",
        "confidence",
        "distance",
        "startLocation",
        "endLocation",
        "activities",
        "transitPath",
        "parkingEvent",
        "waypointPath",
        "simplifiedRawPath",
        "duration",
    ];
    extra(segment, &told, &mut fields);
    fields
}
