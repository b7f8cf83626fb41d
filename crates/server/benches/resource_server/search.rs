//! Search through the router, beside the bare index and beside `SQLite`'s own full-text search over the same
//! passages under the same restriction.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use pdpp_search::{Place, SearchEngine};
use pdpp_server::Personal;
use rusqlite::Connection;

use crate::archive::{Archive, word};
use crate::measure::{Bar, Row, median, micros, now};

/// Each query is asked so often, each time with words of about the same rank.
const ROUNDS: usize = 40;
const FTS_ROUNDS: usize = 7;

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
    archive.wait_for_index().await;
    let fts = Fts::make(archive);
    let personal = Personal::open(&archive.directory).expect("the store opens");
    let fresh = tempfile::tempdir().expect("a temporary directory");
    let engine =
        SearchEngine::open(Place::Directory(fresh.path().to_owned()), personal.store()).expect("an index");
    let started = now();
    engine.catch_up().await.expect("the index is built");
    let index = Index {
        passages: engine.passages(),
        building: started.elapsed(),
        bytes: bytes_of(fresh.path()),
        text_bytes: fts.text_bytes,
        anonymous: anonymous_memory(),
    };
    let mut timings = Vec::new();
    for (grant, token, from) in
        [("whole", &archive.client, 0), ("narrow", &archive.narrow, archive.narrow_from())]
    {
        for (query, ranks) in QUERIES {
            timings.push(time(archive, &engine, &fts, (query, ranks), (grant, token, from)).await);
        }
    }
    (timings, index)
}

/// Searches and nothing else: of each query under each grant so many, and how long each took.
pub(crate) async fn searches(archive: &Archive, count: usize, only: Option<&str>) {
    archive.wait_for_index().await;
    for (grant, token) in [("whole", &archive.client), ("narrow", &archive.narrow)] {
        for (query, ranks) in QUERIES {
            let name = format!("{query}, {grant} grant");
            if only.is_some_and(|only| !name.contains(only)) {
                continue;
            }
            let mut timings = Vec::new();
            for round in 0..count {
                let words: Vec<_> = ranks.iter().map(|rank| word(rank + (round % ROUNDS) as u64)).collect();
                let path = format!("/v1/search?limit=10&q={}", words.join("%20"));
                let started = now();
                archive.get_bytes_as(token, &path).await;
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
    (grant, token, from): (&'static str, &str, usize),
) -> Timing {
    let words = |round: usize| ranks.iter().map(|rank| word(rank + round as u64)).collect::<Vec<_>>();
    let (mut ours, mut bare, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = format!("/v1/search?limit=10&q={}", words(round).join("%20"));
        let started = now();
        archive.get_bytes_as(token, &path).await;
        ours.push(started.elapsed());
        let plan = archive.search_plan(token, &words(round).join(" ")).await;
        let started = now();
        let hits = engine.bare_query(&plan, &words(round), 10).expect("the index answers");
        archive.read_bare(&plan, hits).await;
        bare.push(started.elapsed());
    }
    for round in 0..FTS_ROUNDS {
        let started = now();
        fts.best(&words(round), from);
        theirs.push(started.elapsed());
    }
    Timing { query, grant, ours: median(&mut ours), bare: median(&mut bare), fts: median(&mut theirs) }
}

pub(crate) fn rows(timings: &[Timing], size: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for Timing { query, grant, ours, bare, .. } in timings {
        rows.push(Row {
            path: format!(
                "search, {query}, {grant} grant, {size} records, beside the bare index and its records"
            ),
            ours: micros(*ours),
            beside: micros(*bare),
            ratio: ours.as_secs_f64() / bare.as_secs_f64(),
            bar: Bar::AtMost(2.0),
        });
    }
    for Timing { query, grant, ours, fts, .. } in timings {
        rows.push(Row {
            path: format!("search, {query}, {grant} grant, {size} records: SQLite FTS5 beside ours"),
            ours: micros(*fts),
            beside: micros(*ours),
            ratio: fts.as_secs_f64() / ours.as_secs_f64(),
            bar: if query.contains("word ") || query.starts_with("one") {
                Bar::None
            } else {
                Bar::AtLeast(30.0)
            },
        });
    }
    rows
}

pub(crate) fn growth(before: &[Timing], after: &[Timing], sizes: [usize; 2]) -> Vec<Row> {
    let row = |(before, after): (&Timing, &Timing)| Row {
        path: format!(
            "search, {}, {} grant: {} records beside {}",
            after.query, after.grant, sizes[1], sizes[0]
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

/// The same texts in `SQLite`'s own full-text index.
struct Fts {
    connection: Connection,
    text_bytes: u64,
}

impl Fts {
    fn make(archive: &Archive) -> Self {
        let mut connection = Connection::open_in_memory().expect("memory is there");
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE passages USING fts5(text, content='', tokenize='porter unicode61')",
            )
            .expect("the engine has full-text search");
        let transaction = connection.transaction().expect("a transaction");
        let mut text_bytes = 0;
        {
            let mut insert =
                transaction.prepare("INSERT INTO passages (rowid, text) VALUES (?, ?)").expect("a statement");
            for number in 0..archive.size {
                let text = crate::archive::text(number);
                text_bytes += text.len() as u64;
                insert.execute((i64::try_from(number).unwrap_or(i64::MAX), text)).expect("inserted");
            }
        }
        transaction.commit().expect("committed");
        connection.execute("INSERT INTO passages(passages) VALUES ('optimize')", []).expect("merged");
        Self { connection, text_bytes }
    }

    /// The best ten, from a message on.
    fn best(&self, words: &[String], from: usize) -> usize {
        let sql = "SELECT rowid FROM passages WHERE passages MATCH ? AND rowid >= ? ORDER BY rank LIMIT 10";
        let mut statement = self.connection.prepare_cached(sql).expect("a statement");
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let rows =
            statement.query_map((words.join(" OR "), from), |row| row.get::<_, i64>(0)).expect("it runs");
        rows.collect::<Result<Vec<_>, _>>().expect("rows").len()
    }
}
