//! What one value can be read as, and what it is when it is read so.
//!
//! A value has several readings: `2024` is a whole number, a number and a text. A column has those that all of its
//! values have, so the order of the rows does not matter and one pass is enough.

use jiff::Timestamp;
use jiff::civil::Time;
use serde_json::{Number, Value};

use super::times::{date, date_time, slashed};
use crate::stamp;

/// A set of readings, one bit each.
pub(super) type Readings = u16;

pub(super) const BOOLEAN: Readings = 1;
pub(super) const INTEGER: Readings = 1 << 1;
pub(super) const NUMBER: Readings = 1 << 2;
/// Numbers with a comma before their fraction.
pub(super) const COMMA_NUMBER: Readings = 1 << 3;
pub(super) const DATE: Readings = 1 << 4;
pub(super) const DATE_TIME: Readings = 1 << 5;
/// `31/12/2024`, with or without a time.
pub(super) const DAY_FIRST: Readings = 1 << 6;
/// `12/31/2024`, with or without a time.
pub(super) const MONTH_FIRST: Readings = 1 << 7;
pub(super) const SECONDS: Readings = 1 << 8;
pub(super) const MILLISECONDS: Readings = 1 << 9;
pub(super) const TEXT: Readings = 1 << 10;
pub(super) const OBJECT: Readings = 1 << 11;
pub(super) const ARRAY: Readings = 1 << 12;
pub(super) const ANYTHING: Readings = 1 << 13;
pub(super) const ALL: Readings = (1 << 14) - 1;

/// What was seen of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) readings: Readings,
    /// A time of day stands with the date.
    pub(super) timed: bool,
    /// A time of day without a zone.
    pub(super) zoneless: bool,
}

/// One value of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    /// Of a file where everything is text.
    Plain(&'a str),
    /// Of a file that tells texts from numbers.
    Json(&'a Value),
}

impl Cell<'_> {
    /// Nothing at all.
    pub(super) fn is_absent(&self) -> bool {
        match self {
            Self::Plain(text) => text.trim().is_empty(),
            Self::Json(value) => value.is_null(),
        }
    }

    /// A word for nothing, which a column of texts keeps.
    pub(super) fn is_hollow(&self) -> bool {
        let Self::Plain(text) = self else { return false };
        let text = text.trim();
        ["null", "n/a", "nan", "none", "-", "--", "#n/a"].iter().any(|word| text.eq_ignore_ascii_case(word))
    }

    /// The value as the text a key is made of.
    pub(super) fn key_text(&self) -> Option<String> {
        match self {
            Self::Plain(text) => Some(text.trim().to_owned()),
            Self::Json(Value::String(text)) => Some(text.clone()),
            Self::Json(Value::Number(number)) => Some(number.to_string()),
            Self::Json(_) => None,
        }
    }

    pub(super) fn seen(&self) -> Seen {
        let plain = |readings| Seen { readings: readings | ANYTHING, timed: false, zoneless: false };
        match self {
            Self::Plain(text) => {
                let text = text.trim();
                let mut seen = times(text);
                seen.readings |= TEXT | ANYTHING | numbers(text) | boolean(text).map_or(0, |_| BOOLEAN);
                seen
            }
            Self::Json(Value::String(text)) => {
                let mut seen = times(text.trim());
                seen.readings |= TEXT | ANYTHING;
                seen
            }
            Self::Json(Value::Bool(_)) => plain(BOOLEAN | TEXT),
            Self::Json(Value::Number(number)) => match number.as_i64() {
                Some(whole) => plain(INTEGER | NUMBER | TEXT | epochs(whole)),
                None if number.is_u64() => plain(INTEGER | NUMBER | TEXT),
                None => plain(NUMBER | TEXT),
            },
            Self::Json(Value::Object(_)) => plain(OBJECT),
            Self::Json(Value::Array(_)) => plain(ARRAY),
            Self::Json(Value::Null) => plain(ALL),
        }
    }

    /// The value when it is read so; `None` when it cannot be.
    pub(super) fn read_as(&self, reading: Readings, timed: bool) -> Option<Value> {
        if let Self::Json(value) = self
            && matches!(reading, BOOLEAN | INTEGER | NUMBER | OBJECT | ARRAY | ANYTHING)
        {
            return Some((*value).clone());
        }
        match reading {
            TEXT | ANYTHING => Some(Value::String(self.text())),
            SECONDS => at_epoch(self.text().trim().parse().ok()?, 1000),
            MILLISECONDS => at_epoch(self.text().trim().parse().ok()?, 1),
            reading => read_text(self.text().trim(), reading, timed),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Json(Value::String(text)) => text.clone(),
            Self::Json(value) => value.to_string(),
        }
    }
}

