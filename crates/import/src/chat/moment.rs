//! Times as records hold them: RFC 3339 in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The last second that every reader of dates takes.
const LAST: i64 = 253_402_207_199;

/// From seconds since 1970. Zero and less is how services write "never".
pub(crate) fn from_unix(seconds: i64) -> Option<String> {
    (1..=LAST)
        .contains(&seconds)
        .then(|| Timestamp::from_second(seconds).ok())
        .flatten()
        .map(|at| at.to_string())
}

/// From `1525212345.000200`, seconds and a fraction: the time, and its microseconds since 1970.
pub(crate) fn from_fraction(text: &str) -> Option<(String, i64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || fraction.len() > 6 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let seconds: i64 = whole.parse().ok().filter(|seconds| (1..=LAST).contains(seconds))?;
    let micros = seconds * 1_000_000 + format!("{fraction:0<6}").parse::<i64>().ok()?;
    Some((Timestamp::from_microsecond(micros).ok()?.to_string(), micros))
}

/// A clock on a wall somewhere, written as if it stood in UTC.
pub(crate) fn local(at: DateTime) -> Option<String> {
    at.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(from_unix(1_577_872_800).as_deref(), Some("2020-01-01T10:00:00Z"));
        assert_eq!(from_unix(0), None);
        assert_eq!(from_unix(i64::MAX), None);
        let told = |text| from_fraction(text).map(|(time, _)| time);
        assert_eq!(told("1577872800.000200").as_deref(), Some("2020-01-01T10:00:00.0002Z"));
        assert_eq!(told("1577872800").as_deref(), Some("2020-01-01T10:00:00Z"));
        for odd in ["", ".1", "x.1", "1577872800.1234567", "-1.0", "99999999999999.0", "1.0.0"] {
            assert_eq!(told(odd), None, "{odd}");
        }
        let wall: DateTime = "2024-05-06T07:08:09".parse().unwrap();
        assert_eq!(local(wall).as_deref(), Some("2024-05-06T07:08:09Z"));
    }
}
