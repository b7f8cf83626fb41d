//! Measures how long after a commit a receiver hears of it, and what that costs in memory, beside the same load with nobody
//! subscribed.
//!
//! A thousand connections, ten subscribers each, a thousand changes a second: each change reaches ten of ten thousand
//! subscriptions. Store, worker and receivers share this machine and this process. `--small` is a smoke run.

#![expect(clippy::print_stdout, reason = "printing the table is what a benchmark is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

mod load;
mod receivers;
mod world;

use std::time::Duration;

use crate::load::Load;
use crate::receivers::Receivers;
use crate::world::World;

/// Subscribers of each connection.
const READERS: usize = 10;

fn main() {
    let small = std::env::args().any(|argument| argument == "--small");
    let (connections, seconds) = if small { (20, 3) } else { (1_000, 20) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(measure(connections, Duration::from_secs(seconds)));
}

async fn measure(connections: usize, time: Duration) {
    let world = World::make(connections).await;
    let load = Load::of(time);
    let alone = load.run(&world, None).await;
    let before = memory();
    println!(
        "nobody subscribed: {} changes in {:.1} s, {before} MiB",
        alone.changes,
        alone.took.as_secs_f64()
    );

    let receivers = Receivers::start(8).await;
    let made = world.subscribe(&receivers, READERS).await;
    let worker = tokio::spawn(world.worker().run());
    receivers.wait_for_challenges(made).await;
    let under = load.run(&world, Some(&receivers)).await;
    let lags = receivers.settled(&under).await;
    worker.abort();
    let after = memory();
    println!(
        "{made} subscribed: {} changes in {:.1} s, {after} MiB, {} events\n",
        under.changes,
        under.took.as_secs_f64(),
        receivers.events()
    );
    println!("| | p50 | p99 | largest |\n| --- | ---: | ---: | ---: |");
    let at = |share: usize| format!("{:.0} ms", lags[(lags.len() - 1) * share / 100].as_secs_f64() * 1e3);
    println!("| from commit to receiver | {} | {} | {} |", at(50), at(99), at(100));
    println!("| memory with / without | {:.2} | | |", after / before.max(1.0));
}

/// Anonymous resident memory in MiB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or("RssAnon: 0 kB");
    line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1_024.0
}
