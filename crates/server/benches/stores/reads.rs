//! Timings of reads, and what is printed of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::archive::{self, AUTHORS, Size};
use crate::node::Node;

const ROUNDS: usize = 300;
/// Pages asked for at the same time of each node.
const READERS: usize = 16;

/// The middle timings over one archive.
pub(crate) struct Timings {
    /// Records taken in a second.
    ingest: f64,
    page: Duration,
    record: Duration,
    window: Duration,
    aggregate: Duration,
    search: Duration,
}

pub(crate) async fn measure(node: &Node, owner: &str, size: Size) -> Timings {
    let (token, loading) = archive::load(node, owner, size).await;
    wait_for_index(node, &token).await;
    let time = async |path: String| {
        let started = Instant::now();
        node.ask(&token, &path, None).await;
        started.elapsed()
    };
    let (mut page, mut record, mut window) = (Vec::new(), Vec::new(), Vec::new());
    let (mut aggregate, mut search) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let id = format!("m_{:07}", round * 7919 % size.0);
        page.push(time(filtered(round)).await);
        record.push(time(format!("/v1/streams/messages/records/{id}")).await);
        window.push(
            time(format!("/v1/streams/messages/records/{id}/field-window?field=text&limit_chars=64")).await,
        );
        search.push(time(format!("/v1/search?limit=10&q=lantern%20rare{}", round * 13 % 5_000)).await);
    }
    for _ in 0..5 {
        aggregate.push(time("/v1/streams/messages/aggregate?metric=count&group_by=author".to_owned()).await);
    }
    Timings {
        ingest: ratio(size.0 as u64, 1) / loading.as_secs_f64(),
        page: median(page),
        record: median(record),
        window: median(window),
        aggregate: median(aggregate),
        search: median(search),
    }
}

/// One page and one record of owners with small archives, each of another owner.
pub(crate) async fn measure_small(node: &Node, owners: usize) -> (Duration, Duration) {
    let (mut page, mut record) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let token = archive::token(node, &format!("small{}", round * 7919 % owners)).await;
        for (path, timings) in [
            ("/v1/streams/messages/records?limit=10", &mut page),
            ("/v1/streams/messages/records/m_0000007", &mut record),
        ] {
            let started = Instant::now();
            node.ask(&token, path, None).await;
            timings.push(started.elapsed());
        }
    }
    (median(page), median(record))
}

/// How many pages several nodes answer in a time, each asked by several readers at once.
pub(crate) async fn pages_for(nodes: &[Node], time: Duration) -> u64 {
    let answered = AtomicU64::new(0);
    let ends = Instant::now() + time;
    let reader = async |node: &Node, number: usize| {
        let token = archive::token(node, &format!("small{}", number % 10)).await;
        while Instant::now() < ends {
            node.ask(&token, "/v1/streams/messages/records?limit=10", None).await;
            answered.fetch_add(1, Ordering::Relaxed);
        }
    };
    let all = nodes.iter().flat_map(|node| (0..READERS).map(move |number| (node, number)));
    futures_util::future::join_all(all.map(|(node, number)| reader(node, number))).await;
    answered.into_inner()
}

fn filtered(round: usize) -> String {
    format!("/v1/streams/messages/records?limit=25&filter%5Bauthor%5D=author_{}", round * 37 % AUTHORS)
}

/// Until what was loaded is found.
async fn wait_for_index(node: &Node, token: &str) {
    for _ in 0..6_000 {
        let found = node.ask_json(token, "/v1/search?limit=1&q=lantern", None).await;
        if found["meta"]["index"]["state"] == json!("current") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the index does not catch up");
}

impl Timings {
    fn rows(&self) -> [(&'static str, Duration, f64); 5] {
        [
            ("filtered page of 25", self.page, 1.5),
            ("one record", self.record, 1.5),
            ("field window", self.window, 1.5),
            ("count by a declared field", self.aggregate, 10.0),
            ("search, two words", self.search, f64::INFINITY),
        ]
    }

    pub(crate) fn print_beside(size: &str, one: &Self, other: &Self) {
        println!(
            "| ingest, {size} | {:.0}/s | {:.0}/s | {:.2} |",
            one.ingest,
            other.ingest,
            one.ingest / other.ingest
        );
        for ((name, one, _), (_, other, _)) in one.rows().into_iter().zip(other.rows()) {
            let ratio = other.as_secs_f64() / one.as_secs_f64();
            println!("| {name}, {size} | {} | {} | {ratio:.2} |", micros(one), micros(other));
        }
    }

    pub(crate) fn print_growth(store: &str, before: &Self, after: &Self) {
        for ((name, before, bar), (_, after, _)) in before.rows().into_iter().zip(after.rows()) {
            let ratio = after.as_secs_f64() / before.as_secs_f64();
            let (bar, verdict) = match bar {
                bar if bar.is_infinite() => (String::new(), ""),
                bar => (format!("≤ {bar}"), if ratio <= bar { "holds" } else { "missed" }),
            };
            println!(
                "| {name}, {store} | {} | {} | {ratio:.2} | {bar} | {verdict} |",
                micros(before),
                micros(after)
            );
        }
    }
}

fn median(mut timings: Vec<Duration>) -> Duration {
    timings.sort_unstable();
    timings[timings.len() / 2]
}

pub(crate) fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
