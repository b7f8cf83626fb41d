//! Time zones by the names calendars give them.
//!
//! The tz database that comes with the program is used, never the machine's: the same file must give the same times
//! everywhere. What it does not know is looked for among Windows' names, and last in the rules the file brings along.

use std::collections::HashMap;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use super::rule::{Frequency, Rule};
use super::windows_zones::iana_of_windows;
use crate::content_lines::{Component, date_text};

/// Most zones with rules of their own that are kept.
const MOST_OWN: usize = 10_000;

/// Finds zones.
#[derive(Debug)]
pub(super) struct Zones {
    database: TimeZoneDatabase,
    /// Zones that only a file itself explains, by the entry and the name.
    own: HashMap<(usize, String), TimeZone>,
}

impl Zones {
    pub(super) fn new() -> Self {
        Self { database: TimeZoneDatabase::bundled(), own: HashMap::new() }
    }

    /// The zone a file means by a name.
    pub(super) fn find(&self, entry: usize, name: &str) -> Option<TimeZone> {
        self.by_name(name)
            .or_else(|| self.own.get(&(entry, name.to_owned())).cloned())
            .or_else(|| fixed_by_name(name).map(TimeZone::fixed))
    }

    fn by_name(&self, name: &str) -> Option<TimeZone> {
        let get = |name: &str| self.database.get(name).ok();
        if let Some(zone) = get(name).or_else(|| iana_of_windows(name).and_then(get)) {
            return Some(zone);
        }
        // Some programs put their own address before the name: `/example.org/20050126_1/Europe/Berlin`.
        let parts: Vec<&str> = name.split('/').collect();
        (1..parts.len().min(12)).find_map(|skipped| get(&parts[skipped..].join("/")))
    }

    /// Learns a zone from a `VTIMEZONE`, if its name alone does not say what it is.
    pub(super) fn learn(&mut self, entry: usize, component: &Component) {
        let Some(name) = component.find("TZID").map(|property| property.value.trim().to_owned()) else {
            return;
        };
        if self.by_name(&name).is_some() || self.own.len() >= MOST_OWN {
            return;
        }
        let located =
            component.find("X-LIC-LOCATION").and_then(|property| self.by_name(property.value.trim()));
        if let Some(zone) = located.or_else(|| zone_of_rules(component)) {
            self.own.insert((entry, name), zone);
        }
    }
}

/// `UTC+01:00`, `GMT-0500`, `(UTC+05:30) Chennai`.
fn fixed_by_name(name: &str) -> Option<Offset> {
    let name = name.trim_start_matches('(');
    let rest = name.strip_prefix("UTC").or_else(|| name.strip_prefix("GMT"))?;
    let rest = rest.split(')').next()?.trim().replace(':', "");
    if rest.is_empty() {
        return Some(Offset::UTC);
    }
    utc_offset(&rest)
}

/// `+0130` and `-050000` as an offset.
fn utc_offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    if !matches!(digits.len(), 2 | 4 | 6) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize| digits.get(from..from + 2).map_or(Some(0_i32), |two| two.parse().ok());
    let seconds = part(0)? * 3600 + part(2)? * 60 + part(4)?;
    Offset::from_seconds(sign * seconds).ok()
}

/// The zone that the newest rules of a `VTIMEZONE` describe. Years before those rules began are read by them too.
fn zone_of_rules(component: &Component) -> Option<TimeZone> {
    let standard = newest(component, "STANDARD");
    let daylight = newest(component, "DAYLIGHT");
    let offset = |part: &Component| utc_offset(part.find("TZOFFSETTO")?.value.trim());
    let Some(standard) = standard else { return daylight.and_then(offset).map(TimeZone::fixed) };
    let base = offset(standard)?;
    let posix = || {
        let daylight = daylight?;
        let summer = offset(daylight)?;
        let (begins, ends) = (change(daylight)?, change(standard)?);
        let text = format!("<std>{}<dst>{},{begins},{ends}", posix_offset(base), posix_offset(summer));
        TimeZone::posix(&text).ok()
    };
    posix().or_else(|| Some(TimeZone::fixed(base)))
}

