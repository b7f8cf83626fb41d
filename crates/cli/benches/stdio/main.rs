//! Measures `pdpp mcp` as a host meets it: how soon the first answer is there, what it keeps in memory, and what the
//! adapter adds to a read. Each row is a ratio to something measured in the same run.

#![expect(clippy::print_stdout, reason = "printing the table is what a benchmark is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

mod adapter;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};
use ureq::Agent;

use crate::adapter::{Adapter, pdpp, serve};

/// Benchmarks of the MCP adapter over standard streams.
#[derive(Parser)]
struct Args {
    /// A smoke run: 20 k records instead of 1 M
    #[arg(long)]
    small: bool,
    /// Passed by `cargo bench`; means nothing here
    #[arg(long, hide = true)]
    bench: bool,
}

const QUESTION: &str = "winter storage";

fn main() {
    let args = Args::parse();
    let records = if args.small { 20_000 } else { 1_000_000 };
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    load(home.path(), &data, records);
    let issued: Value = serde_json::from_str(&pdpp(
        &data,
        &["grant", "create", "--client", "bench", "--stream", "messages", "--json"],
    ))
    .unwrap();
    let (grant, token) = (issued["grant_id"].as_str().unwrap(), issued["access_token"].as_str().unwrap());

    println!("\n| Path | Ours | Beside it | Ratio | Bar | |\n| --- | ---: | ---: | ---: | ---: | --- |");
    let bare = median(
        (0..40).map(|_| timed(|| assert!(Command::new("true").status().unwrap().success()))).collect(),
    );
    let local = ["mcp", "--data", data.to_str().unwrap(), "--grant", grant];
    let first = median((0..20).map(|_| timed(|| drop(Adapter::start(&local, &[])))).collect());
    row(&format!("stdio: spawn to first answer, {records} records"), first, bare, 30.0);

    let mut adapter = Adapter::start(&local, &[]);
    adapter.call("search", &json!({"q": QUESTION}));
    adapter.call("query_records", &json!({"stream": "messages"}));
    let kept = adapter.anonymous_mib();
    let verdict = if kept <= 40.0 { "holds" } else { "missed" };
    println!(
        "| stdio: anonymous memory after a search and a page, {records} records | {kept:.1} MiB | | | ≤ 40 MiB | {verdict} |"
    );
    let (_server, url) = serve(&data);
    let mut remote = Adapter::start(&["mcp", "--provider-url", &url], &[("PDPP_CLIENT_TOKEN", token)]);
    let agent: Agent = Agent::config_builder().build().into();
    for (name, tool, arguments, path) in [
        ("search", "search", json!({"q": QUESTION, "limit": 10}), "/v1/search?q=winter+storage&limit=10"),
        (
            "page of 25",
            "query_records",
            json!({"stream": "messages", "fields": ["id", "author"]}),
            "/v1/streams/messages/records?fields=id&fields=author",
        ),
    ] {
        // Read and parsed, on a connection that is kept: what a program does that calls REST itself.
        let direct = || {
            let request =
                agent.get(format!("{url}{path}")).header("authorization", format!("Bearer {token}"));
            let body = request.call().unwrap().body_mut().read_to_string().unwrap();
            let answer: Value = serde_json::from_str(&body).unwrap();
            assert!(answer["data"].is_array(), "{body}");
        };
        for (from, adapter) in [("a data directory", &mut adapter), ("a server", &mut remote)] {
            let mut through = || adapter.call(tool, &arguments);
            let (mut ours, mut beside) = (Vec::new(), Vec::new());
            for round in 0..220 {
                let (one, other) = (timed(&mut through), timed(direct));
                // The first rounds fill caches on both sides.
                if round >= 20 {
                    ours.push(one);
                    beside.push(other);
                }
            }
            let path = format!("stdio: {name} from {from}, against the same call of REST");
            row(&path, median(ours), median(beside), 1.3);
        }
    }
}

fn row(path: &str, ours: Duration, beside: Duration, bar: f64) {
    let ratio = ours.as_secs_f64() / beside.as_secs_f64();
    let verdict = if ratio <= bar { "holds" } else { "missed" };
    let micros = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6);
    println!("| {path} | {} | {} | {ratio:.2} | ≤ {bar} | {verdict} |", micros(ours), micros(beside));
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut timings: Vec<Duration>) -> Duration {
    timings.sort_unstable();
    timings[timings.len() / 2]
}

/// Invented messages, loaded by the program itself.
fn load(home: &Path, data: &Path, records: usize) {
    const WORDS: [&str; 24] = [
        "harbour",
        "winter",
        "storage",
        "crane",
        "berth",
        "tide",
        "ropes",
        "rehearsal",
        "tomato",
        "garden",
        "invoice",
        "Thursday",
        "quay",
        "lamp",
        "letter",
        "engine",
        "sail",
        "paint",
        "hose",
        "beans",
        "choir",
        "key",
        "door",
        "rain",
    ];
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exports/jsonl/manifest.json");
    let path = home.join("records.jsonl");
    let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    let mut dice = 0x2545_F491_4F6C_DD1D_u64;
    let mut roll = || {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice % 1_000_003).unwrap()
    };
    for number in 0..records {
        let words: Vec<&str> = (0..12).map(|_| WORDS[roll() % WORDS.len()]).collect();
        let key = format!("m_{number}");
        let data =
            json!({"id": key, "author": "Ana", "text": words.join(" "), "sent_at": "2025-09-01T16:07:00Z"});
        writeln!(file, "{}", json!({"stream": "messages", "key": key, "data": data})).unwrap();
    }
    file.flush().unwrap();
    println!("loading {records} records");
    let (manifest, path) = (manifest.display().to_string(), path.display().to_string());
    pdpp(data, &["import", "--manifest", &manifest, &path]);
}
