//! The beginning of a message: date, time, and what follows.
//!
//! iPhones write `[31.12.24, 21:05:33] Name: text`, Android `31/12/2024, 21:05 - Name: text`. Separators, the order of
//! the date, digits, and the words for morning and evening follow the phone's settings.

use jiff::civil::{DateTime, date};

use super::marks::{is_mark, is_space, skip};
use super::order::Order;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phone {
    Iphone,
    Android,
}

/// How a date is written, which tells something about its order.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a trait of writing of its own; all mixtures occur"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// The three numbers as they stand.
    pub(super) numbers: [u16; 3],
    /// The year stands first, with four digits.
    pub(super) year_first: bool,
    /// Day or month has a zero in front.
    pub(super) padded: bool,
    /// The year has four digits.
    pub(super) long_year: bool,
    pub(super) separator: char,
    /// The clock counts to twelve twice.
    pub(super) halves: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'l> {
    pub(super) phone: Phone,
    pub(super) written: Written,
    hour: i8,
    minute: i8,
    second: Option<i8>,
    /// What stands behind the time: an author with a text, or a notice.
    pub(super) rest: &'l str,
}

impl<'l> Header<'l> {
    /// Reads the beginning of a line; `None` when it does not begin a message.
    pub(super) fn parse(line: &'l str) -> Option<Self> {
        let line = skip(line);
        let mut at = Cursor(line);
        let phone = if at.take('[') { Phone::Iphone } else { Phone::Android };
        let (numbers, widths, separator, padded) = at.date()?;
        at.between()?;
        let before = at.half();
        let hour = at.number(2)?.0;
        let dot = at.one_of(&[':', '.'])?;
        let (minute, 2) = at.number(2)? else { return None };
        let second = if at.take(dot) { Some(at.number(2)?.0) } else { None };
        let (after, rest) = at.end(phone)?;
        let half = before.or(after);
        let hour = match (half, hour) {
            (Some(_), 13..) | (None, 24..) => return None,
            (Some(Half::Morning), 12) => 0,
            (Some(Half::Evening), hour) if hour < 12 => hour + 12,
            (_, hour) => hour,
        };
        if minute > 59 || second.is_some_and(|second| second > 60) {
            return None;
        }
        let written = Written {
            numbers,
            year_first: widths[0] == 4,
            padded,
            long_year: widths[2] == 4,
            separator,
            halves: half.is_some(),
        };
        let second = second.map(|second| i8::try_from(second.min(59)).unwrap_or(0));
        Some(Self {
            phone,
            written,
            hour: i8::try_from(hour).ok()?,
            minute: i8::try_from(minute).ok()?,
            second,
            rest,
        })
    }

