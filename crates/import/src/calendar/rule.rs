//! A recurrence rule, read from `FREQ=WEEKLY;BYDAY=MO,WE`.

use jiff::civil::Weekday;

/// Most values one part of a rule may list.
const MOST_VALUES: usize = 400;
/// Most times of a day a rule may name: one for each minute.
const MOST_TIMES: usize = 24 * 60;

/// The parts of a rule. Numbers are within the bounds that the calendar standard sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) frequency: Frequency,
    pub(super) interval: i64,
    pub(super) count: Option<u64>,
    /// As written: a date, a wall time or a moment.
    pub(super) until: Option<String>,
    pub(super) by_second: Vec<i8>,
    pub(super) by_minute: Vec<i8>,
    pub(super) by_hour: Vec<i8>,
    /// Days of the week; zero means every one of them, else the nth.
    pub(super) by_day: Vec<(i8, Weekday)>,
    pub(super) by_month_day: Vec<i16>,
    pub(super) by_year_day: Vec<i16>,
    pub(super) by_week_no: Vec<i16>,
    pub(super) by_month: Vec<i8>,
    pub(super) by_set_pos: Vec<i16>,
    pub(super) week_start: Weekday,
}

/// How often a rule repeats, the slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Frequency {
    Yearly,
    Monthly,
    Weekly,
    Daily,
    Hourly,
    Minutely,
}

impl Rule {
    /// Reads a rule; the error says what in it cannot be used.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut rule = Self::empty();
        let mut frequency = None;
        for part in text.trim().trim_end_matches(';').split(';') {
            let (name, value) = part.split_once('=').ok_or("a part of it has no value")?;
            let name = name.trim().to_ascii_uppercase();
            let value = value.trim();
            match name.as_str() {
                "FREQ" => frequency = Some(Frequency::parse(value)?),
                "INTERVAL" => rule.interval = number(value, 1, 100_000).ok_or("INTERVAL is out of bounds")?,
                "COUNT" => {
                    rule.count = Some(number(value, 1, u64::from(u32::MAX)).ok_or("COUNT is out of bounds")?);
                }
                "UNTIL" => rule.until = Some(value.to_owned()),
                "WKST" => rule.week_start = weekday(value).ok_or("WKST is no day")?,
                "BYDAY" => rule.by_day = days(value).ok_or("BYDAY is no list of days")?,
                "BYSECOND" => {
                    rule.by_second = numbers(value, 0, 59, false).ok_or("BYSECOND is out of bounds")?;
                }
                "BYMINUTE" => {
                    rule.by_minute = numbers(value, 0, 59, false).ok_or("BYMINUTE is out of bounds")?;
                }
                "BYHOUR" => rule.by_hour = numbers(value, 0, 23, false).ok_or("BYHOUR is out of bounds")?,
                "BYMONTH" => {
                    rule.by_month = numbers(value, 1, 12, false).ok_or("BYMONTH is out of bounds")?;
                }
                "BYMONTHDAY" => {
                    rule.by_month_day = numbers(value, 1, 31, true).ok_or("BYMONTHDAY is out of bounds")?;
                }
                "BYYEARDAY" => {
                    rule.by_year_day = numbers(value, 1, 366, true).ok_or("BYYEARDAY is out of bounds")?;
                }
                "BYWEEKNO" => {
                    rule.by_week_no = numbers(value, 1, 53, true).ok_or("BYWEEKNO is out of bounds")?;
                }
                "BYSETPOS" => {
                    rule.by_set_pos = numbers(value, 1, 366, true).ok_or("BYSETPOS is out of bounds")?;
                }
                // Programs add parts of their own, which change nothing that others could follow.
                name if name.starts_with("X-") => {}
                // Calendars that are not Gregorian, and leap months: dates would come out wrong.
                _ => return Err("it uses a part that is not supported"),
            }
        }
        rule.frequency = frequency.ok_or("FREQ is missing")?;
        let named = [&rule.by_hour, &rule.by_minute, &rule.by_second].map(|list| list.len().max(1));
        if named.iter().product::<usize>() > MOST_TIMES {
            return Err("it names too many times of a day");
        }
        Ok(rule)
    }

    fn empty() -> Self {
        Self {
            frequency: Frequency::Daily,
            interval: 1,
            count: None,
            until: None,
            by_second: Vec::new(),
            by_minute: Vec::new(),
            by_hour: Vec::new(),
            by_day: Vec::new(),
            by_month_day: Vec::new(),
            by_year_day: Vec::new(),
            by_week_no: Vec::new(),
            by_month: Vec::new(),
            by_set_pos: Vec::new(),
            week_start: Weekday::Monday,
        }
    }
}

impl Frequency {
    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(match text.to_ascii_uppercase().as_str() {
            "YEARLY" => Self::Yearly,
            "MONTHLY" => Self::Monthly,
            "WEEKLY" => Self::Weekly,
            "DAILY" => Self::Daily,
            "HOURLY" => Self::Hourly,
            "MINUTELY" => Self::Minutely,
            "SECONDLY" => return Err("FREQ=SECONDLY is not expanded"),
            _ => return Err("FREQ is no frequency"),
        })
    }
}

fn number<N: std::str::FromStr + PartialOrd>(text: &str, least: N, most: N) -> Option<N> {
    text.trim().parse().ok().filter(|number| *number >= least && *number <= most)
}

/// A list of numbers within bounds, in order; `negative` ones count from the end.
fn numbers<N>(text: &str, least: N, most: N, negative: bool) -> Option<Vec<N>>
where
    N: std::str::FromStr + Ord + Copy + std::ops::Neg<Output = N>,
{
    // The bounds are turned round, not the number: the least number of all has no opposite.
    let fits = |number: &N| {
        (*number >= least && *number <= most) || (negative && *number <= -least && *number >= -most)
    };
    let numbers = text.split(',').map(|part| part.trim().trim_start_matches('+').parse().ok().filter(fits));
    let mut numbers: Vec<N> = numbers.take(MOST_VALUES).collect::<Option<_>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

fn days(text: &str) -> Option<Vec<(i8, Weekday)>> {
    text.split(',')
        .take(MOST_VALUES)
        .map(|part| {
            let part = part.trim();
            let (nth, day) = part.split_at_checked(part.len().checked_sub(2)?)?;
            let nth = match nth.trim_start_matches('+') {
                "" => 0,
                nth => nth.parse().ok().filter(|nth: &i8| *nth != 0 && (-53..=53).contains(nth))?,
            };
            Some((nth, weekday(day)?))
        })
        .collect()
}

fn weekday(text: &str) -> Option<Weekday> {
    Some(match text.trim().to_ascii_uppercase().as_str() {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        "SU" => Weekday::Sunday,
        _ => return None,
    })
}