fn newest<'a>(component: &'a Component, name: &str) -> Option<&'a Component> {
    let parts = component.children.iter().filter(|child| child.name == name);
    parts.max_by_key(|child| child.find("DTSTART").map(|property| property.value.clone()))
}

/// Posix counts westwards.
fn posix_offset(offset: Offset) -> String {
    let seconds = -offset.seconds();
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.abs();
    format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The day of every year at which a part of a zone begins, as Posix writes it; `None` when it is no such day, or not
/// of every year to come.
fn change(part: &Component) -> Option<String> {
    let rule = Rule::parse(&part.find("RRULE")?.value).ok()?;
    let ([month], [(nth, weekday)]) = (rule.by_month.as_slice(), rule.by_day.as_slice()) else { return None };
    if rule.frequency != Frequency::Yearly || rule.until.is_some() || rule.count.is_some() {
        return None;
    }
    let week = match nth {
        -1 => 5,
        1..=4 => *nth,
        _ => return None,
    };
    let start = civil(part.find("DTSTART")?.value.trim())?;
    let weekday = weekday.to_sunday_zero_offset();
    Some(format!("M{month}.{week}.{weekday}/{}:{:02}:{:02}", start.hour(), start.minute(), start.second()))
}

/// `20260102T030405` as a wall clock shows it.
pub(super) fn civil(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once(['T', 't']).unwrap_or((text, "000000"));
    let (year, month, day) = date_text(date)?;
    let time = time.replace(':', "");
    if !matches!(time.len(), 4 | 6) || !time.bytes().all(|byte| byte.is_ascii_digit()) || year < 1 {
        return None;
    }
    let part = |from: usize| time.get(from..from + 2).map_or(Some(0_i8), |two| two.parse().ok());
    // A leap second is the last second of its minute.
    DateTime::new(year, month, day, part(0)?, part(2)?, part(4)?.min(59), 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_lines::{Components, Found};

    fn learnt(text: &str, name: &str) -> Option<TimeZone> {
        let mut zones = Zones::new();
        let mut components = Components::new(text.as_bytes(), None);
        while let Some(found) = components.next().unwrap() {
            if let Found::Component(component) = found {
                zones.learn(0, &component);
            }
        }
        zones.find(0, name)
    }

    #[track_caller]
    fn check(zone: Option<TimeZone>, wall: &str, expected: &str) {
        let zone = zone.expect("a zone");
        let told = zone.to_ambiguous_timestamp(civil(wall).unwrap()).compatible().unwrap();
        assert_eq!(told.to_string(), expected);
    }

    #[test]
    fn names_of_several_origins_lead_to_one_zone() {
        for name in ["Europe/Berlin", "W. Europe Standard Time", "/example.org/20050126_1/Europe/Berlin"] {
            check(learnt("", name), "20260701T120000", "2026-07-01T10:00:00Z");
        }
        check(learnt("", "(UTC+05:30) Chennai, Kolkata"), "20260701T120000", "2026-07-01T06:30:00Z");
        check(learnt("", "GMT-0500"), "20260701T120000", "2026-07-01T17:00:00Z");
        assert!(learnt("", "Atlantis").is_none());
    }

    #[test]
    fn a_zone_nobody_knows_is_read_from_the_rules_in_the_file() {
        let text = "BEGIN:VTIMEZONE\nTZID:Customized\nBEGIN:STANDARD\nDTSTART:16011104T020000\n\
            RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\nEND:STANDARD\n\
            BEGIN:DAYLIGHT\nDTSTART:16010311T020000\nRRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3\nTZOFFSETFROM:-0500\n\
            TZOFFSETTO:-0400\nEND:DAYLIGHT\nEND:VTIMEZONE\n";
        check(learnt(text, "Customized"), "20260701T120000", "2026-07-01T16:00:00Z");
        check(learnt(text, "Customized"), "20260101T120000", "2026-01-01T17:00:00Z");
        let fixed = "BEGIN:VTIMEZONE\nTZID:Home\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETTO:+0130\n\
            END:STANDARD\nEND:VTIMEZONE\n";
        check(learnt(fixed, "Home"), "20260101T120000", "2026-01-01T10:30:00Z");
    }
}
