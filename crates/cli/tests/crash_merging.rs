//! Pulls the plug while segments of the search index are being merged: after every restart the index says what the
//! store says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Pdpp, Server, fixture, text};

const ROUNDS: usize = 50;
/// Of those, how many have to end in the middle of a merge for the test to have tested anything.
const INTERRUPTED: usize = 25;
/// Messages in one request: enough for a merge to take a while.
const LINES: usize = 300;
const INGEST: &str = "/v1/ingest/messages?connector_id=harbour-chat";
const MERGING: &str = "merging search segments ";

#[test]
fn the_index_is_that_of_the_store_after_fifty_kills_while_segments_merge() {
    let pdpp = Pdpp::new();
    let empty = pdpp.write("empty.jsonl", r#"{"stream":"channels","key":"c0","data":{"id":"c0"}}"#);
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &empty]);
    let token = pdpp.owner_token();
    let (mut sent, mut interrupted) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--log-level", "info,pdpp_search=debug"];
        let mut server = Server::start(pdpp.command(&serve));
        check(&server.client(&token), &sent);
        let merged;
        (sent, merged) = write_until_merging(&server, &token, round);
        // Some end as they begin, some as they are about to be done.
        thread::sleep(Duration::from_millis(round as u64 % 10 * 2));
        server.kill();
        interrupted += usize::from(merged.is_subset(&segments(&pdpp)));
        if round % 10 == 9 {
            verify(&pdpp);
        }
    }
    let server = pdpp.serve();
    check(&server.client(&token), &sent);
    drop(server);
    verify(&pdpp);
    assert!(interrupted >= INTERRUPTED, "{interrupted} of {ROUNDS} kills were in the middle of a merge");
}

/// Sends batches, each to be a segment of its own, until the server merges some. Gives each batch's own word, and
/// the segments.
fn write_until_merging(server: &Server, token: &str, round: usize) -> (Vec<String>, BTreeSet<String>) {
    let client = server.client(token);
    let mut sent = Vec::new();
    for number in 0..60 {
        let word = format!("merge{round}n{number}");
        let answer = client.post(INGEST, "application/x-ndjson", lines(&word));
        assert_eq!(answer.body["records_accepted"], json!(LINES), "{}", answer.body);
        // Searching makes the index take it in at once, in a commit of its own; else it looks twice a second.
        check(&client, std::slice::from_ref(&word));
        sent.push(word);
        for _ in 0..40 {
            if let Some(merged) = merging(&server.log()) {
                return (sent, merged);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
    panic!("nothing is merged: {}", server.log())
}

/// The segments of the last merge the server has begun.
fn merging(log: &str) -> Option<BTreeSet<String>> {
    let (_, rest) = log.rsplit_once(MERGING)?;
    let (ids, _) = rest.split_once('\n')?;
    Some(ids.trim().split(',').map(str::to_owned).collect())
}

/// The segments the index consists of.
fn segments(pdpp: &Pdpp) -> BTreeSet<String> {
    let meta = std::fs::read_to_string(pdpp.data().join("search/meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    let id = |segment: &Value| text(&segment["segment_id"]).replace('-', "");
    meta["segments"].as_array().unwrap().iter().map(id).collect()
}

fn lines(word: &str) -> String {
    let mut body = String::new();
    for number in 0..LINES {
        let key = format!("{word}_{number}");
        // Words of their own make dictionaries long.
        let words: Vec<_> = (0..20).map(|at| format!("{word}x{}", (number * 7 + at) % 500)).collect();
        let data = json!({"id": key, "channel_id": "c0", "author": "crash", "sent_at": "2026-01-01T00:00:00Z",
            "text": format!("{word} {}", words.join(" "))});
        let _ = writeln!(body, "{}", json!({"key": key, "data": data}));
    }
    body
}

/// Everything that was acknowledged is found. A search on a busy machine may have to say that the index is behind, and
/// is asked again.
fn check(client: &Client, sent: &[String]) {
    for word in sent {
        let ask = || client.get(&format!("/v1/search?limit=1&q={word}"));
        let is_current = |body: &Value| body["meta"]["index"]["state"] == json!("current");
        let body = (0..30).map(|_| ask().body).find(is_current).expect("the index catches up in a minute");
        assert_eq!(body["data"].as_array().unwrap().len(), 1, "{word}: {body}");
    }
}

fn verify(pdpp: &Pdpp) {
    let verified = pdpp.ok(&["verify"]);
    assert!(verified.contains("all is well"), "the index says what the store says: {verified}");
}
