//! Numbers as pictures: a bar beside each group, a line of blocks for what happened when.

use jiff::ToSpan as _;
use jiff::civil::DateTime;

/// More buckets than this are not drawn out.
const MOST_BUCKETS: usize = 10_000;

/// A bar as long as its part of the largest value, in eighths of a column.
pub(super) fn bar(value: u64, largest: u64, room: usize) -> String {
    const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let room = u64::try_from(room).unwrap_or(u64::MAX).min(1_000);
    if value == 0 || largest == 0 {
        return String::new();
    }
    // Wide, because a count times eight hundred columns may not fit; never nothing for something.
    let eighths = (u128::from(value) * u128::from(room) * 8 / u128::from(largest)).max(1);
    let whole = usize::try_from(eighths / 8).unwrap_or(usize::MAX);
    let rest = usize::try_from(eighths % 8).unwrap_or(0);
    let mut out = "█".repeat(whole);
    out.extend(rest.checked_sub(1).map(|part| PARTS[part]));
    out
}

/// One block for each value, or for as many values together as it takes to fit.
pub(super) fn spark(values: &[u64], room: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let together = values.len().div_ceil(room.max(1)).max(1);
    let sums: Vec<u64> = values
        .chunks(together)
        .map(|chunk| chunk.iter().fold(0, |sum: u64, value| sum.saturating_add(*value)))
        .collect();
    let largest = sums.iter().copied().max().unwrap_or(0).max(1);
    let level = |value: &u64| match value {
        0 => '·',
        value => LEVELS[usize::try_from(u128::from(*value) * 7 / u128::from(largest)).unwrap_or(7)],
    };
    sums.iter().map(level).collect()
}

/// The buckets with the empty ones between them, which the server leaves out; none when a key is no time, or there
/// would be too many.
pub(super) fn filled(buckets: &[(String, u64)], granularity: &str) -> Option<Vec<u64>> {
    let step = match granularity {
        "minute" => 1.minute(),
        "hour" => 1.hour(),
        "day" => 1.day(),
        "week" => 1.week(),
        "month" => 1.month(),
        "quarter" => 3.months(),
        "year" => 1.year(),
        _ => return None,
    };
    let mut values = Vec::new();
    let mut expected: Option<DateTime> = None;
    for (key, count) in buckets {
        let at = parse(key)?;
        while let Some(empty) = expected.filter(|empty| *empty < at) {
            values.push(0);
            expected = Some(empty.checked_add(step).ok()?);
            if values.len() > MOST_BUCKETS {
                return None;
            }
        }
        values.push(*count);
        expected = Some(at.checked_add(step).ok()?);
    }
    Some(values)
}

fn parse(key: &str) -> Option<DateTime> {
    key.parse::<DateTime>()
        .ok()
        .or_else(|| Some(key.parse::<jiff::civil::Date>().ok()?.to_datetime(jiff::civil::Time::midnight())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_part() {
        assert_eq!(bar(8, 8, 4), "████");
        assert_eq!(bar(4, 8, 4), "██");
        assert_eq!(bar(5, 8, 4), "██▌");
        assert_eq!(bar(1, 1_000_000, 4), "▏", "never nothing for something");
        assert_eq!(bar(0, 8, 4), "");
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }

    #[test]
    fn a_line_of_blocks_fits_its_room() {
        assert_eq!(spark(&[0, 1, 7, 14], 10), "·▁▄█");
        assert_eq!(spark(&[1, 1, 2, 2], 2), "▄█");
        assert_eq!(spark(&[], 10), "");
        assert_eq!(spark(&[0, 0], 10), "··");
    }

    #[test]
    fn empty_buckets_are_drawn() {
        let buckets = |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), 5)).collect::<Vec<_>>();
        assert_eq!(filled(&buckets(&["2025-09-01", "2025-11-01"]), "month"), Some(vec![5, 0, 5]));
        assert_eq!(filled(&buckets(&["2025-09-01T10:00", "2025-09-01T12:00"]), "hour"), Some(vec![5, 0, 5]));
        assert_eq!(filled(&buckets(&["2025-09-01", "null"]), "day"), None);
        assert_eq!(filled(&buckets(&["0001-01-01", "9000-01-01"]), "day"), None, "too many");
    }
}
