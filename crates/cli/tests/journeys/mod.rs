//! Whole journeys through the real program: from a question to evidence, a window, the record and a blob, by hosts
//! that each hide something else. Every step uses only what the step before let the host see.

mod archive;
mod hosts;

use serde_json::json;

use self::archive::{Archive, LONG_CHARS, NEEDLE, PICTURE, long_text};
use self::hosts::{ContentOnly, DropsTheMiddle, Eyes, ResourceAware, StructuredOnly};

/// Goes the whole way with one pair of eyes.
fn journey(eyes: &dyn Eyes) {
    let archive = Archive::new();
    let mut adapter = archive.adapter(&[]);
    adapter.hello();

    let schema = adapter.call("schema", json!({}));
    let stream = eyes.stream(&schema);
    assert_eq!(stream, "notes");
    let described = adapter.call("schema", json!({"stream": stream}));
    assert!(eyes.sees(&described, "body"), "the fields are named");

    let found = adapter.call("search", json!({"q": NEEDLE}));
    let evidence = eyes.evidence(&found);
    let window = adapter.call("read_record_field", evidence.clone());
    assert!(eyes.window(&window).contains(NEEDLE), "the window holds the match: {window}");

    let mut arguments = json!({"id": evidence["id"], "field_path": evidence["field_path"]});
    let mut whole = String::new();
    for _ in 0..50 {
        let window = adapter.call("read_record_field", arguments.clone());
        whole.push_str(&eyes.window(&window));
        match eyes.next(&window) {
            Some(next) => arguments = next,
            None => break,
        }
    }
    assert_eq!(whole.chars().count(), LONG_CHARS, "the field is put together whole");
    assert_eq!(whole, long_text());

    let found = adapter.call("search", json!({"q": "harbour photograph"}));
    let id = eyes.id(&found);
    let record = adapter.call("fetch", json!({"id": id}));
    assert!(eyes.sees(&record, "harbour"), "{record}");
    let blob = eyes.blob(&record);
    let bytes = eyes.picture(&mut adapter, &blob);
    assert_eq!(bytes, PICTURE);
}

/// S0-R2, S0-R2-S1, S1-R1, S1-R2, S3-R1-S2: nothing but text is seen.
#[test]
fn a_host_that_shows_only_text_goes_the_whole_way() {
    journey(&ContentOnly);
}

/// S1-R2: nothing but structured output is seen.
#[test]
fn a_host_that_shows_only_structure_goes_the_whole_way() {
    journey(&StructuredOnly);
}

/// S0-R2-S2, S3-R2: windows and blobs are read as resources.
#[test]
fn a_host_that_reads_resources_goes_the_whole_way() {
    journey(&ResourceAware);
}

/// S3-R2-S1: both halves are seen, and no resource can be read.
#[test]
fn a_host_that_hides_resources_goes_the_whole_way() {
    let archive = Archive::new();
    let mut adapter = archive.adapter(&[]);
    adapter.hello();
    let found = adapter.call("search", json!({"q": NEEDLE}));
    let (seen_as_text, seen_as_structure) = (ContentOnly.evidence(&found), StructuredOnly.evidence(&found));
    assert_eq!(seen_as_text, seen_as_structure, "both halves offer the same call");
    journey(&ContentOnly);
}

/// S1-R4: a host that keeps only the two ends of a long result loses nothing it cannot ask for again.
#[test]
fn a_host_that_drops_the_middle_goes_the_whole_way() {
    journey(&DropsTheMiddle);
}

/// S3-R1: the adapter names no tool that is not listed.
#[test]
fn the_small_set_of_tools_still_leads_from_question_to_text() {
    let archive = Archive::new();
    let mut adapter = archive.adapter(&["--tools", "read"]);
    adapter.hello();
    let listed: Vec<String> =
        adapter.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(listed, ["schema", "query_records", "aggregate", "search", "fetch", "read_record_field"]);
    let found = adapter.call("search", json!({"q": "harbour photograph"}));
    let record = adapter.call("fetch", json!({"id": ContentOnly.id(&found)}));
    for result in [&found, &record] {
        let seen = format!("{} {}", result["content"], result["structuredContent"]);
        for unlisted in ["fetch_blob", "list_streams", "event_subscription"] {
            assert!(!seen.contains(unlisted), "{unlisted}: {seen}");
        }
    }
}

/// S4-R1-S2: the handle in the text is enough.
#[test]
fn a_handle_from_the_text_is_enough_to_fetch() {
    let archive = Archive::new();
    let mut adapter = archive.adapter(&[]);
    adapter.hello();
    let found = adapter.call("search", json!({"q": NEEDLE}));
    let id = ContentOnly.id(&found);
    let record = adapter.call("fetch", json!({"id": id}));
    assert_ne!(record["isError"], json!(true), "{record}");
    assert_eq!(record["structuredContent"]["id"], json!(id));
}
