//! Times as calendars write them: a date, a moment, or what a clock on a wall shows.

use std::collections::BTreeSet;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::zones::{Zones, civil};
use crate::content_lines::Property;

/// Most names of unknown zones that are told apart in one file.
const MOST_TOLD: usize = 1000;

/// One time with the zone it is to be understood in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct When {
    pub(super) civil: DateTime,
    /// A whole day, kept as midnight UTC.
    pub(super) all_day: bool,
    pub(super) zone: TimeZone,
    /// The zone as the file names it; none for a floating time.
    pub(super) zone_name: Option<String>,
}

impl When {
    /// The moment. Wall times that a change of clocks skips or doubles are read as most programs do.
    pub(super) fn timestamp(&self) -> Option<Timestamp> {
        moment(&self.zone, self.civil)
    }

    /// Where a stretch of a length ends that begins here.
    pub(super) fn plus(&self, length: Length) -> Option<Timestamp> {
        let days = Span::new().try_days(length.days).ok()?;
        let moved = self.civil.checked_add(days).ok()?;
        moment(&self.zone, moved)?.checked_add(SignedDuration::from_secs(length.seconds)).ok()
    }

    /// The same zone at another wall time.
    pub(super) fn at(&self, civil: DateTime) -> Self {
        Self { civil, ..self.clone() }
    }
}

fn moment(zone: &TimeZone, civil: DateTime) -> Option<Timestamp> {
    zone.to_ambiguous_timestamp(civil).compatible().ok()
}

/// How long something lasts: days keep their hour across a change of clocks, seconds do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) days: i64,
    pub(super) seconds: i64,
}

impl Length {
    /// `P1DT2H30M`, `-PT15M`, `P2W`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (sign, text) = match text.trim().split_at_checked(1)? {
            ("-", rest) => (-1, rest),
            ("+", rest) => (1, rest),
            _ => (1, text.trim()),
        };
        let mut length = Self::default();
        let (mut digits, mut in_time, mut units) = (String::new(), false, 0);
        for letter in text.strip_prefix(['P', 'p'])?.chars() {
            if letter.is_ascii_digit() && digits.len() < 9 {
                digits.push(letter);
                continue;
            }
            if letter.eq_ignore_ascii_case(&'T') && digits.is_empty() && !in_time {
                in_time = true;
                continue;
            }
            let count: i64 = digits.parse().ok()?;
            match (letter.to_ascii_uppercase(), in_time) {
                ('W', false) => length.days += count * 7,
                ('D', false) => length.days += count,
                ('H', true) => length.seconds += count * 3600,
                ('M', true) => length.seconds += count * 60,
                ('S', true) => length.seconds += count,
                _ => return None,
            }
            digits.clear();
            units += 1;
        }
        (digits.is_empty() && units > 0)
            .then_some(Self { days: sign * length.days, seconds: sign * length.seconds })
    }
}

/// Reads the times of one file.
#[derive(Debug)]
pub(super) struct Clock<'z> {
    zones: &'z Zones,
    entry: usize,
    /// What floating times are read in: the calendar's own zone, else UTC.
    default: TimeZone,
    unknown: BTreeSet<String>,
    /// Whether a zone nobody knows turned up since this was last asked.
    pub(super) met_unknown: bool,
}

impl<'z> Clock<'z> {
    pub(super) fn new(zones: &'z Zones, entry: usize) -> Self {
        Self { zones, entry, default: TimeZone::UTC, unknown: BTreeSet::new(), met_unknown: false }
    }

    /// Takes the zone that the calendar names for its floating times; none and an unknown one mean UTC.
    pub(super) fn set_default(&mut self, name: &str) {
        let named = Some(name.trim()).filter(|name| !name.is_empty());
        self.default = named.and_then(|name| self.zones.find(self.entry, name)).unwrap_or(TimeZone::UTC);
    }

    /// A property that holds one time.
    pub(super) fn read(&mut self, property: &Property) -> Option<When> {
        self.value(property.value.trim(), property.parameter("TZID"))
    }

    /// A property that lists times; of periods, their beginning. `None` stands for each that is none.
    pub(super) fn read_list(&mut self, property: &Property) -> Vec<Option<When>> {
        let zone = property.parameter("TZID");
        let values = property.value.split(',').map(str::trim).filter(|value| !value.is_empty());
        values.map(|value| self.value(value.split('/').next().unwrap_or(value), zone)).collect()
    }

    /// One time, in a zone if it is named.
    pub(super) fn value(&mut self, text: &str, zone: Option<&str>) -> Option<When> {
        let (text, utc) = match text.strip_suffix(['Z', 'z']) {
            Some(text) => (text, true),
            None => (text, false),
        };
        let civil = civil(text)?;
        let all_day = !text.contains(['T', 't']);
        let (zone, zone_name) = match zone.map(str::trim).filter(|name| !name.is_empty()) {
            _ if all_day => (TimeZone::UTC, None),
            _ if utc => (TimeZone::UTC, Some("UTC".to_owned())),
            Some(name) => {
                let zone = self.zones.find(self.entry, name);
                if zone.is_none() && self.unknown.len() < MOST_TOLD {
                    self.met_unknown |= self.unknown.insert(name.to_owned());
                }
                (zone.unwrap_or(TimeZone::UTC), Some(name.to_owned()))
            }
            None => (self.default.clone(), None),
        };
        let civil = if all_day { civil.date().to_datetime(Time::midnight()) } else { civil };
        Some(When { civil, all_day, zone, zone_name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_in_every_unit() {
        let read = |text| Length::parse(text).map(|length| (length.days, length.seconds));
        assert_eq!(read("P1DT2H30M5S"), Some((1, 9005)));
        assert_eq!(read("-PT15M"), Some((0, -900)));
        assert_eq!(read("P2W"), Some((14, 0)));
        for wrong in ["", "P", "PT", "15M", "P15M", "PT5", "PTxS", "P99999999999D"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn wall_times_skipped_and_doubled_by_clocks_are_still_moments() {
        let zones = Zones::new();
        let mut clock = Clock::new(&zones, 0);
        let mut told =
            |text, zone| clock.value(text, zone).and_then(|when| when.timestamp()).map(|t| t.to_string());
        assert_eq!(told("20260329T023000", Some("Europe/Berlin")).as_deref(), Some("2026-03-29T01:30:00Z"));
        assert_eq!(told("20261025T023000", Some("Europe/Berlin")).as_deref(), Some("2026-10-25T00:30:00Z"));
        assert_eq!(told("20260101", None).as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(told("20260101T090000", Some("Atlantis")).as_deref(), Some("2026-01-01T09:00:00Z"));
        assert_eq!(told("20261301", None), None);
        assert_eq!(told("yesterday", None), None);
        assert!(clock.met_unknown);
    }
}
