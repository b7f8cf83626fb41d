//! Events and their dates.

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, describe, text, verbatim};
use super::identity::Identity;
use super::series::Series;
use super::when::{Clock, Length, When};
use crate::Draft;
use crate::content_lines::Component;

/// What an event is read with.
pub(super) struct Context<'a> {
    pub(super) calendar: &'a str,
    pub(super) place: &'a str,
    pub(super) horizon: Timestamp,
    /// Dates of the series that stand on their own.
    pub(super) overrides: &'a [Timestamp],
}

/// Records of one event, and what could not be used of it.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) drafts: Vec<Draft>,
    pub(super) problems: Vec<String>,
}

/// When something begins and how long it lasts.
struct Span {
    start: When,
    at: Timestamp,
    length: Length,
}

impl Span {
    fn of(component: &Component, clock: &mut Clock<'_>) -> Result<Self, &'static str> {
        let property = component.find("DTSTART").ok_or("DTSTART is missing; the event was left out")?;
        let start = clock.read(property).ok_or("DTSTART is no time; the event was left out")?;
        let at = start.timestamp().ok_or("DTSTART is no time; the event was left out")?;
        let end = component.find("DTEND").and_then(|property| clock.read(property));
        let length = match (end, component.find("DURATION")) {
            (Some(end), _) => between(&start, at, &end),
            (None, Some(duration)) => Length::parse(&duration.value),
            (None, None) => None,
        };
        // Without an end a day lasts the day, and a moment is a moment.
        let default = Length { days: i64::from(start.all_day), seconds: 0 };
        Ok(Self { start, at, length: length.unwrap_or(default) })
    }

    fn put(&self, fields: &mut Fields) {
        put_times(fields, &self.start, self.at, self.length);
    }
}

fn between(start: &When, at: Timestamp, end: &When) -> Option<Length> {
    let seconds = end.timestamp()?.duration_since(at).as_secs();
    if seconds < 0 {
        return None;
    }
    let whole_days = start.all_day && end.all_day;
    Some(if whole_days {
        Length { days: (seconds / 86_400).max(1), seconds: 0 }
    } else {
        Length { days: 0, seconds }
    })
}

fn put_times(fields: &mut Fields, start: &When, at: Timestamp, length: Length) {
    fields.put("start", at.to_string());
    fields.put("end", start.plus(length).unwrap_or(at).to_string());
    fields.put("all_day", start.all_day);
    if start.all_day {
        fields.put("start_date", start.civil.date().to_string());
        let last = start.plus(Length { days: (length.days - 1).max(0), seconds: 0 });
        fields.text("last_date", last.map(|last| last.strftime("%Y-%m-%d").to_string()));
    } else {
        fields.put("start_local", start.civil.to_string());
        match &start.zone_name {
            Some(name) => fields.put("time_zone", name.as_str()),
            None => fields.put("floating", true),
        }
    }
}

/// An event that is no single date of a series: its record, and one for each date.
pub(super) fn read_event(
    component: &Component,
    clock: &mut Clock<'_>,
    identity: &Identity,
    context: &Context<'_>,
) -> Read {
    let mut read = Read::default();
    let span = match Span::of(component, clock) {
        Ok(span) => span,
        Err(problem) => {
            read.problems.push(problem.to_owned());
            return read;
        }
    };
    let series = Series::of(component, clock, &span.start, context.horizon);
    read.problems.extend(series.problems.iter().cloned());
    let mut fields = Fields::default();
    fields.put("id", identity.key.as_str());
    fields.text("uid", text(component, "UID"));
    fields.put("calendar", context.calendar);
    span.put(&mut fields);
    describe(component, clock, &mut fields);
    let recurring = ["RRULE", "RDATE"].iter().any(|name| component.find(name).is_some());
    let recurring = recurring || !context.overrides.is_empty();
    fields.put("recurring", recurring);
    for (member, name) in [("rrule", "RRULE"), ("rdate", "RDATE"), ("exdate", "EXDATE"), ("exrule", "EXRULE")]
    {
        fields.list(member, verbatim(component, name));
    }
    fields.list("overrides", context.overrides.iter().map(|at| Value::from(at.to_string())).collect());
    if recurring {
        let count = series.starts.keys().filter(|at| context.overrides.binary_search(at).is_err()).count();
        fields.put("instance_count", count + context.overrides.len());
        fields.put("instances_truncated", series.truncated);
    }
    read.drafts.push(draft("events", &identity.key, &fields, context.place));
    for (at, when) in series.starts.iter().filter(|(at, _)| context.overrides.binary_search(at).is_err()) {
        // A single event keeps its key when it is moved.
        let key = if recurring { Identity::instance_key(&identity.key, *at) } else { identity.key.clone() };
        let mut instance = Fields::default();
        instance.put("id", key.as_str());
        instance.put("event_id", identity.key.as_str());
        instance.put("calendar", context.calendar);
        put_times(&mut instance, when, *at, span.length);
        for member in ["summary", "location", "status"] {
            if let Some(value) = fields.0.get(member) {
                instance.put(member, value.clone());
            }
        }
        instance.put("changed", false);
        read.drafts.push(draft("event_instances", &key, &instance, context.place));
    }
    read
}

/// One changed date of a series; it also stands for the series when that is not in the export.
pub(super) fn read_override(
    component: &Component,
    clock: &mut Clock<'_>,
    identity: &Identity,
    original: Timestamp,
    context: &Context<'_>,
    stands_for_series: bool,
) -> Read {
    let mut read = Read::default();
    let span = match Span::of(component, clock) {
        Ok(span) => span,
        Err(problem) => {
            read.problems.push(problem.to_owned());
            return read;
        }
    };
    let mut common = Fields::default();
    common.put("calendar", context.calendar);
    span.put(&mut common);
    describe(component, clock, &mut common);
    if stands_for_series {
        let mut fields = Fields::default();
        fields.put("id", identity.key.as_str());
        fields.text("uid", text(component, "UID"));
        fields.0.extend(common.0.clone());
        fields.put("recurring", true);
        fields.put("series_missing", true);
        fields.list("overrides", context.overrides.iter().map(|at| Value::from(at.to_string())).collect());
        read.drafts.push(draft("events", &identity.key, &fields, context.place));
    }
    let key = Identity::instance_key(&identity.key, original);
    let mut fields = Fields::default();
    fields.put("id", key.as_str());
    fields.put("event_id", identity.key.as_str());
    fields.0.extend(common.0);
    fields.put("changed", true);
    fields.put("original_start", original.to_string());
    let range = component.find("RECURRENCE-ID").and_then(|property| property.parameter("RANGE"));
    if let Some(range) = range {
        fields.put("range", range);
        read.problems.push("RANGE reaches further than its own date, which alone was changed".to_owned());
    }
    read.drafts.push(draft("event_instances", &key, &fields, context.place));
    read
}

pub(super) fn draft(stream: &str, key: &str, fields: &Fields, place: &str) -> Draft {
    Draft { stream: stream.to_owned(), key: key.to_owned(), data: fields.0.clone(), place: place.to_owned() }
}
