//! Instants as the model understands them: a date is midnight UTC, no offset means UTC.

use jiff::{Timestamp, civil, tz::TimeZone};

/// Microseconds since 1970, if the text is a date or date-time.
pub(crate) fn micros(text: &str) -> Option<i64> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_microsecond());
    }
    let local = match text.len() {
        10 => text.parse::<civil::Date>().ok()?.at(0, 0, 0, 0),
        _ => text.parse::<civil::DateTime>().ok()?,
    };
    Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

/// As the protocol prints instants: UTC, milliseconds.
pub(crate) fn print(micros: i64) -> String {
    format!("{:.3}", Timestamp::from_microsecond(micros).expect("within the calendar"))
}
