//! The dates a recurrence rule means, in order, on a wall clock.
//!
//! One period after another (a year, a month, a week, a day, an hour, a minute) is laid out as days and times; each
//! part of the rule then keeps or drops days. Zones play no role here: nine o'clock stays nine o'clock.

use std::collections::VecDeque;

use jiff::Span;
use jiff::civil::{Date, DateTime, Time, Weekday};

use super::rule::{Frequency, Rule};

/// Most periods that are looked at: a daily rule reaches 270 years.
const MOST_PERIODS: u32 = 100_000;
/// Most dates that are given, whatever the periods hold.
const MOST_DATES: u32 = 200_000;

/// Most empty periods in a row, after which a rule is taken to mean no further date: a leap day on one weekday comes
/// again within forty years.
const fn most_empty(frequency: Frequency) -> u32 {
    match frequency {
        Frequency::Yearly => 500,
        Frequency::Monthly => 1200,
        Frequency::Weekly => 6000,
        Frequency::Daily | Frequency::Hourly | Frequency::Minutely => 15_000,
    }
}

/// Gives the dates of a rule from its start on, the start itself first. `COUNT` is heeded; `UNTIL` is the caller's,
/// since it may be a moment.
#[derive(Debug)]
pub(super) struct Expansion<'r> {
    rule: &'r Rule,
    start: DateTime,
    /// Any time of the next period.
    cursor: DateTime,
    times: Vec<Time>,
    ready: VecDeque<DateTime>,
    left: u64,
    periods: u32,
    given: u32,
    empty: u32,
    /// The calendar itself ends.
    ended: bool,
    /// Whether it stopped because it had looked far enough, and not because the rule ends.
    pub(super) gave_up: bool,
}

impl<'r> Expansion<'r> {
    pub(super) fn new(rule: &'r Rule, start: DateTime) -> Self {
        let cursor = match rule.frequency {
            Frequency::Yearly => start.first_of_year(),
            Frequency::Monthly => start.first_of_month(),
            Frequency::Weekly => week_of(start, rule.week_start),
            _ => start,
        };
        let times = times(rule, start);
        Self {
            rule,
            start,
            cursor,
            times,
            ready: VecDeque::from([start]),
            left: rule.count.unwrap_or(u64::MAX),
            periods: 0,
            given: 0,
            empty: 0,
            ended: false,
            gave_up: false,
        }
    }

    /// Lays out the next period; `false` when there is none.
    fn fill(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.periods += 1;
        let too_many = self.periods > MOST_PERIODS || self.given > MOST_DATES;
        if too_many || self.empty > most_empty(self.rule.frequency) {
            // Within a day, many empty hours may come before the next date.
            self.gave_up = too_many || self.rule.frequency >= Frequency::Hourly;
            return false;
        }
        let mut set = self.period();
        if !self.rule.by_set_pos.is_empty() {
            set = positions(&set, &self.rule.by_set_pos);
        }
        set.retain(|at| *at > self.start);
        self.empty = if set.is_empty() { self.empty + 1 } else { 0 };
        self.ready.extend(set);
        let step = self.rule.interval;
        let step = match self.rule.frequency {
            Frequency::Yearly => Span::new().try_years(step),
            Frequency::Monthly => Span::new().try_months(step),
            Frequency::Weekly => Span::new().try_weeks(step),
            Frequency::Daily => Span::new().try_days(step),
            Frequency::Hourly => Span::new().try_hours(step),
            Frequency::Minutely => Span::new().try_minutes(step),
        };
        match step.and_then(|step| self.cursor.checked_add(step)) {
            Ok(next) => self.cursor = next,
            Err(_) => self.ended = true,
        }
        true
    }

    /// Every date of the period at the cursor, in order.
    fn period(&self) -> Vec<DateTime> {
        let first = self.cursor.date();
        let days = match self.rule.frequency {
            Frequency::Yearly => i32::from(first.days_in_year()),
            Frequency::Monthly => i32::from(first.days_in_month()),
            Frequency::Weekly => 7,
            _ => 1,
        };
        let mut set = Vec::new();
        let mut day = first;
        for _ in 0..days {
            if self.day_fits(day) {
                set.extend(self.times_of_period().into_iter().map(|time| day.to_datetime(time)));
            }
            match day.tomorrow() {
                Ok(next) => day = next,
                Err(_) => break,
            }
        }
        set
    }

    fn times_of_period(&self) -> Vec<Time> {
        let Rule { frequency, by_hour, by_minute, .. } = self.rule;
        if *frequency < Frequency::Hourly {
            return self.times.clone();
        }
        let (hour, minute) = (self.cursor.hour(), self.cursor.minute());
        let passes = |list: &[i8], value: i8| list.is_empty() || list.contains(&value);
        if !passes(by_hour, hour) || (*frequency == Frequency::Minutely && !passes(by_minute, minute)) {
            return Vec::new();
        }
        // The hours (and minutes) of `times` are those of the start; here they are the period's.
        let minutely = *frequency == Frequency::Minutely;
        let moved = self.times.iter().filter_map(|time| {
            Time::new(hour, if minutely { minute } else { time.minute() }, time.second(), 0).ok()
        });
        moved.collect()
    }

