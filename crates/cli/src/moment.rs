//! Times as people type and read them: `30d`, `2026-01-31`, `2026-01-31T12:00:00Z`.

use jiff::Span;
use pdpp_wire::Instant;

use crate::exit::Usage;

/// Reads a date, a date-time, or how long ago it was (`7d`).
pub(crate) fn parse_past(text: &str, now: Instant) -> Result<Instant, Usage> {
    match Instant::parse(text) {
        Some(at) => Ok(at),
        None => Ok(now.plus_seconds(-parse_seconds(text)?)),
    }
}

/// Reads a date, a date-time, or how long from now (`30d`).
pub(crate) fn parse_future(text: &str, now: Instant) -> Result<Instant, Usage> {
    match Instant::parse(text) {
        Some(at) => Ok(at),
        None => Ok(now.plus_seconds(parse_seconds(text)?)),
    }
}

fn parse_seconds(text: &str) -> Result<i64, Usage> {
    let wrong = || Usage(format!("'{text}' is no time; write 30d, 12h, 2026-01-31 or 2026-01-31T12:00:00Z"));
    let span: Span = text.parse().map_err(|_| wrong())?;
    let days = i64::from(span.get_years()) * 365
        + i64::from(span.get_months()) * 30
        + i64::from(span.get_weeks()) * 7
        + i64::from(span.get_days());
    let seconds = i64::from(span.get_hours()) * 3600 + span.get_minutes() * 60 + span.get_seconds();
    match days * 86_400 + seconds {
        total if total > 0 => Ok(total),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_dates_are_both_understood() {
        let now = Instant::parse("2026-03-01").unwrap();
        assert_eq!(parse_future("30d", now).unwrap().to_rfc3339(), "2026-03-31T00:00:00.000Z");
        assert_eq!(parse_future("1h", now).unwrap().to_rfc3339(), "2026-03-01T01:00:00.000Z");
        assert_eq!(parse_past("1d", now).unwrap().to_rfc3339(), "2026-02-28T00:00:00.000Z");
        assert_eq!(parse_past("2026-01-31", now).unwrap().to_rfc3339(), "2026-01-31T00:00:00.000Z");
        for bad in ["soon", "-3d", "0d", ""] {
            assert!(parse_future(bad, now).is_err(), "{bad}");
        }
    }
}
