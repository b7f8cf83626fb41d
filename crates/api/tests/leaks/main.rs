//! Nothing outside a grant may show: random worlds, asked a hundred thousand times.
//!
//! Every answer of the real router over the real store is compared with two things. The first is a
//! slow model that knows the protocol but none of our code. The second is the answer of a twin store
//! that is the same inside the client's grants and different everywhere else: other fields, other
//! records, streams, connections, sources and owners, and writes in between that move every sequence
//! number. Opaque tokens are compared by what they fetch.
//!
//! All of it is asked twice: over embedded stores, one for each world, and over a Postgres server, where all worlds of a
//! shard are owners of one database. There a world takes several times as long to fill as to ask, so half as many are
//! asked more: a thousand and their twins.
//!
//! A failure names its seed and case. `PDPP_SEED=<seed> PDPP_CASE=<case> cargo xtask postgres -- cargo nextest run -p
//! pdpp-api --test leaks` plays that case alone, on both.

#![expect(clippy::print_stdout, reason = "a run says its seed and what it did")]
#![expect(clippy::result_large_err, clippy::large_enum_variant, reason = "the model is slow and obvious")]
#![expect(clippy::match_bool, clippy::unused_self, reason = "the model reads like the protocol's tables")]

mod archive;
mod blobs;
mod case;
mod compare;
mod model;
mod moment;
mod question;
mod redeclare;
mod requests;
mod rng;
mod server;
mod stores;
mod tally;
mod twin;
mod world;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use case::Case;
use compare::Reply;
use rng::mix;
use stores::Stores;
use tally::Tally;

const DEFAULT_SEED: u64 = 20_260_406;
const SHARDS: u64 = 8;
/// Over embedded stores: 2,000 worlds, each with its twin.
const EMBEDDED: Run = Run { cases: 250, questions: 36 };
/// Over Postgres: 1,000 worlds, each with its twin, so 2,000 stores.
const POSTGRES: Run = Run { cases: 125, questions: 62 };
/// So many failing cases are told before a run gives up.
const MOST_FAULTS: usize = 20;

const _: () = assert!(SHARDS * EMBEDDED.cases >= 2_000, "at least 2,000 random worlds");
const _: () = assert!(SHARDS * POSTGRES.cases * 2 >= 2_000, "at least 2,000 stores with the twins");
/// At least 100,000 requests in all.
const LEAST_REQUESTS: usize = 100_000 / 8;

/// What a shard does.
#[derive(Clone, Copy)]
struct Run {
    cases: u64,
    /// In each case.
    questions: usize,
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number, not {text:?}")))
}

