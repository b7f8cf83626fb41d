//! Dates as mail writes them, and as the first lines of mailbox entries do.
//!
//! `Mon, 2 Jan 2026 03:04:05 +0100`, `Mon Jan  2 03:04:05 2026`, `2 Jan 26 03:04 EST`, `2026-01-02 03:04:05 +0100`:
//! the parts are told by their shape, not by their order. A date without a zone counts as UTC.

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{Offset, TimeZone};

/// Longest text that is looked at.
const LONGEST: usize = 256;

/// The moment a date names; `None` when it names none, or one that no mail can have been sent at.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = without_comments(text.get(..text.floor_char_boundary(LONGEST))?);
    let mut parts = Parts::default();
    for token in text.split([' ', '\t', ',', '\r', '\n']).filter(|token| !token.is_empty()) {
        parts.take(token);
    }
    parts.moment()
}

#[derive(Default)]
struct Parts {
    day: Option<i8>,
    month: Option<i8>,
    year: Option<i16>,
    time: Option<(i8, i8, i8)>,
    offset: Option<i32>,
}

impl Parts {
    fn take(&mut self, token: &str) {
        if self.time.is_none() && token.contains(':') {
            // `03:04:05+0100` and `2026-01-02T03:04:05Z` come without blanks.
            let token = match token.split_once('T').filter(|(date, _)| date.contains('-')) {
                Some((date, time)) => {
                    self.take(date);
                    time
                }
                None => token,
            };
            let end = token.find(['+', '-', 'Z']).unwrap_or(token.len());
            self.time = clock(&token[..end]);
            if end < token.len() {
                self.zone(&token[end..]);
            }
        } else if let [b'+' | b'-', b'0'..=b'9', ..] = token.as_bytes() {
            self.zone(token);
        } else if token.contains('-') && token.len() > 5 {
            // `02-Jan-2026` and `2026-01-02`.
            let by_year = token.find('-') == Some(4);
            let numeric = token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            for (place, part) in token.split('-').enumerate() {
                match (numeric && by_year, place) {
                    (true, 1) => self.month = part.parse().ok(),
                    (true, 2) => self.day = part.parse().ok(),
                    _ => self.take(part),
                }
            }
        } else if let Ok(number) = token.parse::<i16>() {
            self.number(number, token.len());
        } else if let Some(month) = month(token).filter(|_| self.month.is_none()) {
            self.month = Some(month);
        } else if self.time.is_some() {
            self.zone(token);
        }
    }

    fn number(&mut self, number: i16, digits: usize) {
        if digits <= 2 && self.day.is_none() {
            self.day = i8::try_from(number).ok();
        } else if self.year.is_none() {
            self.year = Some(match (digits, number) {
                (..=2, 0..50) => 2000 + number,
                (..=3, _) => 1900 + number,
                _ => number,
            });
        }
    }

    fn zone(&mut self, token: &str) {
        if self.offset.is_some() {
            return;
        }
        let digits: String = token.chars().filter(char::is_ascii_digit).collect();
        self.offset = match token.as_bytes() {
            [sign @ (b'+' | b'-'), ..] if digits.len() == 4 || digits.len() == 2 => {
                let (hours, minutes) = digits.split_at(2);
                let minutes: i32 = if minutes.is_empty() { 0 } else { minutes.parse().unwrap_or(0) };
                let seconds = hours.parse::<i32>().unwrap_or(0) * 3600 + minutes * 60;
                Some(if *sign == b'-' { -seconds } else { seconds })
            }
            _ => named_zone(token).map(|hours| hours * 3600),
        };
    }

    fn moment(&self) -> Option<Timestamp> {
        let (hour, minute, second) = self.time.unwrap_or_default();
        let date = civil::Date::new(self.year?, self.month?, self.day?).ok()?;
        let at = date.to_datetime(civil::Time::new(hour, minute, second.min(59), 0).ok()?);
        let offset = Offset::from_seconds(self.offset.unwrap_or(0)).ok()?;
        let moment = TimeZone::fixed(offset).to_timestamp(at).ok()?;
        // Dates outside this are clocks that were never set.
        (1971..2200).contains(&date.year()).then_some(moment)
    }
}

fn clock(text: &str) -> Option<(i8, i8, i8)> {
    let mut numbers = text.split([':', '.']).map(str::parse::<i8>);
    let (hour, minute) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let second = numbers.next().and_then(Result::ok).unwrap_or(0);
    Some((hour, minute, second))
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = word.get(..3)?.to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| *month == start)?;
    i8::try_from(place + 1).ok()
}

/// The zones that the rules of mail name; others are unknown and count as UTC.
fn named_zone(word: &str) -> Option<i32> {
    match word.to_ascii_uppercase().as_str() {
        "UT" | "UTC" | "GMT" | "Z" => Some(0),
        "EDT" => Some(-4),
        "EST" | "CDT" => Some(-5),
        "CST" | "MDT" => Some(-6),
        "MST" | "PDT" => Some(-7),
        "PST" => Some(-8),
        "CET" => Some(1),
        "CEST" => Some(2),
        _ => None,
    }
}

fn without_comments(text: &str) -> String {
    let (mut depth, mut kept) = (0_usize, String::with_capacity(text.len()));
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let told = parse(text).map_or_else(|| "none".to_owned(), |moment| moment.to_string());
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn dates_are_read_in_the_shapes_mail_uses() {
        check("Fri, 2 Jan 2026 03:04:05 +0100", "2026-01-02T02:04:05Z");
        check(" 02 Jan 2026 03:04:05 -0730 (PST)", "2026-01-02T10:34:05Z");
        check("2 Jan 26 03:04 EST", "2026-01-02T08:04:00Z");
        check("Fri, 2 January 2026 03:04:05 GMT", "2026-01-02T03:04:05Z");
        check("Fri Jan  2 03:04:05 2026", "2026-01-02T03:04:05Z");
        check("1790000000000000001@xxx Fri Jan 02 03:04:05 +0000 2026", "2026-01-02T03:04:05Z");
        check("02-Jan-2026 03:04:05+0100", "2026-01-02T02:04:05Z");
        check("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z");
        check("2026-01-02 03:04:05 +02:00", "2026-01-02T01:04:05Z");
        check("Thu, 31 Dec 1998 23:59:60 +0000", "1998-12-31T23:59:59Z");
        check("Fri, 2 Jan 2026 03:04:05", "2026-01-02T03:04:05Z");
        check("Mon, 5 Oct 99 10:00:00 UT", "1999-10-05T10:00:00Z");
    }

    #[test]
    fn what_is_no_date_names_no_moment() {
        for text in [
            "",
            "yesterday",
            "32 Jan 2026 00:00:00",
            "2 Jan 2026 25:00:00",
            "2 Jan 1026 00:00:00 +0000",
            "2 Foo 2026 1:1:1",
            "99999999999999 Jan 2026",
            "2 Jan 2026 00:00:00 +9999",
            "é2-Jän-26",
        ] {
            check(text, "none");
        }
    }
}
