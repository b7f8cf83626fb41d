//! Times and durations in words, in UTC.

use pdpp_wire::{Instant, TimeConstraint};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A time as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// For programs.
    pub(crate) exact: String,
    /// For people.
    pub(crate) words: String,
}

impl Moment {
    pub(crate) fn of(at: Instant) -> Self {
        let exact = at.to_rfc3339();
        Self { words: format!("{}, {} UTC", day(&exact), clock(&exact)), exact }
    }
}

/// A day in words, from the text of a time; the text itself when it is none.
pub(crate) fn day_of(text: &str) -> String {
    match Instant::parse(text).map(Instant::to_rfc3339) {
        Some(exact) if clock(&exact) == "00:00" => day(&exact),
        Some(exact) => format!("{}, {} UTC", day(&exact), clock(&exact)),
        None => crate::stranger::name(text),
    }
}

/// The day of a time as a date input takes it.
pub(crate) fn date_input(text: &str) -> String {
    Instant::parse(text).map(Instant::to_rfc3339).map_or(String::new(), |exact| exact[..10].to_owned())
}

/// A window of time in words.
pub(crate) fn window(since: Option<&str>, until: Option<&str>) -> String {
    match (since, until) {
        (None, None) => "of any time".to_owned(),
        (Some(since), None) => format!("from {} on", day_of(since)),
        (None, Some(until)) => format!("before {}", day_of(until)),
        (Some(since), Some(until)) => format!("from {} until before {}", day_of(since), day_of(until)),
    }
}

pub(crate) fn window_of(constraint: Option<&TimeConstraint>) -> String {
    window(constraint.and_then(|one| one.since.as_deref()), constraint.and_then(|one| one.until.as_deref()))
}

/// `YYYY-MM-DD…` in words.
fn day(exact: &str) -> String {
    let number = |range: std::ops::Range<usize>| exact.get(range).and_then(|text| text.parse::<usize>().ok());
    match (exact.get(..4), number(5..7), number(8..10)) {
        (Some(year), Some(month @ 1..=12), Some(day)) => format!("{day} {} {year}", MONTHS[month - 1]),
        _ => exact.to_owned(),
    }
}

fn clock(exact: &str) -> &str {
    exact.get(11..16).unwrap_or("")
}

/// An ISO 8601 duration in words; the text itself when it is none.
pub(crate) fn duration(text: &str) -> String {
    parse_duration(text).unwrap_or_else(|| crate::stranger::name(text))
}

fn parse_duration(text: &str) -> Option<String> {
    let rest = text.strip_prefix('P')?;
    let (mut parts, mut digits, mut in_time) = (Vec::new(), String::new(), false);
    for c in rest.chars() {
        match c {
            'T' if digits.is_empty() && !in_time => in_time = true,
            '0'..='9' => digits.push(c),
            _ => {
                let unit = match (in_time, c) {
                    (false, 'Y') => "year",
                    (false, 'M') => "month",
                    (false, 'W') => "week",
                    (false, 'D') => "day",
                    (true, 'H') => "hour",
                    (true, 'M') => "minute",
                    (true, 'S') => "second",
                    _ => return None,
                };
                let count: u32 = digits.parse().ok()?;
                parts.push(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }));
                digits.clear();
            }
        }
    }
    (digits.is_empty() && !parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_words() {
        let at = Instant::parse("2026-03-01T12:05:00Z").unwrap();
        assert_eq!(Moment::of(at).words, "1 March 2026, 12:05 UTC");
        assert_eq!(window(Some("2026-01-01"), None), "from 1 January 2026 on");
        assert_eq!(window(None, Some("2026-02-01T10:00:00Z")), "before 1 February 2026, 10:00 UTC");
        assert_eq!(
            window(Some("2026-01-01"), Some("2026-02-01")),
            "from 1 January 2026 until before 1 February 2026"
        );
        assert_eq!(window(None, None), "of any time");
        assert_eq!(date_input("2026-02-01T10:00:00Z"), "2026-02-01");
        assert_eq!(day_of("<b>"), "<b>");
    }

    #[test]
    fn durations_are_said_in_words() {
        assert_eq!(duration("P30D"), "30 days");
        assert_eq!(duration("P1Y6M"), "1 year, 6 months");
        assert_eq!(duration("PT1H"), "1 hour");
        for odd in ["P", "30D", "P1X", "PT", "P1"] {
            assert_eq!(duration(odd), odd);
        }
    }
}
