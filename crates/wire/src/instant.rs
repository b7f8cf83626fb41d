//! Instants: how a date in a record, a grant or a parameter is understood.
//!
//! A full date means midnight UTC, a date-time carries its offset, and one without an offset is
//! read as UTC. Precision is the microsecond, so that an instant fits the integer column of every
//! backend and two backends cannot order the same pair differently.

use jiff::{Timestamp, civil, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Instant(i64);

impl Instant {
    /// From microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Parses a date or date-time.
    pub fn parse(text: &str) -> Option<Self> {
        parse_instant(text)
    }

    /// RFC 3339 in UTC with milliseconds, as the protocol prints instants.
    pub fn to_rfc3339(self) -> String {
        match Timestamp::from_microsecond(self.0) {
            Ok(at) => format!("{at:.3}"),
            Err(_) => "9999-12-31T23:59:59.999Z".to_owned(),
        }
    }

    /// Whole seconds since the Unix epoch.
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// This instant moved by whole seconds, saturating at the ends of time.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }
}

impl From<Timestamp> for Instant {
    fn from(at: Timestamp) -> Self {
        Self(at.as_microsecond())
    }
}

/// Parses a date or date-time as the protocol's range filters and time limits do.
pub fn parse_instant(text: &str) -> Option<Instant> {
    if text.len() > 64 || !text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.into());
    }
    let civil = if text.len() == 10 {
        text.parse::<civil::Date>().ok()?.at(0, 0, 0, 0)
    } else {
        text.parse::<civil::DateTime>().ok()?
    };
    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(parse_instant(text).map(Instant::to_rfc3339).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn dates_and_date_times_are_understood() {
        check("2026-04-06", Some("2026-04-06T00:00:00.000Z"));
        check("2026-04-06T15:01:00Z", Some("2026-04-06T15:01:00.000Z"));
        check("2026-04-06T15:01:00.123456Z", Some("2026-04-06T15:01:00.123Z"));
        check("2026-04-06T17:01:00+02:00", Some("2026-04-06T15:01:00.000Z"));
        check("2026-04-06T15:01:00", Some("2026-04-06T15:01:00.000Z"));
    }

    #[test]
    fn anything_else_is_not_an_instant() {
        for text in
            ["", "yesterday", "2026-13-01", "2026-02-30", "12", "-1", "2026-04-06T25:00:00Z", "T10:00"]
        {
            check(text, None);
        }
    }
}