    /// The time, when the date is understood in an order; `None` if there is no such day.
    pub(super) fn at(&self, order: Order) -> Option<DateTime> {
        let [a, b, c] = self.written.numbers;
        let (year, month, day) = match order {
            _ if self.written.year_first => (a, b, c),
            Order::Year => return None,
            Order::Day => (c, b, a),
            Order::Month => (c, a, b),
        };
        let year = if year < 100 { year + 2000 } else { year };
        // WhatsApp began in 2009; other years are those of other calendars.
        let valid = (2009..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        if !valid {
            return None;
        }
        let (year, month, day) =
            (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
        let day = date(year, month, 1).with().day(day).build().ok()?;
        Some(day.at(self.hour, self.minute, self.second.unwrap_or(0), 0))
    }

    /// Whether the clock shows seconds.
    pub(super) fn has_seconds(&self) -> bool {
        self.second.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Morning,
    Evening,
}

impl Half {
    /// The words of many languages, without dots and spaces.
    fn of(word: &str) -> Option<Self> {
        match word {
            "am" | "ص" | "πμ" | "오전" | "上午" | "午前" | "凌晨" | "早上" | "清晨" => {
                Some(Self::Morning)
            }
            "pm" | "م" | "μμ" | "오후" | "下午" | "午後" | "中午" | "晚上" | "傍晚" => {
                Some(Self::Evening)
            }
            _ => None,
        }
    }
}

struct Cursor<'l>(&'l str);

impl<'l> Cursor<'l> {
    fn take(&mut self, wanted: char) -> bool {
        self.marks();
        self.0.strip_prefix(wanted).is_some_and(|rest| {
            self.0 = rest;
            true
        })
    }

    fn one_of(&mut self, wanted: &[char]) -> Option<char> {
        wanted.iter().copied().find(|character| self.take(*character))
    }

    fn marks(&mut self) {
        self.0 = self.0.trim_start_matches(is_mark);
    }

    fn spaces(&mut self) {
        self.0 = skip(self.0);
    }

    /// A number with its width, in any digits that phones write.
    fn number(&mut self, widest: usize) -> Option<(u16, usize)> {
        self.marks();
        let (mut value, mut width) = (0_u16, 0);
        while let Some(digit) = self.0.chars().next().and_then(digit)
            && width < widest
        {
            value = value * 10 + digit;
            width += 1;
            let mut rest = self.0.chars();
            rest.next();
            self.0 = rest.as_str();
        }
        (width > 0).then_some((value, width))
    }

    fn date(&mut self) -> Option<([u16; 3], [usize; 3], char, bool)> {
        let padding = |value: u16, width: usize| width == 2 && value < 10;
        let (a, first) = self.number(4)?;
        let separator = self.one_of(&['/', '.', '-'])?;
        self.spaces();
        let (b, second) = self.number(2)?;
        if !self.take(separator) {
            return None;
        }
        self.spaces();
        let (c, third) = self.number(4)?;
        // Some languages end a date with a dot.
        self.take('.');
        let widths = [first, second, third];
        let fits = matches!(widths, [4, 1..=2, 1..=2] | [1..=2, 1..=2, 2 | 4]);
        let padded = padding(b, second) || if first == 4 { padding(c, third) } else { padding(a, first) };
        fits.then_some(([a, b, c], widths, separator, padded))
    }

    /// What stands between date and time: a comma or a space, and perhaps a short word ("à", "klo").
    fn between(&mut self) -> Option<()> {
        let before = self.0.len();
        self.marks();
        let _ = self.one_of(&[',', '،', '、']);
        self.spaces();
        let word = self.0.len() - self.0.trim_start_matches(char::is_alphabetic).len();
        let word = &self.0[..word];
        if matches!(word, "à" | "klo" | "um" | "at" | "kl" | "o" | "a" | "alle" | "às" | "las") {
            self.0 = &self.0[word.len()..];
            let _ = self.take('.');
            self.spaces();
        }
        (self.0.len() < before).then_some(())
    }

    /// The half of the day in front of the hour, as in Chinese and Korean.
    fn half(&mut self) -> Option<Half> {
        let word = self.0.len() - self.0.trim_start_matches(char::is_alphabetic).len();
        let half = Half::of(&self.0[..word])?;
        self.0 = &self.0[word..];
        self.spaces();
        Some(half)
    }

    /// The half of the day behind the time, and what follows the whole.
    fn end(&mut self, phone: Phone) -> Option<(Option<Half>, &'l str)> {
        let (end, length) = match phone {
            Phone::Iphone => (self.0.find(']')?, 1),
            Phone::Android => (self.0.find(" - ")?, 3),
        };
        let word =
            self.0[..end].chars().filter(|found| !is_space(*found) && !is_mark(*found) && *found != '.');
        let word: String = word.take(8).flat_map(char::to_lowercase).collect();
        let half = if word.is_empty() { None } else { Some(Half::of(&word)?) };
        let rest = &self.0[end + length..];
        let rest = if phone == Phone::Iphone { rest.strip_prefix(is_space)? } else { rest };
        Some((half, rest))
    }
}

/// Western, Arabic, Persian and Devanagari digits.
fn digit(character: char) -> Option<u16> {
    let zero = match character {
        '0'..='9' => '0',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        '\u{966}'..='\u{96f}' => '\u{966}',
        _ => return None,
    };
    u16::try_from(u32::from(character) - u32::from(zero)).ok()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(lines: &[&str], order: Order, expected: Expect) {
        let tell = |line: &&str| match Header::parse(line) {
            None => "none".to_owned(),
            Some(header) => {
                let at = header.at(order).map_or("no such day".to_owned(), |at| at.to_string());
                format!("{at} {:?} {}", header.phone, header.rest)
            }
        };
        expected.assert_eq(&lines.iter().map(tell).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn headers_of_many_phones_are_read() {
        check(
            &[
                "[31.12.24, 21:05:33] A: x",
                "\u{200e}[31/12/2024, 9:05:33\u{202f}PM] A: x",
                "31/12/2024, 21:05 - A: x",
                "31/12/24, 9:05 p. m. - A: x",
                "31/12/24, 12:05 am - A: x",
                "31-12-2024 21:05 - A: x",
                "31/12/2024 à 21:05 - A: x",
                "2024/12/31 21:05 - A: x",
                "[2024/12/31 下午9:05:33] A: x",
                "[2024. 12. 31. 오전 9:05:33] A: x",
                "31.12.2024 klo 21.05 - A: x",
                "[\u{200f}٣١\u{200f}/١٢\u{200f}/٢٠٢٤، ٩:٠٥:٣٣ م] A: x",
                "2024-12-31 21:05 - ",
            ],
            Order::Day,
            expect![[r"
                2024-12-31T21:05:33 Iphone A: x
                2024-12-31T21:05:33 Iphone A: x
                2024-12-31T21:05:00 Android A: x
                2024-12-31T21:05:00 Android A: x
                2024-12-31T00:05:00 Android A: x
                2024-12-31T21:05:00 Android A: x
                2024-12-31T21:05:00 Android A: x
                2024-12-31T21:05:00 Android A: x
                2024-12-31T21:05:33 Iphone A: x
                2024-12-31T09:05:33 Iphone A: x
                2024-12-31T21:05:00 Android A: x
                2024-12-31T21:05:33 Iphone A: x
                2024-12-31T21:05:00 Android "]],
        );
        check(
            &["12/31/24, 9:05 PM - A: x", "2/30/24, 9:05 PM - A: x", "12/31/1402, 21:05 - A: x"],
            Order::Month,
            expect![[r"
                2024-12-31T21:05:00 Android A: x
                no such day Android A: x
                no such day Android A: x"]],
        );
    }

    #[test]
    fn other_lines_begin_no_message() {
        let lines = [
            "",
            "[",
            "hello",
            "31/12",
            "31/12/24",
            "31/12/24, 21:05",
            "31/12/24, 25:05 - A",
            "31/12/24, 13:05 PM - A",
            "31/12/24, 9:5 - A",
            "1/2.3, 4:05 - A",
            "[31.12.24, 21:05:33]A",
            "2024 was fine - A",
            "31/12/24, 9:05 xx - A",
            "123/12/24, 9:05 - A",
        ];
        for line in lines {
            assert_eq!(Header::parse(line), None, "{line:?}");
        }
    }
}
