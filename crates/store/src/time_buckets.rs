//! Counts by time. A bucket is computed once for all the instants in a row that fall into it, so that instants are best
//! counted in their order.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use pdpp_access::Granularity;
use serde_json::Value;

use crate::Group;

/// How many records each stretch of time holds.
#[derive(Debug)]
pub struct TimeBuckets<'z> {
    granularity: Granularity,
    zone: &'z TimeZone,
    /// By the start of the bucket on the zone's wall clock. The same hour or minute comes twice when clocks go back;
    /// both are one key.
    counts: BTreeMap<DateTime, u64>,
    open: Option<Bucket>,
}

impl<'z> TimeBuckets<'z> {
    /// No records yet.
    pub fn new(granularity: Granularity, zone: &'z TimeZone) -> Self {
        Self { granularity, zone, counts: BTreeMap::new(), open: None }
    }

    /// Counts records at a moment, in microseconds.
    pub fn add(&mut self, micros: i64, count: u64) {
        match &mut self.open {
            Some(bucket) if bucket.holds.contains(&micros) => bucket.count += count,
            _ => {
                self.close();
                self.open = Some(Bucket { count, ..Bucket::around(micros, self.granularity, self.zone) });
            }
        }
    }

    fn close(&mut self) {
        if let Some(bucket) = self.open.take() {
            *self.counts.entry(bucket.start).or_default() += bucket.count;
        }
    }

    /// The earliest buckets, of `total` records; those without a time come last.
    pub fn first(mut self, total: u64, limit: u32) -> Vec<Group> {
        self.close();
        let timed: u64 = self.counts.values().sum();
        let untimed = total.saturating_sub(timed);
        let key = |start| spell(start, self.granularity).into();
        let buckets = self.counts.iter().map(|(start, count)| Group { key: key(*start), count: *count });
        let null = (untimed > 0).then_some(Group { key: Value::Null, count: untimed });
        buckets.chain(null).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect()
    }
}

/// The wall clock of a moment. The last hours of the year 9999, which many systems write for "no
/// end", lie beyond the zone database's time and keep its last offset.
fn in_zone(micros: i64, zone: &TimeZone) -> (Timestamp, DateTime) {
    if let Ok(at) = Timestamp::from_microsecond(micros) {
        return (at, zone.to_datetime(at));
    }
    let (at, edge) =
        if micros < 0 { (Timestamp::MIN, DateTime::MIN) } else { (Timestamp::MAX, DateTime::MAX) };
    let offset = i64::from(zone.to_offset(at).seconds()) * 1_000_000;
    let since_epoch = SignedDuration::from_micros(micros.saturating_add(offset));
    (at, jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0).checked_add(since_epoch).unwrap_or(edge))
}

/// A stretch of time whose instants share a bucket.
#[derive(Debug)]
struct Bucket {
    start: DateTime,
    /// From the first that was counted to the first microsecond that may belong to another bucket.
    holds: Range<i64>,
    count: u64,
}

impl Bucket {
    /// The bucket of an instant, up to its end or to the next change of the zone's offset.
    fn around(micros: i64, granularity: Granularity, zone: &TimeZone) -> Self {
        let (at, wall) = in_zone(micros, zone);
        let start = start(wall, granularity);
        let mut end = i64::MAX;
        if let Ok(next) = start.checked_add(span(granularity)) {
            let left = i64::try_from(next.duration_since(wall).as_micros()).unwrap_or(i64::MAX);
            end = micros.saturating_add(left.max(1));
        }
        if let Some(change) = zone.following(at).next() {
            // A change may lie between two microseconds; what it precedes is looked at again.
            end = end.min(change.timestamp().as_microsecond().max(micros + 1));
        }
        Self { start, holds: micros..end, count: 0 }
    }
}

