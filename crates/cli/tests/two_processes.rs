//! Two servers on one data directory: either finds what the other took in, and the end of one is no loss.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::{Client, Pdpp};

/// Waits until a word is found; the other process may still be writing it into the index.
fn finds(reader: &Client, word: &str) -> bool {
    (0..500).any(|_| {
        let found = reader.get(&format!("/v1/search?q={word}"));
        let hit = found.body["data"].as_array().is_some_and(|hits| !hits.is_empty());
        if !hit {
            thread::sleep(Duration::from_millis(20));
        }
        hit
    })
}

fn take_in(writer: &Client, key: &str, word: &str) {
    let data = json!({"id": key, "author": "Ana", "text": format!("Look out for the {word}."), "sent_at": "2026-01-01T00:00:00Z"});
    let line = json!({"key": key, "data": data}).to_string();
    let taken = writer
        .try_post("/v1/ingest/messages?connector_id=harbour-chat", "application/x-ndjson", line)
        .unwrap();
    assert_eq!(taken.body["records_accepted"], 1, "{}", taken.body);
}

#[test]
fn two_servers_on_one_directory_find_what_either_takes_in() {
    let pdpp = Pdpp::with_sample();
    let token = pdpp.owner_token();
    let (mut first, second) = (pdpp.serve(), pdpp.serve());
    let (one, other) = (first.client(&token), second.client(&token));
    for round in 0..10 {
        let (writer, reader) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let word = format!("zebra{round}x");
        take_in(writer, &format!("z_{round}"), &word);
        assert!(finds(writer, &word), "the one who took it in finds it");
        assert!(finds(reader, &word), "so does the other");
    }
    first.kill();
    take_in(&other, "z_last", "okapi");
    assert!(finds(&other, "okapi"), "whoever is left keeps the index");
    drop(second);
    let verified = pdpp.ok(&["verify"]);
    assert!(verified.contains("all is well"), "{verified}");
}
