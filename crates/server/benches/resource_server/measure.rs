//! Taking and printing measurements.

use std::time::{Duration, Instant};

/// One line of the table.
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) ours: String,
    pub(crate) beside: String,
    pub(crate) ratio: f64,
    pub(crate) bar: Bar,
}

/// What the ratio is held against.
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    /// Nothing: the row only informs.
    None,
}

impl Row {
    pub(crate) fn to_markdown(row: &Self) -> String {
        let (bar, holds) = match row.bar {
            Bar::AtMost(bar) => (format!("≤ {bar}"), row.ratio <= bar),
            Bar::AtLeast(bar) => (format!("≥ {bar}"), row.ratio >= bar),
            Bar::None => (String::new(), true),
        };
        let verdict = match row.bar {
            Bar::None => "",
            _ if holds => "holds",
            _ => "missed",
        };
        let Self { path, ours, beside, ratio, .. } = row;
        format!("| {path} | {ours} | {beside} | {ratio:.2} | {bar} | {verdict} |")
    }
}

/// How long the work takes, for the benchmark's own stopwatch.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The middle of many timings: a stray pause of the machine does not move it.
pub(crate) fn median(timings: &mut [Duration]) -> Duration {
    timings.sort_unstable();
    timings[timings.len() / 2]
}

pub(crate) fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}
