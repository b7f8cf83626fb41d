//! `query_records` within its budget: pages are made smaller, single records are cut, and both say so.

use serde_json::{Value, json};

use crate::budget::assert_within_budget;
use crate::samples::{PROSE, base64_png};
use crate::support::{Fake, Host, Reply, Seen};

fn record(index: usize, data: Value) -> Value {
    json!({"object": "record", "id": format!("m{index}"), "stream": "messages", "data": data,
        "emitted_at": "2026-01-05T00:00:00Z", "connection_id": "cin_a", "result_id": format!("cin_a/messages:m{index}")})
}

/// A server with `total` such records that pages by `limit`; the cursor is the next index.
fn pages(
    total: usize,
    data: impl Fn(usize) -> Value + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| {
        let number = |name: &str| seen.param(name).and_then(|text| text.parse::<usize>().ok());
        let start = number("cursor").unwrap_or(0);
        let end = (start + number("limit").unwrap_or(25)).min(total);
        let rows: Vec<Value> = (start..end).map(|index| record(index, data(index))).collect();
        let mut body = json!({"object": "list", "data": rows, "has_more": end < total});
        if end < total {
            body["next_cursor"] = end.to_string().into();
        }
        Reply::json(&body)
    }
}

/// S1-R4: a hundred fat records come in pages that fit, whole, and the cursor misses none of them.
#[tokio::test]
async fn fat_pages_are_asked_again_smaller_and_nothing_is_lost() {
    let fake = Fake::start(pages(100, |index| json!({"n": index, "text": PROSE.repeat(20)}))).await;
    let mut host = Host::connect(&fake).await;
    let mut seen = Vec::new();
    let mut cursor = None::<String>;
    loop {
        let mut given = json!({"stream": "messages", "limit": 100});
        if let Some(cursor) = &cursor {
            given["cursor"] = cursor.as_str().into();
        }
        let result = host.call("query_records", given).await;
        assert_within_budget(&result);
        let rows = result.structured["data"]["data"].as_array().unwrap();
        assert!(!rows.is_empty());
        assert!(rows.iter().all(|row| row["data"]["text"] == PROSE.repeat(20)), "rows are whole");
        seen.extend(rows.iter().map(|row| row["data"]["n"].as_u64().unwrap()));
        if seen.len() < 90 {
            let served = format!("requested=100 served={}", rows.len());
            assert!(result.text.contains(&served), "{}", result.text);
            assert_eq!(result.structured["served"], rows.len());
        }
        cursor = result.structured["data"]["next_cursor"].as_str().map(str::to_owned);
        match &cursor {
            Some(cursor) => assert!(result.text.contains(&format!("next_cursor=\"{cursor}\""))),
            None => break,
        }
    }
    assert_eq!(seen, (0..100).collect::<Vec<u64>>());
}

/// S1-R4: a page that fits is asked for once.
#[tokio::test]
async fn a_page_that_fits_is_asked_for_once() {
    let fake = Fake::start(pages(25, |index| json!({"n": index, "text": "short and sweet"}))).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert_within_budget(&result);
    assert_eq!(fake.seen().len(), 1);
    assert!(!result.text.contains("served="), "{}", result.text);
    assert_eq!(result.structured["data"]["data"].as_array().unwrap().len(), 25);
}