fn start(wall: DateTime, granularity: Granularity) -> DateTime {
    let (date, time) = (wall.date(), wall.time());
    let midnight = |date: Date| date.to_datetime(Time::midnight());
    match granularity {
        Granularity::Minute => date.at(time.hour(), time.minute(), 0, 0),
        Granularity::Hour => date.at(time.hour(), 0, 0, 0),
        Granularity::Day => midnight(date),
        Granularity::Week => {
            let since_monday = i64::from(date.weekday().to_monday_zero_offset());
            midnight(date.checked_sub(Span::new().days(since_monday)).unwrap_or(date))
        }
        Granularity::Month => midnight(date.first_of_month()),
        Granularity::Quarter => {
            let first = (date.month() - 1) / 3 * 3 + 1;
            midnight(Date::new(date.year(), first, 1).unwrap_or(date))
        }
        Granularity::Year => midnight(date.first_of_year()),
    }
}

fn span(granularity: Granularity) -> Span {
    let span = Span::new();
    match granularity {
        Granularity::Minute => span.minutes(1),
        Granularity::Hour => span.hours(1),
        Granularity::Day => span.days(1),
        Granularity::Week => span.weeks(1),
        Granularity::Month => span.months(1),
        Granularity::Quarter => span.months(3),
        Granularity::Year => span.years(1),
    }
}

fn spell(start: DateTime, granularity: Granularity) -> String {
    match granularity {
        Granularity::Minute | Granularity::Hour => start.strftime("%Y-%m-%dT%H:%M").to_string(),
        _ => start.date().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use pdpp_wire::Instant;

    use super::*;

    #[track_caller]
    fn check(text: &str, zone: &str, granularity: Granularity, key: &str, end: &str) {
        let at = Instant::parse(text).unwrap().micros();
        let bucket = Bucket::around(at, granularity, &TimeZone::get(zone).unwrap());
        assert_eq!(spell(bucket.start, granularity), key, "{text}");
        assert_eq!(Instant::from_micros(bucket.holds.end).to_rfc3339(), end, "{text}");
    }

    #[test]
    fn buckets_start_on_the_wall_clock_of_the_zone() {
        use Granularity::{Day, Hour, Minute, Month, Quarter, Week, Year};
        check("2026-02-03T04:05:06.7Z", "UTC", Minute, "2026-02-03T04:05", "2026-02-03T04:06:00.000Z");
        check("2026-02-03T04:05:06Z", "UTC", Hour, "2026-02-03T04:00", "2026-02-03T05:00:00.000Z");
        check("2026-02-03T23:30:00Z", "Europe/Berlin", Day, "2026-02-04", "2026-02-04T23:00:00.000Z");
        check("2026-02-03T04:05:06Z", "UTC", Week, "2026-02-02", "2026-02-09T00:00:00.000Z");
        check("2026-02-03T04:05:06Z", "UTC", Month, "2026-02-01", "2026-03-01T00:00:00.000Z");
        check("2026-02-03T04:05:06Z", "UTC", Quarter, "2026-01-01", "2026-04-01T00:00:00.000Z");
        check("2026-02-03T04:05:06Z", "UTC", Year, "2026-01-01", "2027-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_bucket_never_reaches_over_a_change_of_the_clock() {
        use Granularity::{Day, Hour};
        // Clocks go forward at 01:00 UTC on 29 March and back at 01:00 UTC on 25 October.
        check("2026-03-29T00:30:00Z", "Europe/Berlin", Day, "2026-03-29", "2026-03-29T01:00:00.000Z");
        check("2026-03-29T01:30:00Z", "Europe/Berlin", Day, "2026-03-29", "2026-03-29T22:00:00.000Z");
        check("2026-10-25T00:30:00Z", "Europe/Berlin", Hour, "2026-10-25T02:00", "2026-10-25T01:00:00.000Z");
        check("2026-10-25T01:30:00Z", "Europe/Berlin", Hour, "2026-10-25T02:00", "2026-10-25T02:00:00.000Z");
    }

    #[test]
    fn moments_are_counted_in_any_order() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let mut buckets = TimeBuckets::new(Granularity::Hour, &zone);
        for text in
            ["2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z", "2026-10-24T22:10:00Z", "2026-10-25T01:10:00Z"]
        {
            buckets.add(Instant::parse(text).unwrap().micros(), 1);
        }
        let groups: Vec<_> = buckets.first(7, 3).into_iter().map(|group| (group.key, group.count)).collect();
        let expected = [("2026-10-25T00:00".into(), 1), ("2026-10-25T02:00".into(), 3), (Value::Null, 3)];
        assert_eq!(groups, expected);
    }
}
