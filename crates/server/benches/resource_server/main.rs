//! Measures the resource server against the engine it stands on, as ratios taken in one run.
//!
//! A time alone means nothing on somebody else's machine, so every row has the raw engine call, or
//! the same call on a smaller archive, beside it. Run with `cargo xtask bench`; `--small` is a smoke
//! run.

#![expect(clippy::print_stdout, reason = "printing the table is what a benchmark is for")]

mod archive;
mod authorization;
mod fts;
mod ingest;
mod measure;
mod reads;
mod search;

use clap::Parser;

use crate::archive::Archive;
use crate::measure::Row;

/// Benchmarks of the resource server.
#[derive(Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct Args {
    /// A smoke run: 10 k and 100 k records instead of 100 k and 1 M
    #[arg(long)]
    small: bool,
    /// Only what authorization costs
    #[arg(long)]
    authorization: bool,
    /// Only search, at 100 k and 1 M passages, beside the bare index and FTS5
    #[arg(long)]
    search: bool,
    /// Only read pages, so many of them, for a profiler to look at
    #[arg(long, value_name = "N")]
    pages: Option<usize>,
    /// Only search, so many times for each query and grant, for a profiler to look at
    #[arg(long, value_name = "N")]
    searches: Option<usize>,
    /// With `--searches`: only queries whose description has this in it
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// With `--searches`: the bare index and its records instead, through nothing of ours
    #[arg(long)]
    bare: bool,
    /// With `--searches`: the archive's size
    #[arg(long, default_value_t = 100_000, value_name = "RECORDS")]
    size: usize,
    /// With `--search` or `--searches`: where archives stay from one run to the next
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<std::path::PathBuf>,
    /// Passed by `cargo bench`; means nothing here
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let args = Args::parse();
    let sizes = if args.small { [10_000, 100_000] } else { [100_000, 1_000_000] };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    if let Some(pages) = args.pages {
        return runtime.block_on(async { reads::pages(&Archive::make(10_000).await, pages).await });
    }
    if let Some(count) = args.searches {
        return runtime.block_on(async {
            let archive = match args.keep {
                Some(directory) => Archive::kept(directory, args.size).await,
                None => Archive::make(args.size).await,
            };
            search::searches(&archive, count, args.only.as_deref(), args.bare).await;
        });
    }
    let search_sizes = if args.small { search::SMALL_SIZES } else { search::SIZES };
    if args.search {
        let (rows, described) = runtime.block_on(searched(search_sizes, args.keep.as_deref()));
        println!("\n{described}");
        return print(&rows);
    }
    // One core, as the row says.
    let one_core = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let costs = one_core.expect("a runtime starts").block_on(authorization::rows());
    if args.authorization {
        return print(&costs);
    }
    let rows = runtime.block_on(async {
        let mut rows = costs;
        let small = Archive::make(sizes[0]).await;
        rows.push(ingest::against_bare_inserts(&small));
        let before = reads::measure(&small).await;
        drop(small);
        let large = Archive::make(sizes[1]).await;
        rows.push(ingest::against_bare_inserts(&large));
        let after = reads::measure(&large).await;
        drop(large);
        rows.extend(reads::against_engine(&before, sizes[0]));
        rows.extend(reads::against_engine(&after, sizes[1]));
        rows.extend(reads::growth(&before, &after, sizes));
        let (found, described) = searched(search_sizes, None).await;
        println!("\n{described}");
        rows.extend(found);
        rows
    });
    print(&rows);
}

/// The rows of search, and what the indexes cost.
async fn searched(sizes: [usize; 2], keep: Option<&std::path::Path>) -> (Vec<Row>, String) {
    let (mut found, mut described) = (Vec::new(), Vec::new());
    for size in sizes {
        let archive = match keep {
            Some(directory) => Archive::kept(directory.to_owned(), size).await,
            None => Archive::make(size).await,
        };
        let (timings, index) = search::measure(&archive).await;
        found.push(timings);
        described.push(search::describe(&index));
    }
    let mut rows = Vec::new();
    for (timings, size) in found.iter().zip(sizes) {
        rows.extend(search::rows(timings, size));
    }
    rows.extend(search::growth(&found[0], &found[1], sizes));
    (rows, described.join("\n"))
}

fn print(rows: &[Row]) {
    println!("\n| Path | Ours | Beside it | Ratio | Bar | |\n| --- | ---: | ---: | ---: | ---: | --- |");
    for row in rows {
        println!("{}", Row::to_markdown(row));
    }
}
