//! Schema, streams and records: one page, the next page, all of them.

use serde_json::{Value, json};

use super::{Reader, failed, succeeded};
use crate::support::text;

fn ids(answer: &Value) -> Vec<String> {
    answer["data"].as_array().unwrap().iter().map(|record| text(&record["id"])).collect()
}

#[test]
fn the_schema_says_what_the_credential_opens() {
    let reader = Reader::new(&["--stream", "messages:text,author,sent_at"]);
    let printed = reader.ok(&["schema", "--format", "table"]);
    assert!(printed.contains(&format!("grant {}", reader.grant_id)), "{printed}");
    assert!(
        printed.contains("harbour-chat") && printed.contains("messages, ordered by sent_at"),
        "{printed}"
    );
    assert!(printed.contains("author") && printed.contains("a=count_distinct|group_by"), "{printed}");
    let command = printed.lines().find_map(|line| line.strip_prefix("records: ")).unwrap();
    let page: Value = serde_json::from_str(&reader.shell(command)).unwrap();
    assert_eq!(page["data"].as_array().unwrap().len(), 25);
    let full = reader.json(&["schema"]);
    assert!(full["connectors"][0]["streams"][0]["schema"].is_object(), "JSON is whole unless told otherwise");
    let compact = reader.json(&["schema", "--view", "compact", "--stream", "messages", &reader.url()]);
    assert_eq!((&compact["detail"], &compact["stream_count"]), (&json!("compact"), &json!(1)));
}