/// S1-R4: a server that refuses the smaller page loses nobody the page it has served.
#[tokio::test]
async fn a_refused_smaller_page_leaves_the_larger_one() {
    let page = pages(25, |index| json!({"n": index, "text": PROSE.repeat(20)}));
    let fake = Fake::start(move |seen| match seen.param("limit") {
        None => page(seen),
        Some(_) => Reply::status(403, &json!({"error": {"code": "grant_consumed", "message": "read once"}})),
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(result.structured["data"]["data"].as_array().unwrap().len(), 25);
    assert!(!result.text.contains("served="), "{}", result.text);
}

/// S2-R1: a cursor that looks like bytes is still the cursor; a field that does is metadata.
#[tokio::test]
async fn a_long_cursor_is_no_binary_body() {
    let cursor = base64_png(300);
    let (body, long) = (cursor.clone(), cursor.clone());
    let fake = Fake::start(move |_| {
        let rows = [record(0, json!({"next_cursor": body}))];
        Reply::json(&json!({"object": "list", "data": rows, "has_more": true, "next_cursor": body}))
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert_eq!(result.structured["data"]["next_cursor"], *long);
    assert!(result.text.contains(&format!("next_cursor=\"{cursor}\"")), "{}", result.text);
    assert_ne!(result.structured["data"]["data"][0]["data"]["next_cursor"], *cursor);
}

/// S1-R4, S1-R4-S1: one huge record is cut with its mark before it, and every cut in the data is listed with its call.
#[tokio::test]
async fn a_single_huge_record_is_cut_and_says_so() {
    let text = PROSE.repeat(26_000);
    let total = text.chars().count();
    assert!(total > 2_000_000);
    let body = text.clone();
    let fake =
        Fake::start(pages(3, move |index| json!({"n": index, "text": body.clone(), "after": "seen"}))).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert_within_budget(&result);
    assert_eq!(fake.last().param("limit"), Some("1"));
    assert!(result.text.contains("requested=3 served=1"), "{}", result.text);
    let args = r#"read_record_field args={"id":"cin_a/messages:m0","field_path":"text","offset_chars":0,"limit_chars":4096}"#;
    let mark = result.text.find("record[0] truncated chars=").expect("a mark");
    assert!(mark < result.text.find("record[0] {").unwrap());
    assert!(result.text.contains(args), "{}", result.text);
    assert!(result.text.ends_with('…') && result.text.contains("\"after\":\"seen\""), "{}", result.text);
    let cut = &result.structured["truncated_fields"][0];
    assert_eq!((cut["id"].as_str(), cut["field_path"].as_str()), (Some("cin_a/messages:m0"), Some("text")));
    assert_eq!(cut["total_chars"], total);
    let shown = usize::try_from(cut["shown_chars"].as_u64().unwrap()).unwrap();
    let data = result.structured["data"]["data"][0]["data"]["text"].as_str().unwrap();
    assert_eq!(data, format!("{}…", &text[..shown]));
    assert_eq!(cut["read"]["tool"], "read_record_field");
    assert_eq!(cut["read"]["args"]["id"], "cin_a/messages:m0");
}

/// S1-R4: many small values in one record are bounded too.
#[tokio::test]
async fn wide_and_nested_records_are_bounded() {
    let shapes = [
        json!({"list": (0..20_000).map(|n| format!("item {n}")).collect::<Vec<_>>(), "kept": 1}),
        json!({"deep": {"a": {"b": PROSE.repeat(3_000)}}, "kept": 1}),
        Value::Object((0..5_000).map(|n| (format!("field_{n}"), json!(n))).collect()),
        Value::Object((0..300).map(|n| (format!("field_{n}"), json!(PROSE))).collect()),
    ];
    for shape in shapes {
        let data = shape.clone();
        let fake = Fake::start(pages(1, move |_| data.clone())).await;
        let mut host = Host::connect(&fake).await;
        let result = host.call("query_records", json!({"stream": "messages"})).await;
        assert_within_budget(&result);
        assert!(result.text.contains("record[0] truncated chars="), "{}", result.text);
        assert!(
            !result.structured["truncated_fields"][0]["read"].is_null(),
            "{}",
            result.structured["truncated_fields"]
        );
    }
}

/// S1-R4-S1: a record is cut for its many fields, so the printed call opens the record, not a text that is shown whole;
/// for a long text, it opens that text.
#[tokio::test]
async fn a_record_of_many_short_fields_goes_on_with_itself() {
    let many = |text: &str| {
        let mut fields: serde_json::Map<String, Value> =
            (0..400).map(|n| (format!("field_{n:03}"), json!(format!("short text {n}")))).collect();
        fields.insert("note".to_owned(), json!(text));
        Value::Object(fields)
    };
    let fetch = r#"fetch args={"id":"cin_a/messages:m0"}"#;
    let read = r#"read_record_field args={"id":"cin_a/messages:m0","field_path":"text""#;
    for (data, call) in [
        (many("fifty characters of text that are the longest here"), fetch),
        (many(&PROSE.repeat(2)), fetch),
        (json!({"text": PROSE.repeat(400), "tags": ["a", "b"], "n": 1}), read),
    ] {
        let fake = Fake::start(pages(1, move |_| data.clone())).await;
        let result = Host::connect(&fake).await.call("query_records", json!({"stream": "messages"})).await;
        assert_within_budget(&result);
        let mark = result.text.lines().find(|line| line.starts_with("record[0] truncated")).unwrap();
        assert!(mark.contains(call), "{mark}");
    }
}

/// S1-R4: related records that were expanded are cut under their own ids.
#[tokio::test]
async fn cuts_in_related_records_name_the_related_record() {
    let related = json!({"object": "record", "id": "c1", "stream": "comments", "connection_id": "cin_a",
        "data": {"body": PROSE.repeat(2_000)}, "emitted_at": "2026-01-01T00:00:00Z"});
    let mut row = record(0, json!({"title": "short"}));
    row["expanded"] = json!({"comments": {"object": "list", "has_more": false, "data": [related]}});
    let fake = Fake::always(json!({"data": [row]})).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert_within_budget(&result);
    let cut = &result.structured["truncated_fields"][0];
    assert_eq!(cut["read"]["args"]["id"], "cin_a/comments:c1");
    assert_eq!(cut["read"]["args"]["field_path"], "body");
}

/// A server that ignores `limit` keeps its data whole, and is not asked again.
#[tokio::test]
async fn a_server_without_limits_keeps_its_data_whole() {
    let rows: Vec<Value> = (0..500).map(|n| json!({"id": format!("o{n}")})).collect();
    let fake = Fake::always(json!({ "data": rows })).await;
    let mut host = Host::connect(&fake).await;
    let result =
        host.call("query_records", json!({"stream": "orders", "fields": ["id"], "limit": 100})).await;
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(result.structured["data"]["data"].as_array().unwrap().len(), 500);
    assert!(result.structured.to_string().len() < 48_000, "{}", result.structured.to_string().len());
    assert!(result.text.contains("500 record(s)") && crate::budget::tokens(&result.text) <= 2_500);
    let fat: Vec<Value> = (0..10).map(|n| record(n, json!({"text": PROSE.repeat(40)}))).collect();
    let fake = Fake::always(json!({ "data": fat })).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages", "limit": 2})).await;
    assert_eq!(result.structured["data"], json!({ "data": fat }));
}

/// S1-R4: dense scripts and digits cost more tokens a character, and still fit.
#[tokio::test]
async fn dense_text_fits_too() {
    let texts =
        ["記録された会話の全文をここに示します。", "0f8a-44c1-9b07-77e2 ", "Ω≈ç√∫˜µ≤ ", "🦊🐻\u{1F9E1} "];
    for text in texts {
        let text = text.repeat(60);
        let fake = Fake::start(pages(50, move |_| json!({"text": text}))).await;
        let mut host = Host::connect(&fake).await;
        let result = host.call("query_records", json!({"stream": "messages", "limit": 50})).await;
        assert_within_budget(&result);
    }
}
