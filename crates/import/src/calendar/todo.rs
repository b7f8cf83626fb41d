//! Tasks and journal notes.

use super::event::draft;
use super::fields::{Fields, describe, stamp, text, verbatim};
use super::identity::Identity;
use super::when::{Clock, Length};
use crate::Draft;
use crate::content_lines::{Component, unescape};

/// A task. One of a series keeps the series' key and its own date.
pub(super) fn read_todo(
    component: &Component,
    clock: &mut Clock<'_>,
    identity: &Identity,
    calendar: &str,
    place: &str,
) -> Draft {
    let mut fields = Fields::default();
    let key = own_key(identity);
    fields.put("id", key.as_str());
    fields.text("uid", text(component, "UID"));
    fields.put("calendar", calendar);
    let start = component.find("DTSTART").and_then(|property| clock.read(property));
    let due = component.find("DUE").and_then(|property| clock.read(property));
    let length = component.find("DURATION").and_then(|property| Length::parse(&property.value));
    let due_at = due.as_ref().and_then(super::when::When::timestamp);
    let due_at = due_at.or_else(|| start.as_ref().zip(length).and_then(|(start, length)| start.plus(length)));
    let start_at = start.as_ref().and_then(super::when::When::timestamp);
    let created = stamp(component, clock, "CREATED");
    let modified = stamp(component, clock, "LAST-MODIFIED");
    fields.text("time", created.or(start_at).or(due_at).or(modified).map(|at| at.to_string()));
    fields.text("start", start_at.map(|at| at.to_string()));
    fields.text("due", due_at.map(|at| at.to_string()));
    if let Some(when) = due.as_ref().or(start.as_ref()) {
        fields.put("all_day", when.all_day);
        fields.text("time_zone", when.zone_name.clone());
    }
    let completed = stamp(component, clock, "COMPLETED");
    fields.text("completed_at", completed.map(|at| at.to_string()));
    fields.whole("percent_complete", component.find("PERCENT-COMPLETE"));
    describe(component, clock, &mut fields);
    let done = fields.0.get("status").is_some_and(|status| status == "COMPLETED");
    fields.put("done", done || completed.is_some());
    for (member, name) in [("rrule", "RRULE"), ("rdate", "RDATE"), ("exdate", "EXDATE")] {
        fields.list(member, verbatim(component, name));
    }
    fields.text("original_start", identity.recurrence.map(|at| at.to_string()));
    draft("todos", &key, &fields, place)
}

/// A note in a calendar.
pub(super) fn read_journal(
    component: &Component,
    clock: &mut Clock<'_>,
    identity: &Identity,
    calendar: &str,
    place: &str,
) -> Draft {
    let mut fields = Fields::default();
    let key = own_key(identity);
    fields.put("id", key.as_str());
    fields.text("uid", text(component, "UID"));
    fields.put("calendar", calendar);
    let start = component.find("DTSTART").and_then(|property| clock.read(property));
    let at = start.as_ref().and_then(super::when::When::timestamp);
    let created = stamp(component, clock, "CREATED");
    fields.text("time", at.or(created).map(|at| at.to_string()));
    if let Some(start) = start.filter(|start| start.all_day) {
        fields.put("date", start.civil.date().to_string());
    }
    describe(component, clock, &mut fields);
    // Only a note may have several texts.
    let texts: Vec<String> = component.all("DESCRIPTION").map(|property| unescape(&property.value)).collect();
    fields.text("description", Some(texts.join("\n\n")));
    draft("journal", &key, &fields, place)
}

fn own_key(identity: &Identity) -> String {
    match identity.recurrence {
        Some(at) => Identity::instance_key(&identity.key, at),
        None => identity.key.clone(),
    }
}
