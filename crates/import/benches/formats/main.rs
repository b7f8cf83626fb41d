//! Measures every format beside plain parsing of the same bytes, and what a huge mailbox keeps in memory.
//!
//! Plain parsing is what the format's own parser takes without making records: the JSON text, the mail messages, the
//! rows, the lines. Records are checked against their stream, as an import does, and then dropped.

#![expect(clippy::print_stdout, reason = "printing the table is what a benchmark is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::cast_precision_loss, reason = "sizes are printed with one digit after the point")]

mod endless;
mod letters;
mod samples;
mod sink;

use std::time::{Duration, Instant};

use clap::Parser;
use pdpp_import::{detect, formats};

use crate::endless::{EndlessMailbox, Letter};
use crate::letters::letter;
use crate::samples::{Sample, message};
use crate::sink::Checked;

/// Benchmarks of the import formats.
#[derive(Parser)]
struct Args {
    /// A smoke run: 1 MB per format and a mailbox of 50 MB instead of 5 GB
    #[arg(long)]
    small: bool,
    /// Passed by `cargo bench`; means nothing here
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let args = Args::parse();
    // First, before samples of the others lie in memory.
    let bytes = if args.small { 50_000_000 } else { 5_000_000_000 };
    mailbox("ordinary letters", bytes, letter);
    mailbox("messages of 750 bytes", bytes, message);
    let size = if args.small { 1_000_000 } else { 24_000_000 };
    println!("\n| Format | Bytes | Records | Read | Records/s | Plain parsing | Ratio |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for format in formats() {
        let Some(sample) = Sample::of(format.name(), size) else { continue };
        let megabytes = sample.bytes() as f64 / 1e6;
        let plain = best(|| sample.parse_plainly());
        let mut records = 0;
        let ours = best(|| {
            let mut tree = sample.tree();
            records = 0;
            for (_, claim) in detect(&mut tree, &[*format]).claims {
                let manifest = format.manifest(&mut tree, &claim).unwrap();
                let mut sink = Checked::new(&manifest);
                format.read(&mut tree, &claim, &mut sink).unwrap();
                assert_eq!(sink.complaints, 0, "{}", format.name());
                records += sink.records;
            }
        });
        assert!(records > 0, "{} read nothing", format.name());
        let rate = |time: Duration| megabytes / time.as_secs_f64();
        println!(
            "| {} | {megabytes:.1} MB | {records} | {:.0} MB/s | {:.0} | {:.0} MB/s | {:.2} |",
            format.name(),
            rate(ours),
            f64::from(u32::try_from(records).unwrap()) / ours.as_secs_f64(),
            rate(plain),
            ours.as_secs_f64() / plain.as_secs_f64(),
        );
    }
}

/// The best of three.
fn best(mut work: impl FnMut()) -> Duration {
    let timed = (0..3).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    timed.min().unwrap()
}

/// A mailbox that is made while it is read: nothing of it lies in memory or on disk.
fn mailbox(of: &str, bytes: u64, letter: Letter) {
    let format = formats().iter().find(|format| format.name() == "mail").unwrap();
    let mut tree = EndlessMailbox::new(bytes, letter);
    let before = anonymous_mib();
    let start = Instant::now();
    let claim = detect(&mut tree, &[*format]).claims.remove(0).1;
    let manifest = format.manifest(&mut tree, &claim).unwrap();
    let mut sink = Checked::new(&manifest);
    format.read(&mut tree, &claim, &mut sink).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let peak = sink.peak_mib.max(anonymous_mib());
    let verdict = if peak <= 200.0 { "holds" } else { "missed" };
    println!(
        "\na mailbox of {:.1} GB, {of}, {} records in {seconds:.0} s: at most {peak:.0} MiB of anonymous memory \
         ({before:.0} before), bar 200 MiB, {verdict}",
        bytes as f64 / 1e9,
        sink.records,
    );
}

/// What this process keeps for itself right now.
fn anonymous_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok()).unwrap_or(0.0)
        / 1024.0
}