    fn day_fits(&self, day: Date) -> bool {
        let rule = self.rule;
        let counts = |list: &[i16], from_start: i16, length: i16| {
            list.is_empty() || list.contains(&from_start) || list.contains(&(from_start - length - 1))
        };
        let month_days = i16::from(day.days_in_month());
        (rule.by_month.is_empty() || rule.by_month.contains(&day.month()))
            && counts(&rule.by_month_day, i16::from(day.day()), month_days)
            && counts(&rule.by_year_day, day.day_of_year(), day.days_in_year())
            && (rule.by_week_no.is_empty() || {
                let (week, weeks) = week_number(day, rule.week_start);
                counts(&rule.by_week_no, week, weeks)
            })
            && self.weekday_fits(day)
            && self.default_fits(day)
    }

    fn weekday_fits(&self, day: Date) -> bool {
        let rule = self.rule;
        let (from_start, length) = match rule.frequency {
            Frequency::Yearly if rule.by_month.is_empty() && rule.by_week_no.is_empty() => {
                (day.day_of_year(), day.days_in_year())
            }
            Frequency::Yearly | Frequency::Monthly => (i16::from(day.day()), i16::from(day.days_in_month())),
            // Which Monday of what? For shorter periods the number means nothing.
            _ => (0, 0),
        };
        let forwards = (from_start + 6) / 7;
        let backwards = -((length - from_start) / 7 + 1);
        rule.by_day.is_empty()
            || rule.by_day.iter().any(|(nth, weekday)| {
                let nth = i16::from(*nth);
                *weekday == day.weekday() && (nth == 0 || length == 0 || nth == forwards || nth == backwards)
            })
    }

    /// What a rule leaves open, its start says: a yearly rule without a day falls on the start's.
    fn default_fits(&self, day: Date) -> bool {
        let rule = self.rule;
        let silent = rule.by_day.is_empty()
            && rule.by_month_day.is_empty()
            && rule.by_year_day.is_empty()
            && rule.by_week_no.is_empty();
        let start = self.start.date();
        match rule.frequency {
            Frequency::Yearly if silent => {
                day.day() == start.day() && (!rule.by_month.is_empty() || day.month() == start.month())
            }
            Frequency::Yearly if !rule.by_week_no.is_empty() => {
                !rule.by_day.is_empty()
                    || !rule.by_month_day.is_empty()
                    || !rule.by_year_day.is_empty()
                    || day.weekday() == start.weekday()
            }
            Frequency::Monthly if silent => day.day() == start.day(),
            Frequency::Weekly if silent => day.weekday() == start.weekday(),
            _ => true,
        }
    }
}

impl Iterator for Expansion<'_> {
    type Item = DateTime;

    fn next(&mut self) -> Option<DateTime> {
        self.left = self.left.checked_sub(1)?;
        loop {
            if let Some(at) = self.ready.pop_front() {
                self.given = self.given.saturating_add(1);
                return Some(at);
            }
            if !self.fill() {
                self.left = 0;
                return None;
            }
        }
    }
}

/// Every time of a day that a rule names, in order; what it leaves open is the start's.
fn times(rule: &Rule, start: DateTime) -> Vec<Time> {
    let or = |list: &[i8], own: i8| if list.is_empty() { vec![own] } else { list.to_vec() };
    // The hours of an hourly rule come from its periods.
    let hours = if rule.frequency < Frequency::Hourly { or(&rule.by_hour, start.hour()) } else { vec![0] };
    let minutes =
        if rule.frequency < Frequency::Minutely { or(&rule.by_minute, start.minute()) } else { vec![0] };
    let mut times = Vec::new();
    for hour in &hours {
        for minute in &minutes {
            for second in or(&rule.by_second, start.second()) {
                times.extend(Time::new(*hour, *minute, second, 0));
            }
        }
    }
    times
}

/// The nth dates of a period, counted from either end.
fn positions(set: &[DateTime], wanted: &[i16]) -> Vec<DateTime> {
    let length = i64::try_from(set.len()).unwrap_or(i64::MAX);
    let numbered = (1_i64..).zip(set);
    let chosen = numbered.filter(|(number, _)| {
        wanted.iter().any(|nth| i64::from(*nth) == *number || i64::from(*nth) == number - length - 1)
    });
    chosen.map(|(_, at)| *at).collect()
}

/// The first day of the week that a day is in.
fn week_of(at: DateTime, week_start: Weekday) -> DateTime {
    let back = Span::new().days(at.weekday().since(week_start));
    at.checked_sub(back).unwrap_or(at)
}

/// The number of a day's week, and how many weeks its year has. A week belongs to the year most of its days are in.
fn week_number(day: Date, week_start: Weekday) -> (i16, i16) {
    // The week's fourth day decides its year.
    let fourth = i64::from(3 - day.weekday().since(week_start));
    let fourth = day.checked_add(Span::new().days(fourth)).unwrap_or(day);
    let last = fourth.last_of_year();
    // Weeks of a year are as many as it has days that are fourth of a week.
    let offset = i64::from(last.weekday().since(fourth.weekday()));
    let last_fourth = last.checked_sub(Span::new().days(offset)).unwrap_or(last);
    ((fourth.day_of_year() + 6) / 7, (last_fourth.day_of_year() + 6) / 7)
}

#[cfg(test)]
mod tests;