fn run_shard(shard: u64, run: Run, stores: fn(&Runtime) -> Stores) {
    let seed = number("PDPP_SEED").unwrap_or(DEFAULT_SEED);
    let only = number("PDPP_CASE");
    let cases = shard * run.cases..(shard + 1) * run.cases;
    println!("leaks: PDPP_SEED={seed}, cases {} to {}", cases.start, cases.end - 1);
    let runtime = runtime();
    let stores = stores(&runtime);
    let mut tally = Tally::default();
    let mut faults: Vec<String> = Vec::new();
    for case in cases.filter(|case| only.is_none_or(|only| only == *case)) {
        let mut played = Case::new(&runtime, &stores, mix(seed ^ mix(case)));
        let outcome = played.run(run.questions, &mut tally);
        faults.extend(outcome.err().map(|fault| format!("PDPP_SEED={seed} PDPP_CASE={case}: {fault}")));
        if faults.len() == MOST_FAULTS {
            break;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("leaks: {} requests, {} questions, {} stores", tally.requests, tally.questions, tally.stores);
    println!("leaks: {} visible records differ in the twin, {} stand alone", tally.veiled, tally.alone);
    for (name, times) in &tally.seen {
        println!("leaks: {times:6} {name}");
    }
    if only.is_none() {
        check(run, &tally);
    }
}

fn runtime() -> Arc<Runtime> {
    Arc::new(Builder::new_current_thread().enable_all().build().expect("a runtime"))
}

/// The run must have been what it claims to be.
fn check(run: Run, tally: &Tally) {
    let cases = usize::try_from(run.cases).expect("small");
    assert!(tally.stores >= 2 * cases, "{} stores", tally.stores);
    assert!(tally.questions >= cases * run.questions, "{} questions", tally.questions);
    assert!(tally.requests >= LEAST_REQUESTS, "{} requests", tally.requests);
    assert!(tally.veiled > cases && tally.alone > cases, "the twins are too much alike");
    for (least, names) in EXPECTED {
        for name in *names {
            let times = tally.seen.get(*name).copied().unwrap_or(0);
            assert!(times >= *least, "{name:?} came {times} times, at least {least} are expected");
        }
    }
}

/// How often a shard must see each kind of answer at least.
const EXPECTED: &[(usize, &[&str])] = &[
    (1_000, &["records 200", "a page with records"]),
    (200, &["invalid_request", "ambiguous_connection"]),
    (
        80,
        &[
            "streams 200",
            "stream 200",
            "schema 200",
            "connectors 200",
            "record 200",
            "window 200",
            "aggregate 200",
            "blob_not_found",
            "connection_not_found",
            "field_not_found",
            "field_not_granted",
            "grant_stream_not_allowed",
            "invalid_cursor",
            "invalid_expand",
            "not_found",
            "a next page",
            "a next session",
        ],
    ),
    (
        20,
        &[
            "field_not_text",
            "invalid_sort",
            "invalid_window",
            "query_not_found",
            "stream_not_declared",
            "unknown_field",
            "a child",
            "a count",
            "a tombstone",
            "groups",
            "a field added to a declaration",
            "a declaration replaced outside",
        ],
    ),
    (
        4,
        &[
            "blob 200",
            "connector_instance_not_found",
            "cursor_expired",
            "grant_expired",
            "groups of dates",
            "grant_revoked",
            "insufficient_scope",
            "invalid_argument",
            "a match",
            "time bounds",
        ],
    ),
    (1, &["ambiguous_schema_detail", "connector_instance_inactive", "invalid_field_path", "more children"]),
];

macro_rules! shards {
    ($($shard:literal: $embedded:ident, $postgres:ident;)+) => {
        $(
            #[test] fn $embedded() { run_shard($shard, EMBEDDED, |_| Stores::Embedded); }
            #[test] fn $postgres() { run_shard($shard, POSTGRES, Stores::on_postgres); }
        )+
        const _: () = assert!([$($shard),+].len() as u64 == SHARDS);
    };
}

shards! {
    0: no_answer_depends_on_what_is_outside_the_grant_0, no_answer_of_postgres_does_0;
    1: no_answer_depends_on_what_is_outside_the_grant_1, no_answer_of_postgres_does_1;
    2: no_answer_depends_on_what_is_outside_the_grant_2, no_answer_of_postgres_does_2;
    3: no_answer_depends_on_what_is_outside_the_grant_3, no_answer_of_postgres_does_3;
    4: no_answer_depends_on_what_is_outside_the_grant_4, no_answer_of_postgres_does_4;
    5: no_answer_depends_on_what_is_outside_the_grant_5, no_answer_of_postgres_does_5;
    6: no_answer_depends_on_what_is_outside_the_grant_6, no_answer_of_postgres_does_6;
    7: no_answer_depends_on_what_is_outside_the_grant_7, no_answer_of_postgres_does_7;
}

/// Runs a few cases with spoiled answers; one of them must notice, and say this.
#[track_caller]
fn notices(tamper: fn(&mut Reply), expected: &str) {
    let runtime = runtime();
    let mut faults = (0..20).filter_map(|case| {
        let mut case = Case::tampered(&runtime, &Stores::Embedded, mix(DEFAULT_SEED ^ mix(case)), tamper);
        case.run(EMBEDDED.questions, &mut Tally::default()).err()
    });
    assert!(faults.any(|fault| fault.contains(expected)), "a leaking answer went unnoticed");
}

/// Changes an answer that is a JSON document.
fn edit(reply: &mut Reply, change: impl FnOnce(&mut Value)) {
    if let Ok(mut body) = serde_json::from_slice(&reply.body) {
        change(&mut body);
        reply.body = body.to_string().into_bytes();
    }
}

#[test]
fn a_field_too_many_is_noticed() {
    let leak = |reply: &mut Reply| {
        edit(reply, |body| {
            if let Some(data) = body.pointer_mut("/data/0/data") {
                data["secret"] = json!("leaked");
            }
        });
    };
    notices(leak, "data.secret");
}

#[test]
fn a_record_too_many_is_noticed() {
    let leak = |reply: &mut Reply| {
        edit(reply, |body| {
            let records = body.get_mut("data").and_then(Value::as_array_mut);
            if let Some(records) =
                records.filter(|records| records.first().is_some_and(|r| r["object"] == "record"))
            {
                records.push(records[0].clone());
            }
        });
    };
    notices(leak, "$.data[");
}

#[test]
fn a_count_that_is_off_by_one_is_noticed() {
    let leak = |reply: &mut Reply| {
        edit(reply, |body| {
            if let Some(count) = body.pointer_mut("/filtered_record_count") {
                *count = json!(count.as_u64().unwrap_or(0) + 1);
            }
        });
    };
    notices(leak, "filtered_record_count");
}

#[test]
fn two_records_that_changed_places_are_noticed() {
    let leak = |reply: &mut Reply| {
        edit(reply, |body| {
            let records = body.get_mut("data").and_then(Value::as_array_mut);
            if let Some(records) =
                records.filter(|records| records.len() > 1 && records[0]["object"] == "record")
            {
                records.swap(0, 1);
            }
        });
    };
    notices(leak, "$.data[0]");
}

#[test]
fn a_refusal_that_tells_more_is_noticed() {
    let leak = |reply: &mut Reply| {
        edit(reply, |body| {
            if let Some(message) = body.pointer_mut("/error/message") {
                *message = json!(format!("{} There are 7 others.", message.as_str().unwrap_or_default()));
            }
        });
    };
    notices(leak, "error.message");
}

#[test]
fn a_header_that_tells_more_is_noticed() {
    let leak = |reply: &mut Reply| {
        reply.headers.insert("x-total".to_owned(), "7".to_owned());
    };
    notices(leak, "x-total");
}

#[test]
fn a_token_whose_length_tells_is_noticed() {
    let leak = |reply: &mut Reply| {
        edit(reply, |body| {
            if let Some(token) = body.get_mut("next_changes_since") {
                *token = json!(format!("{}AAAA", token.as_str().unwrap_or_default()));
            }
        });
    };
    notices(leak, "next_changes_since has");
}
