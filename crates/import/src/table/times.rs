//! Dates and times as tables write them.
//!
//! Years come first or last; with dots the day is first; with slashes it may be the day or the month, and only a whole
//! column can tell. A time without a zone is taken as UTC.

use jiff::civil::{Date, Time};

use crate::stamp;

/// `2024-12-31` or `31.12.2024`.
pub(super) fn date(text: &str) -> Option<Date> {
    let (date, rest) = leading_date(text)?;
    rest.is_empty().then_some(date)
}

/// A date, and what stands behind it.
fn leading_date(text: &str) -> Option<(Date, &str)> {
    if text.as_bytes().get(4) == Some(&b'-') {
        let (head, rest) = (text.get(..10)?, text.get(10..)?);
        let mut parts = head.split('-').map(fixed_number);
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        return Some((new_date(year, month, day)?, rest));
    }
    let (day, rest) = text.split_once('.')?;
    let (month, rest) = rest.split_once('.')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (year, rest) = rest.split_at(end);
    if day.len() > 2 || month.len() > 2 {
        return None;
    }
    Some((new_date(full_year(year)?, fixed_number(month)?, fixed_number(day)?)?, rest))
}

/// Two digits mean this century, from 70 on the last.
fn full_year(year: &str) -> Option<i32> {
    let number = fixed_number(year)?;
    match year.len() {
        4 => Some(number),
        2 if number < 70 => Some(2000 + number),
        2 => Some(1900 + number),
        _ => None,
    }
}

fn fixed_number(text: &str) -> Option<i32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

fn new_date(year: i32, month: i32, day: i32) -> Option<Date> {
    let (year, month, day) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    (1000..=9999).contains(&year).then(|| Date::new(year, month, day).ok())?
}

/// A date with or without a time, in UTC, and whether it said its zone.
pub(super) fn date_time(text: &str) -> Option<(String, bool)> {
    let (date, rest) = leading_date(text)?;
    if rest.is_empty() {
        return Some((stamp::utc_of_civil(date.at(0, 0, 0, 0))?, false));
    }
    let rest = rest.strip_prefix(['T', 't', ' ', ','])?.trim_start();
    if let Some(time) = clock(rest) {
        return Some((stamp::utc_of_civil(date.to_datetime(time))?, false));
    }
    // Zones by name mean the clock of Greenwich, or are not understood.
    let rest = rest
        .strip_suffix("UTC")
        .or_else(|| rest.strip_suffix("GMT"))
        .map_or_else(|| rest.to_owned(), |time| format!("{}Z", time.trim_end()));
    Some((stamp::utc_of(&format!("{date}T{}", rest.replace(' ', "")))?, true))
}

/// `9:05`, `09:05:30.5`, `9:05 PM`.
fn clock(text: &str) -> Option<Time> {
    let lower = text.to_ascii_lowercase();
    let (digits, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(digits), _) => (digits.trim_end(), Some(0)),
        (_, Some(digits)) => (digits.trim_end(), Some(12)),
        _ => (lower.as_str(), None),
    };
    let mut parts = digits.splitn(3, ':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let (second, fraction) = parts.next().map_or(("0", ""), |s| s.split_once(['.', ',']).unwrap_or((s, "")));
    if [hour, minute, second].iter().any(|part| part.len() > 2) || fraction.len() > 9 {
        return None;
    }
    let hour = match (fixed_number(hour)?, half) {
        (hour, None) => hour,
        (hour @ 1..=12, Some(half)) => hour % 12 + half,
        _ => return None,
    };
    let nanosecond = if fraction.is_empty() { 0 } else { fixed_number(&format!("{fraction:0<9}"))? };
    let small = |number: i32| i8::try_from(number).ok();
    Time::new(small(hour)?, small(fixed_number(minute)?)?, small(fixed_number(second)?)?, nanosecond).ok()
}

/// `31/12/2024` or `12/31/2024`, and the time behind it.
pub(super) fn slashed(text: &str, month_first: bool) -> Option<(Date, Option<Time>)> {
    let (date, time) =
        text.split_once([' ', ',']).map_or((text, None), |(date, time)| (date, Some(time.trim())));
    let mut parts = date.split('/');
    let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || first.len() > 2 || second.len() > 2 {
        return None;
    }
    let (first, second) = (fixed_number(first)?, fixed_number(second)?);
    let (day, month) = if month_first { (second, first) } else { (first, second) };
    let date = new_date(full_year(year)?, month, day)?;
    match time {
        None => Some((date, None)),
        Some(time) => Some((date, Some(clock(time)?))),
    }
}
