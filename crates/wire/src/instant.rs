//! Instants: how a date in a record, a grant or a parameter is understood.
//!
//! A full date means midnight UTC, a date-time carries its offset, and one without an offset is
//! read as UTC. Precision is the microsecond, so that an instant fits the integer column of every
//! backend and two backends cannot order the same pair differently.

use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Timestamp, civil};
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
        let at = EPOCH.checked_add(SignedDuration::from_micros(self.0)).unwrap_or(civil::DateTime::MAX);
        format!("{at:.3}Z")
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
    let plain = text.as_bytes().first().is_some_and(u8::is_ascii_digit) && !text.contains('[');
    if text.len() > 64 || !plain {
        return None;
    }
    let pieces = Pieces::parse(text).ok()?;
    let time = match pieces.time() {
        Some(time) => time,
        None if text.len() == 10 => civil::Time::midnight(),
        None => return None,
    };
    let offset = match pieces.offset() {
        None => 0,
        Some(offset) => i64::from(offset.to_numeric_offset().seconds()),
    };
    // Not through a timestamp: those end two hours before the year 9999 does, and "until the end of
    // 9999" is how many systems write "for ever".
    let since_epoch = pieces.date().to_datetime(time).duration_since(EPOCH);
    let micros = i64::try_from(since_epoch.as_micros()).ok()?;
    Some(Instant(micros - offset * 1_000_000))
}

const EPOCH: civil::DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);

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
        check("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59.000Z"));
        check("0001-01-01", Some("0001-01-01T00:00:00.000Z"));
        check("1969-12-31T23:59:59.5Z", Some("1969-12-31T23:59:59.500Z"));
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
