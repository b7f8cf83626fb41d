//! Calendars in the iCalendar format (`.ics`), from any program.
//!
//! Two passes: the first learns which copy of an event counts and which dates of a series were changed, the second
//! gives records. Neither holds more than one event.

mod attachments;
mod event;
mod expand;
mod fields;
mod identity;
mod rule;
mod series;
mod survey;
mod todo;
mod when;
mod windows_zones;
mod zones;

use std::io;

use pdpp_wire::manifest::Manifest;

use self::attachments::Attachments;
use self::event::{Context, Read, read_event, read_override};
use self::identity::Identity;
use self::series::horizon_after;
use self::survey::Survey;
use self::todo::{read_journal, read_todo};
use self::when::Clock;
use crate::content_lines::{Component, Components, Found, unescape};
use crate::tree::open_buffered;
use crate::{Claim, Complaint, Format, Look, Sink, Stop, Tree, stem};

/// iCalendar files.
#[derive(Debug)]
pub(crate) struct Ics;

impl Format for Ics {
    fn name(&self) -> &'static str {
        "calendar"
    }

    fn claim(&self, look: &mut Look<'_>) -> Vec<Claim> {
        let alone = look.unclaimed().count() == 1;
        let named = |path: &str| {
            let end = path.rsplit('.').next().unwrap_or_default();
            ["ics", "ical", "icalendar"].iter().any(|known| end.eq_ignore_ascii_case(known))
        };
        let mut entries = look.find(|path| alone || named(path));
        entries.retain(|index| begins_with(&look.head(*index, 512), b"BEGIN:VCALENDAR"));
        entries.sort_by(|a, b| look.path(*a).cmp(look.path(*b)));
        let found = match entries.len() {
            0 => return Vec::new(),
            1 => "1 calendar".to_owned(),
            count => format!("{count} calendars"),
        };
        vec![Claim { entries, account: None, found }]
    }

    fn manifest(&self, _: &mut dyn Tree, _: &Claim) -> io::Result<Manifest> {
        Manifest::parse(include_str!("../manifests/calendar.json")).map_err(io::Error::other)
    }

    fn read(&self, tree: &mut dyn Tree, claim: &Claim, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut survey = Survey::new();
        for entry in &claim.entries {
            let mut calendar = Calendar::new(&tree.entries()[*entry].path);
            // What cannot be read is told by the second pass.
            let Ok(bytes) = open_buffered(tree, *entry) else { continue };
            let mut components = Components::new(bytes, Some("VCALENDAR"));
            while let Ok(Some(found)) = components.next() {
                calendar.take(&found);
                survey.look(*entry, &found, &calendar);
            }
        }
        let mut reading = Reading { survey: &survey, attachments: Attachments::default(), count: 0 };
        claim.entries.iter().try_for_each(|entry| reading.file(tree, *entry, sink))
    }
}

/// Whether a text begins with a word, byte order mark and blank lines aside.
pub(crate) fn begins_with(head: &[u8], word: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

/// What a file says about the calendar it holds.
#[derive(Clone, Debug)]
struct Calendar {
    file: String,
    name: String,
    /// The zone of floating times; empty when none is named.
    zone: String,
}

impl Calendar {
    fn new(path: &str) -> Self {
        let file = stem(path).to_owned();
        Self { name: file.clone(), file, zone: String::new() }
    }

    fn take(&mut self, found: &Found) {
        match found {
            Found::Opened => {
                self.name.clone_from(&self.file);
                self.zone.clear();
            }
            Found::Aside(property) if !property.value.trim().is_empty() => match property.name.as_str() {
                "X-WR-CALNAME" | "NAME" => self.name = unescape(property.value.trim()),
                "X-WR-TIMEZONE" => property.value.trim().clone_into(&mut self.zone),
                _ => {}
            },
            _ => {}
        }
    }
}

/// The second pass.
struct Reading<'s> {
    survey: &'s Survey,
    attachments: Attachments,
    /// Counts as the first pass did, to find the copies it chose.
    count: u64,
}

impl Reading<'_> {
    fn file(&mut self, tree: &mut dyn Tree, entry: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
        let path = tree.entries()[entry].path.clone();
        let mut calendar = Calendar::new(&path);
        let bytes = match open_buffered(tree, entry) {
            Ok(bytes) => bytes,
            Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
        };
        let mut components = Components::new(bytes, Some("VCALENDAR"));
        let mut clock = Clock::new(&self.survey.zones, entry);
        loop {
            let found = match components.next() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(()),
                Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
            };
            calendar.take(&found);
            match found {
                Found::Fault(line, fault) => {
                    sink.complain(Complaint::damaged(format!("{path} line {line}"), fault.message()))?;
                }
                Found::Component(component) if component.name != "VTIMEZONE" => {
                    self.count += 1;
                    clock.set_default(&calendar.zone);
                    let place = format!("{path} line {}", component.line);
                    self.component(&component, &mut clock, entry, &calendar, &place, sink)?;
                    if std::mem::take(&mut clock.met_unknown) {
                        let message = "The zone in TZID is not known; its times are read as UTC.";
                        sink.complain(Complaint::damaged(place, message))?;
                    }
                }
                _ => {}
            }
        }
    }

    fn component(
        &mut self,
        component: &Component,
        clock: &mut Clock<'_>,
        entry: usize,
        calendar: &Calendar,
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let Some(identity) = Identity::of(component, clock, &calendar.name) else {
            let message = "An entry that is neither event, task nor note was left out.";
            return sink.complain(Complaint::damaged(place, message));
        };
        if !self.survey.counts(component, &identity, self.count) {
            return Ok(());
        }
        let read = match component.name.as_str() {
            "VTODO" => one(read_todo(component, clock, &identity, &calendar.name, place)),
            "VJOURNAL" => one(read_journal(component, clock, &identity, &calendar.name, place)),
            _ => {
                let overrides = self.survey.overrides(component, &identity.key);
                let horizon = horizon_after(self.survey.newest(entry));
                let context = Context { calendar: &calendar.name, place, horizon, overrides: &overrides };
                match identity.recurrence {
                    None => read_event(component, clock, &identity, &context),
                    Some(original) => {
                        let stands = self.survey.stands_for_series(component, &identity);
                        read_override(component, clock, &identity, original, &context, stands)
                    }
                }
            }
        };
        for problem in read.problems {
            sink.complain(Complaint::damaged(place, format!("{problem}.")))?;
        }
        let Some(first) = read.drafts.first() else { return Ok(()) };
        let time = first.data.get("start").or(first.data.get("time")).cloned();
        read.drafts.into_iter().try_for_each(|draft| sink.record(draft))?;
        self.attachments.of(component, &identity.key, time.as_ref(), place, sink)
    }
}

fn one(draft: crate::Draft) -> Read {
    Read { drafts: vec![draft], problems: Vec::new() }
}

#[cfg(test)]
mod tests;
