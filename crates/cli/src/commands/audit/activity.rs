//! A calendar of activity: a column per week, a row per weekday, darker where more was read.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday, date};
use pdpp_store::DayCount;
use pdpp_wire::Instant;

use crate::screen::{self, counted, number};
use crate::terminal;

/// From nothing to much.
const SHADES: [&str; 5] = ["·", "░", "▒", "▓", "█"];
const NAMES: [&str; 7] = ["Mon", "", "Wed", "", "Fri", "", ""];
/// Most weeks, half a year.
const MOST_WEEKS: usize = 26;
/// Room for the names of days.
const MARGIN: usize = 4;

/// Prints the calendar up to today, as wide as the terminal allows, with a line that sums it up.
pub(super) fn print(days: &[DayCount], now: Instant) -> std::io::Result<()> {
    if days.is_empty() {
        return Ok(());
    }
    let weeks = (screen::width().saturating_sub(MARGIN) / 2).clamp(1, MOST_WEEKS);
    for line in drawn(days, day_of(now.unix_seconds().div_euclid(86_400)), weeks) {
        terminal::line(&line)?;
    }
    terminal::line(&screen::wrapped(&summed(days), ""))?;
    terminal::line("")
}

fn drawn(days: &[DayCount], today: Date, weeks: usize) -> Vec<String> {
    let monday = today.saturating_sub(i64::from(today.weekday().since(Weekday::Monday)).days());
    let back = i64::try_from(weeks).unwrap_or(1) - 1;
    let first = monday.saturating_sub((7 * back).days());
    let count = |day: Date| {
        let found = days.iter().find(|counted| day_of(counted.day) == day);
        found.map_or(0, |counted| counted.served + counted.refused)
    };
    let most = days.iter().map(|day| day.served + day.refused).max().unwrap_or(1);
    let mut lines = vec![months(first, weeks)];
    for (row, name) in (0_i64..).zip(NAMES) {
        let mut line = format!("{name:<MARGIN$}");
        for column in 0..=back {
            let day = first.saturating_add((7 * column + row).days());
            line.push_str(if day > today { " " } else { SHADES[shade(count(day), most)] });
            line.push(' ');
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// The names of months above the weeks they begin in, where there is room.
fn months(first: Date, weeks: usize) -> String {
    let mut line = " ".repeat(MARGIN);
    for column in 0..weeks {
        let place = MARGIN + 2 * column;
        let monday = first.saturating_add((7 * i64::try_from(column).unwrap_or_default()).days());
        if monday.day() <= 7 && line.chars().count() <= place {
            line.push_str(&" ".repeat(place - line.chars().count()));
            line.push_str(&monday.strftime("%b").to_string());
            line.push(' ');
        }
    }
    line.trim_end().to_owned()
}

/// One to four for one to all, by quarters of the most.
fn shade(count: u64, most: u64) -> usize {
    usize::try_from((count * 4).div_ceil(most.max(1))).unwrap_or_default().min(SHADES.len() - 1)
}

fn summed(days: &[DayCount]) -> String {
    let (served, refused) =
        days.iter().fold((0, 0), |(served, refused), day| (served + day.served, refused + day.refused));
    let busiest = days.iter().max_by_key(|day| (day.served + day.refused, day.day));
    let busiest = busiest.map_or_else(String::new, |day| {
        format!("; most on {} ({})", day_of(day.day), number(day.served + day.refused))
    });
    let on = counted(u64::try_from(days.len()).unwrap_or_default(), "day");
    format!("{} served and {} refused on {on}{busiest}", number(served), number(refused))
}

fn day_of(day: i64) -> Date {
    date(1970, 1, 1).saturating_add(day.days())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn weeks_stand_beside_each_other_and_the_future_is_blank() {
        let day = |text: &str, served, refused| {
            let at = Instant::parse(text).unwrap();
            DayCount { day: at.unix_seconds() / 86_400, served, refused }
        };
        let days = [day("2026-10-26", 1, 0), day("2026-11-04", 8, 0), day("2026-11-11", 2, 1)];
        let drawn = drawn(&days, date(2026, 11, 11), 5);
        expect![[r"
                      Nov
            Mon · · ░ · ·
                · · · · ·
            Wed · · · █ ▒
                · · · ·
            Fri · · · ·
                · · · ·
                · · · ·"]]
        .assert_eq(&drawn.join("\n"));
        assert_eq!(summed(&days), "11 served and 1 refused on 3 days; most on 2026-11-04 (8)");
    }
}
