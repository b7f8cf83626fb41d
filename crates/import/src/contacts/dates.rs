//! Dates on contacts: days with and without a year, and moments.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::content_lines::{Property, date_text};

/// A moment in any of the ways cards write one; without a zone it is taken as UTC.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let plain = text.trim_end_matches(['Z', 'z']);
    let day = || {
        let (year, month, day) = date_text(plain)?;
        Some(Date::new(year, month, day).ok()?.at(0, 0, 0, 0))
    };
    let civil = plain.parse::<DateTime>().ok().or_else(day)?;
    TimeZone::UTC.to_timestamp(civil).ok()
}

/// A day of the year, and the whole date when the year is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) date: Option<String>,
    pub(super) month_day: String,
}

/// Reads `1980-01-02`, `19800102`, `--0102`, `--01-02`, and Apple's years that stand for none.
pub(super) fn day(property: &Property) -> Option<Day> {
    let text = property.value.trim();
    if let Some(rest) = text.strip_prefix("--") {
        let digits: String = rest.chars().filter(|letter| *letter != '-').take(5).collect();
        // A leap year, so that the last of February is a day.
        let (_, month, day) = date_text(&format!("2000{digits}"))?;
        Date::new(2000, month, day).ok()?;
        return Some(Day { date: None, month_day: format!("{month:02}-{day:02}") });
    }
    let (year, month, day) = date_text(text.split(['T', 't', ' ']).next().unwrap_or(text))?;
    let date = Date::new(year, month, day).ok()?;
    let omitted = property.parameter("X-APPLE-OMIT-YEAR").and_then(|year| year.parse::<i16>().ok());
    let known = omitted != Some(year) && year >= 1;
    Some(Day { date: known.then(|| date.to_string()), month_day: format!("{month:02}-{day:02}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_with_and_without_their_year() {
        let read = |value: &str, omitted: &str| {
            let parameters = vec![("X-APPLE-OMIT-YEAR".to_owned(), omitted.to_owned())];
            let property = Property { value: value.to_owned(), parameters, ..Property::default() };
            day(&property).map(|day| (day.date.unwrap_or_default(), day.month_day))
        };
        let told = |date: &str, day: &str| Some((date.to_owned(), day.to_owned()));
        assert_eq!(read("1980-01-02", ""), told("1980-01-02", "01-02"));
        assert_eq!(read("19800102T000000Z", ""), told("1980-01-02", "01-02"));
        assert_eq!(read("1604-02-29", "1604"), told("", "02-29"));
        assert_eq!(read("--0229", ""), told("", "02-29"));
        assert_eq!(read("--12-31", ""), told("", "12-31"));
        for wrong in ["", "circa 1800", "1980-13-01", "--1", "--ü1ü1"] {
            assert_eq!(read(wrong, ""), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_read_in_every_spelling() {
        let read = |text| moment(text).map(|at| at.to_string());
        for text in
            ["2026-01-02T03:04:05Z", "20260102T030405Z", "20260102T030405", "2026-01-02T04:04:05+01:00"]
        {
            assert_eq!(read(text).as_deref(), Some("2026-01-02T03:04:05Z"), "{text}");
        }
        assert_eq!(read("2026-01-02").as_deref(), Some("2026-01-02T00:00:00Z"));
        assert_eq!(read("20260102").as_deref(), Some("2026-01-02T00:00:00Z"));
        assert_eq!(read("soon"), None);
    }
}