#[test]
fn streams_are_listed_with_their_sizes() {
    let reader = Reader::new(&["--stream", "messages", "--stream", "channels"]);
    let answer = reader.json(&["streams"]);
    let messages = &answer["data"].as_array().unwrap().iter().find(|one| one["name"] == "messages").unwrap();
    assert_eq!(messages["record_count"], json!(132));
    let command: Vec<String> = messages["command"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(command[..3], ["pdpp", "read", "query-records"]);
    let printed = reader.ok(&["streams", "--format", "table"]);
    assert!(printed.lines().next().unwrap().starts_with("STREAM"), "{printed}");
    assert!(printed.contains("132"), "{printed}");
}

#[test]
fn records_are_filtered_sorted_and_counted() {
    let reader = Reader::new(&["--stream", "messages"]);
    let answer = reader.json(&[
        "query-records",
        "messages",
        "--filter",
        "author=Ana",
        "--filter",
        "sent_at>=2025-10-01",
        "--fields",
        "author,sent_at",
        "--sort",
        "sent_at",
        "--count",
        "exact",
        "--limit",
        "3",
    ]);
    let same = reader.json(&[
        "query-records",
        "messages",
        "--filter-json",
        r#"{"author":"Ana","sent_at":{"gte":"2025-10-01"}}"#,
        "--fields",
        "author,sent_at",
        "--order",
        "asc",
        "--count",
        "exact",
        "--limit",
        "3",
    ]);
    assert_eq!(answer["data"], same["data"]);
    assert_eq!(answer["meta"]["count"], same["meta"]["count"]);
    for record in answer["data"].as_array().unwrap() {
        assert_eq!(record["data"]["author"], json!("Ana"));
        assert!(record["data"].get("text").is_none());
    }
    let printed =
        reader.ok(&["query-records", "messages", "--count", "exact", "--limit", "2", "--format", "table"]);
    assert!(printed.contains("2 of 132 records"), "{printed}");
    assert!(printed.contains("one: pdpp read fetch"), "{printed}");
    let page = reader.ok(&["query-records", "channels", "--format", "table"]
        .map(|word| if word == "channels" { "messages" } else { word }));
    assert!(page.contains("and there are more"), "{page}");
}

/// The printed continuation repeats the whole question: a cursor belongs to it.
#[test]
fn the_next_page_is_a_printed_command() {
    let reader = Reader::new(&["--stream", "messages"]);
    let question = ["query-records", "messages", "--filter", "author=Ana", "--order", "asc", "--limit", "20"];
    let first = reader.json(&question);
    let printed = reader.ok(&[&question[..], &["--format", "table"]].concat());
    let next = printed.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    let second: Value = serde_json::from_str(&reader.shell(next)).unwrap();
    assert_eq!(ids(&second).len(), 12);
    assert!(ids(&second).iter().all(|id| !ids(&first).contains(id)));
    let argv: Vec<String> = first["next_command"].as_array().unwrap().iter().map(text).collect();
    let rest: Vec<&str> = argv[2..].iter().map(String::as_str).collect();
    assert_eq!(ids(&reader.json(&rest)), ids(&second), "programs get the same as arguments");
}

#[test]
fn all_pages_are_read_up_to_a_limit() {
    let reader = Reader::new(&["--stream", "messages"]);
    let all = reader.json(&["query-records", "messages", "--all", "--limit", "50"]);
    assert_eq!(ids(&all).len(), 132);
    assert_eq!(all["has_more"], json!(false));
    let lines = reader.ok(&["query-records", "messages", "--all", "--format", "jsonl"]);
    assert_eq!(lines.lines().count(), 132);
    let cut = reader.run(&["query-records", "messages", "--all", "--max", "60", "--format", "jsonl"]);
    assert_eq!(succeeded(&cut).lines().count(), 60);
    let said = String::from_utf8(cut.stderr).unwrap();
    let next = said.lines().find_map(|line| line.strip_prefix("stopped after 60; there is more: ")).unwrap();
    let rest: Value = serde_json::from_str(&reader.shell(&format!("{next} --all"))).unwrap();
    assert_eq!(ids(&rest).len(), 72);
    let hits = reader.json(&["search", "garden harbour concert", "--all", "--limit", "2"]);
    assert!(hits["data"].as_array().unwrap().len() > 2, "{hits}");
    assert_eq!(failed(&reader.run(&["query-records", "messages", "--max", "5"])).0, 2, "--max needs --all");
}

#[test]
fn changes_go_on_where_they_ended() {
    let reader = Reader::new(&["--stream", "messages"]);
    let all = reader.json(&["query-records", "messages", "--changes-since", "beginning", "--all"]);
    assert_eq!(ids(&all).len(), 132);
    let later: Vec<String> = all["later_command"].as_array().unwrap().iter().map(text).collect();
    let args: Vec<&str> = later[2..].iter().map(String::as_str).collect();
    assert_eq!(ids(&reader.json(&args)).len(), 0, "nothing has changed");
}

#[test]
fn wrong_lists_have_their_codes() {
    let reader = Reader::new(&["--stream", "messages:text,sent_at"]);
    let check = |args: &[&str], code: i32, said: &str| {
        let (got, line) = failed(&reader.run(args));
        assert!(got == code && line.contains(said), "{args:?}: {got} {line}");
    };
    check(&["query-records"], 2, "STREAM");
    check(&["query-records", "messages", "--filter", "author"], 2, "no filter");
    check(&["query-records", "messages", "--filter-json", "[]"], 2, "--filter-json");
    check(&["query-records", "messages", "--expand-limit", "3"], 2, "RELATION=COUNT");
    check(&["query-records", "messages", "--format", "xml"], 2, "xml");
    check(&["query-records", "messages", "--filter", "author=Ana"], 4, "field_not_granted");
    check(&["query-records", "messages", "--fields", "nope"], 1, "unknown_field");
    check(&["query-records", "messages", "--cursor", "forged"], 1, "invalid_cursor");
    check(&["query-records", "channels"], 4, "grant_stream_not_allowed");
    check(&["query-records", "messages", "--connection-id", "cin_other"], 5, "connection_not_found");
    check(&["streams", "--url", &reader.url(), &reader.url()], 2, "one word too many");
    check(&["schema", "not a url"], 2, "not a valid");
    check(&["schema", "http://data.example.org"], 2, "unencrypted");
}
