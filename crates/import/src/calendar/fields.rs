//! What events, tasks and notes of a calendar have in common, as members of a record.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::when::Clock;
use crate::content_lines::{Component, Property, split_list, unescape};

/// Properties that have a member of their own, or say nothing of the thing itself. `DTSTAMP` is among them: many
/// services write the moment of the export there, and the same event would change with every export.
const TOLD: [&str; 44] = [
    "ACTION",
    "ATTACH",
    "ATTENDEE",
    "CATEGORIES",
    "CLASS",
    "COMMENT",
    "COMPLETED",
    "CONTACT",
    "CREATED",
    "DESCRIPTION",
    "DTEND",
    "DTSTAMP",
    "DTSTART",
    "DUE",
    "DURATION",
    "EXDATE",
    "EXRULE",
    "GEO",
    "IMAGE",
    "LAST-MODIFIED",
    "LOCATION",
    "ORGANIZER",
    "PERCENT-COMPLETE",
    "PRIORITY",
    "RDATE",
    "RECURRENCE-ID",
    "RELATED-TO",
    "RESOURCES",
    "RRULE",
    "SEQUENCE",
    "STATUS",
    "SUMMARY",
    "TRANSP",
    "UID",
    "URL",
    "X-ALT-DESC",
    "X-GOOGLE-CONFERENCE",
    "X-MICROSOFT-SKYPETEAMSMEETINGURL",
    "X-WR-CALNAME",
    "X-MOZ-GENERATION",
    "X-MOZ-LASTACK",
    "X-LIC-ERROR",
    "X-APPLE-CREATOR-IDENTITY",
    "X-APPLE-CREATOR-TEAM-IDENTITY",
];
/// Most entries of a list that are kept.
const MOST_LISTED: usize = 20_000;

/// A record under construction; what is absent or empty is left out.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(super) fn text(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            self.put(name, value);
        }
    }

    pub(super) fn list(&mut self, name: &str, values: Vec<Value>) {
        if !values.is_empty() {
            self.put(name, values);
        }
    }

    pub(super) fn whole(&mut self, name: &str, property: Option<&Property>) {
        if let Some(number) = property.and_then(|property| property.value.trim().parse::<i64>().ok()) {
            self.put(name, number);
        }
    }
}

/// The text of a property.
pub(super) fn text(component: &Component, name: &str) -> Option<String> {
    component.find(name).map(|property| unescape(&property.value))
}

/// A property that holds a moment in UTC.
pub(super) fn stamp(component: &Component, clock: &mut Clock<'_>, name: &str) -> Option<Timestamp> {
    component.find(name).and_then(|property| clock.read(property)).and_then(|when| when.timestamp())
}

/// Everything but identity and time.
pub(super) fn describe(component: &Component, clock: &mut Clock<'_>, fields: &mut Fields) {
    fields.text("summary", text(component, "SUMMARY"));
    fields.text("description", text(component, "DESCRIPTION"));
    fields.text("description_html", text(component, "X-ALT-DESC"));
    fields.text("location", text(component, "LOCATION"));
    if let Some((latitude, longitude)) = component.find("GEO").and_then(place) {
        fields.put("latitude", latitude);
        fields.put("longitude", longitude);
    }
    if let Some(organizer) = component.find("ORGANIZER") {
        fields.text("organizer_name", organizer.parameter("CN").map(str::to_owned));
        fields.text("organizer_email", Some(address(organizer)));
    }
    fields.list("attendees", component.all("ATTENDEE").take(MOST_LISTED).map(attendee).collect());
    fields.text("people", Some(people(component)));
    fields.text("status", text(component, "STATUS").map(|status| status.to_ascii_uppercase()));
    fields.text("transparency", text(component, "TRANSP").map(|value| value.to_ascii_uppercase()));
    fields.text("visibility", text(component, "CLASS").map(|value| value.to_ascii_uppercase()));
    fields.whole("priority", component.find("PRIORITY"));
    let categories = component.all("CATEGORIES").flat_map(|property| split_list(&property.value, ','));
    let categories = categories.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let categories: Vec<String> = categories.take(MOST_LISTED).collect();
    fields.text("labels", Some(categories.join(", ")));
    fields.list("categories", categories.into_iter().map(Value::from).collect());
    fields.text("url", component.find("URL").map(|property| property.value.trim().to_owned()));
    let meeting =
        component.find("X-GOOGLE-CONFERENCE").or(component.find("X-MICROSOFT-SKYPETEAMSMEETINGURL"));
    fields.text("conference_url", meeting.map(|property| property.value.trim().to_owned()));
    for (member, name) in [("comments", "COMMENT"), ("contacts", "CONTACT"), ("resources", "RESOURCES")] {
        let texts = component.all(name).map(|property| Value::from(unescape(&property.value)));
        fields.list(member, texts.take(MOST_LISTED).collect());
    }
    let related = component.all("RELATED-TO").map(|property| {
        json!({"uid": property.value.trim(), "kind": property.parameter("RELTYPE").unwrap_or("PARENT")})
    });
    fields.list("related_to", related.take(MOST_LISTED).collect());
    fields.list(
        "alarms",
        component.children.iter().filter(|child| child.name == "VALARM").map(alarm).collect(),
    );
    let links = component.all("ATTACH").filter(|property| !property.is_base64());
    let links = links.filter(|property| !property.value.trim().is_empty()).map(|property| {
        let mut link = Fields::default();
        link.text("url", Some(property.value.trim().to_owned()));
        link.text("name", property.parameter("FILENAME").map(str::to_owned));
        link.text("media_type", property.parameter("FMTTYPE").map(str::to_owned));
        Value::Object(link.0)
    });
    fields.list("links", links.take(MOST_LISTED).collect());
    fields.text("created", stamp(component, clock, "CREATED").map(|at| at.to_string()));
    fields.text("last_modified", stamp(component, clock, "LAST-MODIFIED").map(|at| at.to_string()));
    fields.whole("sequence", component.find("SEQUENCE"));
    extra(component, fields);
}

