//! Measures how long after a write a receiver hears of it, and what subscriptions cost in memory and to whoever writes,
//! beside the same load with nobody subscribed.
//!
//! A thousand connections, ten subscribers each, a thousand changes a second: each change reaches ten of ten thousand
//! subscriptions. Ten changes are committed together, and share their events as changes of one commit always do. Store,
//! worker and receivers share this machine and one process; the load with nobody subscribed has a process of its own,
//! so that neither leaves its memory to the other. `--small` is a smoke run.

#![expect(clippy::print_stdout, reason = "printing the table is what a benchmark is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

mod load;
mod receivers;
mod world;

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::load::{Done, Load};
use crate::receivers::Receivers;
use crate::world::World;

/// Subscribers of each connection.
const READERS: usize = 10;
/// Makes this process the one in which nobody is subscribed.
const ALONE: &str = "--alone";

fn main() {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let small = given("--small");
    let (connections, seconds) = if small { (20, 3) } else { (1_000, 20) };
    let load = Load::of(Duration::from_secs(seconds));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if given(ALONE) {
        let measured = runtime.block_on(async {
            let world = World::make(connections).await;
            measured(&load.run(&world, None).await)
        });
        println!("{measured}");
        return;
    }
    let alone = run_alone(small);
    runtime.block_on(measure(connections, &load, &alone));
}

/// The same load in another process, with nobody subscribed.
fn run_alone(small: bool) -> Value {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.arg(ALONE).args(small.then_some("--small")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn measure(connections: usize, load: &Load, alone: &Value) {
    let world = World::make(connections).await;
    let receivers = Receivers::start(8).await;
    let made = world.subscribe(&receivers, READERS).await;
    let worker = tokio::spawn(world.worker().run());
    receivers.wait_for_challenges(made).await;
    let under = load.run(&world, Some(&receivers)).await;
    let lags = receivers.settled(&under).await;
    worker.abort();
    let with = measured(&under);

    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!(
        "{made} subscriptions on {cores} cores, each change reaching {READERS}; {} events for {} commits of {} changes\n",
        receivers.events(),
        under.changes / load::BATCH,
        load::BATCH
    );
    println!("| | p50 | p99 | largest |\n| --- | ---: | ---: | ---: |");
    println!(
        "| from write to receiver | {:.0} ms | {:.0} ms | {:.0} ms |\n",
        at(&lags, 50),
        at(&lags, 99),
        at(&lags, 100)
    );
    println!("| | nobody subscribed | {made} subscribed | ratio |\n| --- | ---: | ---: | ---: |");
    for (name, member, digits) in [
        ("changes a second", "rate", 0),
        ("commit, p50 ms", "p50", 1),
        ("commit, p99 ms", "p99", 1),
        ("memory, MiB", "memory", 1),
    ] {
        let (without, with) = (number(alone, member), number(&with, member));
        println!("| {name} | {without:.digits$} | {with:.digits$} | {:.2} |", with / without);
    }
}

fn measured(done: &Done) -> Value {
    let changes = f64::from(u32::try_from(done.changes).unwrap());
    json!({
        "rate": changes / done.took.as_secs_f64(), "memory": memory(),
        "p50": at(&done.commits, 50), "p99": at(&done.commits, 99),
    })
}

fn number(measured: &Value, member: &str) -> f64 {
    measured[member].as_f64().unwrap()
}

/// A percentile of sorted durations, in milliseconds.
fn at(sorted: &[Duration], share: usize) -> f64 {
    sorted[(sorted.len() - 1) * share / 100].as_secs_f64() * 1e3
}

/// Anonymous resident memory in MiB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or("RssAnon: 0 kB");
    line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1_024.0
}
