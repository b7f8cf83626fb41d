//! The oldest kind of location file: every point a phone sent, years of them in one array.

use serde_json::Value;

use super::each::{Each, each};
use super::places::Point;
use super::values::{Fields, number, place_e7, text, time_or_millis};
use crate::{Complaint, Sink, Stop, Tree};

/// Reads `Records.json`.
pub(super) fn read(tree: &mut dyn Tree, entry: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
    each(tree, entry, &["locations"], sink, &mut Points { last: String::new() })
}

struct Points {
    /// The key of the last point: files repeat a point next to itself, and years of keys are not kept.
    last: String,
}

impl Each for Points {
    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let at = time_or_millis(element, "/timestamp", "/timestampMs");
        let (Some(at), Some(degrees)) = (at, place_e7(element, "")) else {
            // A phone that saw only wireless networks says so without a place; that is no loss.
            if element.get("latitudeE7").is_none() && at.is_some() {
                return Ok(());
            }
            let message = "timestamp or latitudeE7 and longitudeE7 are missing or out of bounds.";
            return sink.complain(Complaint::damaged(place, message));
        };
        let device = element.get("deviceTag").filter(|tag| tag.is_number()).map(Value::to_string);
        let source = text(element, "/source").unwrap_or_default().to_ascii_uppercase();
        let point =
            Point { at, place: degrees, source: &source, device: device.as_deref().unwrap_or_default() };
        let mut fields = Fields::default();
        fields.some("accuracy_m", number(element, "/accuracy"));
        fields.some("altitude_m", number(element, "/altitude"));
        fields.some("speed_m_s", number(element, "/velocity"));
        fields.some("heading_degrees", number(element, "/heading"));
        fields.text("platform", text(element, "/platformType").or(text(element, "/formFactor")));
        if let Some((kind, confidence)) = likeliest(element) {
            fields.put("activity", kind);
            fields.some("activity_confidence", confidence);
        }
        let draft = point.draft(fields, place);
        if draft.key == self.last {
            return Ok(());
        }
        self.last.clone_from(&draft.key);
        sink.record(draft)
    }
}

/// What the phone thought its owner was doing.
fn likeliest(element: &Value) -> Option<(&str, Option<f64>)> {
    let guesses = element.pointer("/activity/0/activity").or(element.pointer("/activity/0/activities"))?;
    let guesses = guesses.as_array()?.iter();
    let rated = guesses.filter_map(|guess| Some((text(guess, "/type")?, number(guess, "/confidence"))));
    rated.reduce(|best, next| if next.1 > best.1 { next } else { best })
}
