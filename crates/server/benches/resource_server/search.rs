//! Search through the router, beside the bare index and beside `SQLite`'s own full-text search over the same
//! passages under the same restriction.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use pdpp_search::{Place, SearchEngine};
use pdpp_server::Personal;

use crate::archive::{Archive, word};
use crate::fts::{Form, Fts, Restriction};
use crate::measure::{Bar, Row, median, micros, now};

/// Archives whose messages have 100 k and 1 M passages: each has a text and an author.
pub(crate) const SIZES: [usize; 2] = [50_000, 500_000];
pub(crate) const SMALL_SIZES: [usize; 2] = [5_000, 50_000];

/// Each query is asked so often, each time with words of about the same rank. All three are asked the same.
const ROUNDS: usize = 40;
/// Before that it is asked so often with other words, which nobody counts: programs and files are read into caches.
const WARMING: usize = 10;

/// What is looked for: a name, and the ranks of its words in the order of how common they are.
const QUERIES: [(&str, &[u64]); 4] = [
    ("one rare word", &[12_000]),
    ("one common word", &[3]),
    ("two words", &[25, 250]),
    ("a question of six words", &[6, 40, 120, 500, 2_500, 9_000]),
];

/// One query under one grant.
pub(crate) struct Timing {
    query: &'static str,
    grant: &'static str,
    ours: Duration,
    bare: Duration,
    fts: Duration,
    /// FTS5 where rows lie in the order of time and their numbers are the restriction.
    by_rowid: Option<Duration>,
}

/// What the index costs.
pub(crate) struct Index {
    passages: u64,
    building: Duration,
    bytes: u64,
    text_bytes: u64,
    anonymous: u64,
}

pub(crate) async fn measure(archive: &Archive) -> (Vec<Timing>, Index) {
    wait_until_tidy(archive).await;
    let fts = Fts::make(archive);
    let index = build(archive, fts.text_bytes).await;
    // The files the server itself reads, so that both search the same segments.
    let personal = Personal::open(&archive.directory).expect("the store opens");
    let place = Place::Directory(archive.directory.join("search"));
    let engine = SearchEngine::open(place, personal.store()).expect("the index opens");
    assert_eq!(engine.passages(), index.passages);
    let narrow = Restriction { from: archive.narrow_from() };
    let mut timings = Vec::new();
    for (grant, token, within) in
        [("whole", &archive.client, None), ("narrow", &archive.narrow, Some(&narrow))]
    {
        for (query, ranks) in QUERIES {
            timings.push(time(archive, &engine, &fts, (query, ranks), (grant, token, within)).await);
        }
    }
    (timings, index)
}