fn read_text(text: &str, reading: Readings, timed: bool) -> Option<Value> {
    match reading {
        BOOLEAN => boolean(text).map(Value::Bool),
        INTEGER => text.parse::<i64>().ok().map(Value::from),
        NUMBER => decimal(text),
        COMMA_NUMBER => decimal(&text.replace('.', "").replace(',', ".")),
        DATE => date(text).map(|date| Value::String(date.to_string())),
        DATE_TIME => date_time(text).map(|(at, _)| Value::String(at)),
        DAY_FIRST | MONTH_FIRST => {
            let (date, time) = slashed(text, reading == MONTH_FIRST)?;
            match (timed, time) {
                (false, None) => Some(Value::String(date.to_string())),
                (_, time) => {
                    stamp::utc_of_civil(date.to_datetime(time.unwrap_or(Time::midnight()))).map(Value::String)
                }
            }
        }
        _ => None,
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

/// Numbers are what is written as one and comes back the same: no codes with leading zeros, no telephone numbers with
/// a plus, nothing longer than a double holds.
fn numbers(text: &str) -> Readings {
    if text.len() > 24 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let whole = |part: &str| plain(part) && (part.len() == 1 || !part.starts_with('0'));
    let short = text.bytes().filter(u8::is_ascii_digit).count() <= 15;
    // Minus nought would come back as nought.
    if whole(digits) && short && text != "-0" {
        let epochs = text.parse().map_or(0, epochs);
        return INTEGER | NUMBER | COMMA_NUMBER | epochs;
    }
    let fraction = |mark: char| digits.split_once(mark).is_some_and(|(w, f)| whole(w) && plain(f));
    let grouped = |text: &str| {
        let mut groups = text.split('.');
        groups.next().is_some_and(|first| whole(first) && first.len() <= 3)
            && groups.all(|group| group.len() == 3 && plain(group))
    };
    let comma = match digits.split_once(',') {
        Some((before, after)) => plain(after) && (whole(before) || grouped(before)),
        None => digits.contains('.') && grouped(digits),
    };
    match (short && fraction('.'), short && comma) {
        (true, true) => NUMBER | COMMA_NUMBER,
        (true, false) => NUMBER,
        (false, true) => COMMA_NUMBER,
        (false, false) => 0,
    }
}

fn decimal(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    Number::from_f64(text.parse().ok()?).map(Value::Number)
}

/// Moments between 1976 and 2100.
fn epochs(whole: i64) -> Readings {
    match whole {
        200_000_000..=4_100_000_000 => SECONDS,
        200_000_000_000..=4_100_000_000_000 => MILLISECONDS,
        _ => 0,
    }
}

fn at_epoch(count: i64, milliseconds: i64) -> Option<Value> {
    let at = Timestamp::from_millisecond(count.checked_mul(milliseconds)?).ok()?;
    stamp::rfc3339(at).map(Value::String)
}

fn times(text: &str) -> Seen {
    let mut seen = Seen { readings: 0, timed: false, zoneless: false };
    // Everything below begins with a digit and is short; prose is passed quickly.
    if text.len() > 40 || !text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return seen;
    }
    if date(text).is_some() {
        seen.readings |= DATE;
    }
    if let Some((_, zoned)) = date_time(text) {
        seen.readings |= DATE_TIME;
        seen.timed = seen.readings & DATE == 0;
        seen.zoneless = seen.timed && !zoned;
    }
    for (reading, month_first) in [(DAY_FIRST, false), (MONTH_FIRST, true)] {
        if let Some((_, time)) = slashed(text, month_first) {
            seen.readings |= reading;
            (seen.timed, seen.zoneless) = (time.is_some(), time.is_some());
        }
    }
    seen
}

#[cfg(test)]
mod tests;
