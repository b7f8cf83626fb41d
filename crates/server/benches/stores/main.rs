//! Measures the same requests over both stores, and how the cost of a database grows with records, owners and nodes.
//!
//! Needs a Postgres server, named in `PDPP_TEST_POSTGRES`: `cargo xtask bench --store postgres` starts one that flushes
//! its disk as an operator's does. Ratios are of one run; times alone say nothing about another machine.

#![expect(clippy::print_stdout, reason = "printing the tables is what a benchmark is for")]

mod archive;
mod node;
mod reads;

use std::time::{Duration, Instant};

use clap::Parser;
use pdpp_testkit::PostgresServer;

use crate::archive::Size;
use crate::node::Node;
use crate::reads::Timings;

/// Benchmarks of the stores.
#[derive(Parser)]
struct Args {
    /// Records of one owner, in the smaller and the larger archive
    #[arg(long, num_args = 2, default_values_t = [100_000, 1_000_000], value_names = ["SMALLER", "LARGER"])]
    records: Vec<usize>,
    /// How many owners have the larger archive in the database
    #[arg(long, default_value_t = 1)]
    large_owners: usize,
    /// Owners with an archive of twenty records
    #[arg(long, default_value_t = 10_000)]
    owners: usize,
    /// Passed by `cargo bench`; means nothing here
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let (smaller, larger) = (args.records[0], args.records[1]);
    let server = PostgresServer::of_this_run();
    let mut rows: Vec<(String, Timings, Timings)> = Vec::new();
    let database = server.empty();
    node::prepare(&database.url()).await;
    for size in [smaller, larger] {
        let directory = Node::over_directory().await;
        let one = reads::measure(&directory, "solo", Size(size)).await;
        drop(directory);
        let name = format!("solo{size}");
        let node = Node::over_database(&database.url()).await;
        let other = reads::measure(&node, &name, Size(size)).await;
        rows.push((format!("{size} records"), one, other));
    }
    println!("\n| Path | Directory | Postgres | Ratio |\n| --- | ---: | ---: | ---: |");
    for (size, directory, postgres) in &rows {
        Timings::print_beside(size, directory, postgres);
    }
    println!(
        "\n| Path | {smaller} records | {larger} records | Ratio | Bar | |\n| --- | ---: | ---: | ---: | ---: | --- |"
    );
    for (store, before, after) in
        [("directory", &rows[0].1, &rows[1].1), ("Postgres", &rows[0].2, &rows[1].2)]
    {
        Timings::print_growth(store, before, after);
    }
    for number in 1..args.large_owners {
        let node = Node::over_database(&database.url()).await;
        archive::load(&node, &format!("large{number}"), Size(larger)).await;
        println!("owner {} of {} with {larger} records is loaded", number + 1, args.large_owners);
    }
    owners(&database.url(), args.owners, || database.ask(DISK)).await;
    nodes(&database.url()).await;
}

const DISK: &str = "SELECT pg_database_size(current_database())";

/// The same page for one owner, while there are more and more of them.
async fn owners(url: &str, most: usize, disk: impl Fn() -> String) {
    println!("\n| Owners with 20 records | Made a second | One page | One record | Disk for each |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    let node = Node::over_database(url).await;
    let bytes = || disk().parse::<u64>().unwrap_or(0);
    let mut made = 0;
    for count in [most / 100, most / 10, most].into_iter().filter(|count| *count > 0) {
        let (before, started) = (bytes(), Instant::now());
        archive::load_many(&node, made..count).await;
        let (took, new) = (started.elapsed(), (count - made) as u64);
        let (page, record) = reads::measure_small(&node, count).await;
        println!(
            "| {count} | {:.0} | {} | {} | {:.1} KB |",
            per_second(new, took),
            reads::micros(page),
            reads::micros(record),
            reads::ratio(bytes().saturating_sub(before), new) / 1000.0,
        );
        made = count;
    }
}

/// What several nodes answer together. They share this machine with the database and with whoever asks.
async fn nodes(url: &str) {
    println!("\n| Nodes | Pages a second |\n| ---: | ---: |");
    for count in 1..=3 {
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(Node::over_database(url).await);
        }
        let answered = reads::pages_for(&nodes, Duration::from_secs(5)).await;
        println!("| {count} | {:.0} |", per_second(answered, Duration::from_secs(5)));
    }
}

fn per_second(count: u64, took: Duration) -> f64 {
    reads::ratio(count, 1) / took.as_secs_f64()
}