/// Waits until the index has all that was loaded, and has merged what it merges when nothing comes any more. FTS5 is
/// told to do the same.
async fn wait_until_tidy(archive: &Archive) {
    archive.wait_for_index().await;
    let personal = Personal::open(&archive.directory).expect("the store opens");
    let place = Place::Directory(archive.directory.join("search"));
    let engine = SearchEngine::open(place, personal.store()).expect("the index opens");
    for _ in 0..3_000 {
        if engine.is_tidy().expect("the index can be read") {
            // The server looks twice a second at what its index has become.
            return tokio::time::sleep(Duration::from_secs(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the index does not come to rest");
}

/// Builds the index once more, beside the one that is asked.
async fn build(archive: &Archive, text_bytes: u64) -> Index {
    let personal = Personal::open(&archive.directory).expect("the store opens");
    let fresh = tempfile::tempdir().expect("a temporary directory");
    let engine =
        SearchEngine::open(Place::Directory(fresh.path().to_owned()), personal.store()).expect("an index");
    let started = now();
    engine.catch_up().await.expect("the index is built");
    Index {
        passages: engine.passages(),
        building: started.elapsed(),
        bytes: bytes_of(fresh.path()),
        text_bytes,
        anonymous: anonymous_memory(),
    }
}

/// Searches and nothing else: of each query under each grant so many, and how long each took.
pub(crate) async fn searches(archive: &Archive, count: usize, only: Option<&str>, is_bare: bool) {
    wait_until_tidy(archive).await;
    let personal = Personal::open(&archive.directory).expect("the store opens");
    let place = Place::Directory(archive.directory.join("search"));
    let engine = SearchEngine::open(place, personal.store()).expect("the index opens");
    for (grant, token) in [("whole", &archive.client), ("narrow", &archive.narrow)] {
        for (query, ranks) in QUERIES {
            let name = format!("{query}, {grant} grant");
            if only.is_some_and(|only| !name.contains(only)) {
                continue;
            }
            let mut timings = Vec::new();
            for round in 0..count {
                let words: Vec<_> = ranks.iter().map(|rank| word(rank + (round % ROUNDS) as u64)).collect();
                let plan =
                    if is_bare { Some(archive.search_plan(token, &words.join(" ")).await) } else { None };
                let path = format!("/v1/search?limit=10&q={}", words.join("%20"));
                let started = now();
                match plan {
                    Some(plan) => {
                        let hits = engine.bare_query(&plan, &words, 10).expect("the index answers");
                        archive.read_bare(&plan, hits).await;
                    }
                    None => {
                        archive.get_bytes_as(token, &path).await;
                    }
                }
                timings.push(started.elapsed());
            }
            println!("{name}: {}", micros(median(&mut timings)));
        }
    }
}

async fn time(
    archive: &Archive,
    engine: &SearchEngine,
    fts: &Fts,
    (query, ranks): (&'static str, &[u64]),
    (grant, token, within): (&'static str, &str, Option<&Restriction>),
) -> Timing {
    let (mut ours, mut bare, mut theirs, mut by_rowid) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in (ROUNDS..ROUNDS + WARMING).chain(0..ROUNDS) {
        let words: Vec<_> = ranks.iter().map(|rank| word(rank + round as u64)).collect();
        // Whoever comes second finds the store's pages warm, so they take turns.
        for is_ours in [round % 2 == 0, round % 2 == 1] {
            if is_ours {
                let path = format!("/v1/search?limit=10&q={}", words.join("%20"));
                let started = now();
                archive.get_bytes_as(token, &path).await;
                ours.extend(Some(started.elapsed()).filter(|_| round < ROUNDS));
            } else {
                let plan = archive.search_plan(token, &words.join(" ")).await;
                let started = now();
                let hits = engine.bare_query(&plan, &words, 10).expect("the index answers");
                archive.read_bare(&plan, hits).await;
                bare.extend(Some(started.elapsed()).filter(|_| round < ROUNDS));
            }
        }
    }
    // Apart from the others: an answer of FTS5 reads tens of megabytes, after which both find their caches empty.
    for round in 0..ROUNDS {
        let words: Vec<_> = ranks.iter().map(|rank| word(rank + round as u64)).collect();
        // Without a restriction both forms are one; with it, whichever is quicker for these words.
        let forms: &[Form] = if within.is_some() { &Form::ALL } else { &[Form::ByRank] };
        let forms = forms.iter().map(|form| {
            let started = now();
            fts.best(&words, within, *form);
            started.elapsed()
        });
        theirs.extend(forms.min());
        if let Some(within) = within {
            let started = now();
            fts.best_by_rowid(&words, within);
            by_rowid.push(started.elapsed());
        }
    }
    let by_rowid = (!by_rowid.is_empty()).then(|| median(&mut by_rowid));
    let (ours, bare, fts) = (median(&mut ours), median(&mut bare), median(&mut theirs));
    Timing { query, grant, ours, bare, fts, by_rowid }
}

pub(crate) fn rows(timings: &[Timing], records: usize) -> Vec<Row> {
    let passages = records * 2;
    let mut rows = Vec::new();
    for Timing { query, grant, ours, bare, .. } in timings {
        rows.push(Row {
            path: format!(
                "search, {query}, {grant} grant, {passages} passages, beside the bare index and its records"
            ),
            ours: micros(*ours),
            beside: micros(*bare),
            ratio: ours.as_secs_f64() / bare.as_secs_f64(),
            bar: Bar::AtMost(2.0),
        });
    }
    for Timing { query, grant, ours, fts, .. } in timings {
        let is_barred = passages >= 1_000_000 && !query.starts_with("one");
        rows.push(Row {
            path: format!("search, {query}, {grant} grant, {passages} passages: SQLite FTS5 beside ours"),
            ours: micros(*fts),
            beside: micros(*ours),
            ratio: fts.as_secs_f64() / ours.as_secs_f64(),
            bar: if is_barred { Bar::AtLeast(30.0) } else { Bar::None },
        });
    }
    for Timing { query, grant, ours, by_rowid, .. } in timings {
        rows.extend(by_rowid.map(|by_rowid| Row {
            path: format!(
                "search, {query}, {grant} grant, {passages} passages: SQLite FTS5 by row number beside ours"
            ),
            ours: micros(by_rowid),
            beside: micros(*ours),
            ratio: by_rowid.as_secs_f64() / ours.as_secs_f64(),
            bar: Bar::None,
        }));
    }
    rows
}

pub(crate) fn growth(before: &[Timing], after: &[Timing], records: [usize; 2]) -> Vec<Row> {
    let row = |(before, after): (&Timing, &Timing)| Row {
        path: format!(
            "search, {}, {} grant: {} passages beside {}",
            after.query,
            after.grant,
            records[1] * 2,
            records[0] * 2
        ),
        ours: micros(after.ours),
        beside: micros(before.ours),
        ratio: after.ours.as_secs_f64() / before.ours.as_secs_f64(),
        bar: Bar::None,
    };
    before.iter().zip(after).map(row).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a table of rounded numbers")]
pub(crate) fn describe(index: &Index) -> String {
    let mut text = String::new();
    let rate = index.passages as f64 / index.building.as_secs_f64();
    let _ = write!(
        text,
        "{} passages indexed at {rate:.0}/s into {:.1} MB ({:.2} of the text's {:.1} MB); {} MiB of anonymous memory",
        index.passages,
        index.bytes as f64 / 1e6,
        index.bytes as f64 / index.text_bytes as f64,
        index.text_bytes as f64 / 1e6,
        index.anonymous / 1024,
    );
    text
}

fn bytes_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).expect("the index is there").flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// In kibibytes; nothing where the system does not tell.
fn anonymous_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
