//! Times as records hold them: RFC 3339 in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A time as text, with as many digits of a second as it has. `None` outside the years that four digits can write.
pub(crate) fn rfc3339(at: Timestamp) -> Option<String> {
    let text = at.to_string();
    text.as_bytes().first().is_some_and(u8::is_ascii_digit).then_some(text)
}

/// A date-time with its offset, such as `2026-01-02T03:04:05+01:00`, in UTC.
pub(crate) fn utc_of(text: &str) -> Option<String> {
    rfc3339(text.trim().parse().ok()?)
}

/// A date-time that says no zone, taken as UTC.
pub(crate) fn utc_of_civil(at: DateTime) -> Option<String> {
    rfc3339(at.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_utc() {
        for (given, told) in [
            ("2026-01-02T03:04:05Z", Some("2026-01-02T03:04:05Z")),
            ("2026-01-02T03:04:05.120+01:00", Some("2026-01-02T02:04:05.12Z")),
            ("2026-01-02T03:04:05.000Z", Some("2026-01-02T03:04:05Z")),
            ("-002026-01-02T03:04:05Z", None),
            ("yesterday", None),
        ] {
            assert_eq!(utc_of(given).as_deref(), told, "{given}");
        }
    }
}