/// What no member tells.
fn extra(component: &Component, fields: &mut Fields) {
    let mut extra = Map::new();
    for property in component.properties.iter().filter(|property| !TOLD.contains(&property.name.as_str())) {
        let value = Value::from(unescape(&property.value));
        match extra.get_mut(&property.name) {
            None => drop(extra.insert(property.name.clone(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(one) => *one = Value::Array(vec![one.take(), value]),
        }
    }
    if !extra.is_empty() {
        fields.put("extra", extra);
    }
}

fn place(property: &Property) -> Option<(f64, f64)> {
    let (latitude, longitude) = property.value.split_once([';', ','])?;
    let number =
        |text: &str, most: f64| text.trim().parse::<f64>().ok().filter(|number| number.abs() <= most);
    Some((number(latitude, 90.0)?, number(longitude, 180.0)?))
}

/// An address without `mailto:`. Exchange writes one into a parameter when the value is none.
fn address(property: &Property) -> String {
    let value = property.value.trim();
    match value.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("mailto:") => value[7..].to_owned(),
        _ => property.parameter("EMAIL").unwrap_or(value).to_owned(),
    }
}

/// Everybody on one line each. Search reads texts, not lists.
fn people(component: &Component) -> String {
    let mut lines: Vec<String> = Vec::new();
    for property in component.all("ORGANIZER").chain(component.all("ATTENDEE")).take(MOST_LISTED) {
        let address = address(property);
        let line = match property.parameter("CN") {
            Some(name) if name != address => format!("{name} <{address}>"),
            _ => address,
        };
        // The one who calls is often the first who is asked.
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

fn attendee(property: &Property) -> Value {
    let mut person = Fields::default();
    let said = |name: &str| property.parameter(name).map(str::to_owned);
    person.text("name", said("CN"));
    person.text("email", Some(address(property)));
    person.text("status", said("PARTSTAT"));
    person.text("role", said("ROLE"));
    person.text("kind", said("CUTYPE"));
    if let Some(rsvp) = property.parameter("RSVP") {
        person.put("rsvp", rsvp.eq_ignore_ascii_case("TRUE"));
    }
    person.text("delegated_to", said("DELEGATED-TO"));
    person.text("delegated_from", said("DELEGATED-FROM"));
    Value::Object(person.0)
}

fn alarm(component: &Component) -> Value {
    let mut alarm = Fields::default();
    alarm.text("action", text(component, "ACTION"));
    alarm.text("trigger", text(component, "TRIGGER"));
    alarm.text("description", text(component, "DESCRIPTION"));
    Value::Object(alarm.0)
}

/// A property as it stood, its zone with it, for those who want to follow a rule themselves.
pub(super) fn verbatim(component: &Component, name: &str) -> Vec<Value> {
    let as_written = component.all(name).map(|property| {
        let parameters: Vec<String> = ["TZID", "VALUE"]
            .iter()
            .filter_map(|name| property.parameter(name).map(|value| format!("{name}={value}")))
            .collect();
        if parameters.is_empty() {
            return Value::from(property.value.trim());
        }
        Value::from(format!("{}:{}", parameters.join(";"), property.value.trim()))
    });
    as_written.take(MOST_LISTED).collect()
}
