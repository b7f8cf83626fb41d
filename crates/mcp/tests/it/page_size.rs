//! Page sizes are learnt: what did not fit once is asked for in the right size the next time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pdpp_client::{Bearer, Client, FixedBearer, Limits, ProviderUrl};
use pdpp_mcp::{Adapter, Settings};
use serde_json::{Value, json};

use crate::budget::assert_within_budget;
use crate::samples::PROSE;
use crate::support::{CallResult, Fake, Host, Reply, Seen};

/// A server of a thousand records (or hits) that say `PROSE` so many times, which pages by `limit` and serves 25
/// when it is given none.
fn pages(times: &Arc<AtomicUsize>) -> impl Fn(&Seen) -> Reply + Send + Sync + use<> {
    let times = Arc::clone(times);
    move |seen| {
        let number = |name: &str| seen.param(name).and_then(|text| text.parse::<usize>().ok());
        let start = number("cursor").unwrap_or(0);
        let end = (start + number("limit").unwrap_or(25)).min(1_000);
        let text = PROSE.repeat(times.load(Ordering::Relaxed));
        let row = |index: usize| {
            json!({"object": "record", "id": format!("m{index}"), "stream": "messages", "data": {"n": index, "text": text},
                "emitted_at": "2026-01-05T00:00:00Z", "connection_id": "cin_a",
                "result_id": format!("cin_a/messages:m{index}")})
        };
        let mut body = json!({"object": "list", "data": (start..end).map(row).collect::<Vec<_>>(), "has_more": end < 1_000});
        if end < 1_000 {
            body["next_cursor"] = end.to_string().into();
        }
        Reply::json(&body)
    }
}

fn rows(result: &CallResult) -> usize {
    result.structured["data"]["data"].as_array().unwrap().len()
}

fn limits(fake: &Fake) -> Vec<Option<String>> {
    let limits = fake.seen().iter().map(|seen| seen.param("limit").map(str::to_owned)).collect();
    fake.forget();
    limits
}

fn adapter(fake: &Fake) -> Adapter {
    let bearer = Arc::new(FixedBearer(Bearer::new("client-token-of-the-tests")));
    let url = ProviderUrl::parse(&fake.url).unwrap();
    Adapter::new(Client::http(&url, bearer, Limits::default()).unwrap(), Settings::default())
}

/// S1-R4: only the first page that does not fit costs a second request, and each shortened page says so.
#[tokio::test]
async fn the_second_page_is_asked_for_in_the_size_that_fits() {
    let fake = Fake::start(pages(&Arc::new(AtomicUsize::new(20)))).await;
    let mut host = Host::connect(&fake).await;
    let mut cursor = Value::Null;
    for call in 0..6 {
        let result =
            host.call("query_records", json!({"stream": "messages", "limit": 50, "cursor": cursor})).await;
        assert_within_budget(&result);
        let asked = limits(&fake).len();
        assert_eq!(asked, if call == 0 { 2 } else { 1 }, "call {call}");
        let served = rows(&result);
        assert!(result.text.contains(&format!("requested=50 served={served}")), "{}", result.text);
        assert_eq!(
            (&result.structured["requested"], &result.structured["served"]),
            (&json!(50), &json!(served))
        );
        cursor = result.structured["data"]["next_cursor"].clone();
        assert!(result.text.contains(&format!("next_cursor={cursor}")), "{}", result.text);
    }
}

/// Without a limit the server's own page is what was wanted.
#[tokio::test]
async fn a_page_without_a_limit_is_learnt_too() {
    let fake = Fake::start(pages(&Arc::new(AtomicUsize::new(20)))).await;
    let mut host = Host::connect(&fake).await;
    let first = host.call("query_records", json!({"stream": "messages"})).await;
    assert_eq!(limits(&fake), [None, Some(rows(&first).to_string())]);
    let second = host.call("query_records", json!({"stream": "messages"})).await;
    assert_eq!(limits(&fake).len(), 1);
    for result in [&first, &second] {
        assert_within_budget(result);
        assert!(result.text.contains(&format!("requested=25 served={}", rows(result))), "{}", result.text);
    }
    let few = host.call("query_records", json!({"stream": "messages", "limit": 2})).await;
    assert_eq!(limits(&fake), [Some("2".to_owned())], "never more than was requested");
    assert!(rows(&few) == 2 && !few.text.contains("served="), "{}", few.text);
    host.call("query_records", json!({"stream": "messages", "fields": ["n"]})).await;
    assert_eq!(limits(&fake)[0], None, "another projection is another page");
}

#[tokio::test]
async fn pages_grow_again_when_rows_get_smaller() {
    let times = Arc::new(AtomicUsize::new(40));
    let fake = Fake::start(pages(&times)).await;
    let mut host = Host::connect(&fake).await;
    let small = rows(&host.call("query_records", json!({"stream": "messages", "limit": 25})).await);
    times.store(1, Ordering::Relaxed);
    fake.forget();
    let mut served = small;
    for _ in 0..6 {
        let result = host.call("query_records", json!({"stream": "messages", "limit": 25})).await;
        assert_within_budget(&result);
        assert!(rows(&result) >= served, "{} < {served}", rows(&result));
        served = rows(&result);
    }
    assert_eq!(served, 25);
    assert_eq!(limits(&fake).len(), 6, "growing costs no request");
    times.store(40, Ordering::Relaxed);
    let result = host.call("query_records", json!({"stream": "messages", "limit": 25})).await;
    assert_within_budget(&result);
    assert!(rows(&result) <= small);
}

/// The last page is all there is, not a shortened one.
#[tokio::test]
async fn the_end_of_a_list_is_not_called_shortened() {
    let fake = Fake::start(pages(&Arc::new(AtomicUsize::new(20)))).await;
    let mut host = Host::connect(&fake).await;
    host.call("query_records", json!({"stream": "messages", "limit": 50})).await;
    let last = host.call("query_records", json!({"stream": "messages", "limit": 50, "cursor": "998"})).await;
    assert!(rows(&last) == 2 && !last.text.contains("served="), "{}", last.text);
    assert!(last.structured.get("requested").is_none());
}

/// S3-R1-S1: where no cursor reaches the rest, each call says so, and fewer fields reach it as told.
#[tokio::test]
async fn records_that_no_cursor_reaches_are_told_each_time() {
    for bare in [true, false] {
        let fake = Fake::start(move |seen: &Seen| {
            let limit = seen.param("limit").map_or(25, |limit| limit.parse().unwrap());
            let text = if seen.param("fields") == Some("n") { json!(null) } else { json!(PROSE.repeat(20)) };
            let row = |n: usize| {
                json!({"object": "record", "id": format!("m{n}"), "connection_id": "cin_a", "stream": "messages",
                    "data": {"n": n, "text": text}, "emitted_at": "2026-01-05T00:00:00Z"})
            };
            let rows: Vec<Value> = (0..limit).map(row).collect();
            Reply::json(&if bare { json!(rows) } else { json!({"data": rows, "has_more": false}) })
        })
        .await;
        let mut host = Host::connect(&fake).await;
        for given in [json!({"stream": "messages"}), json!({"stream": "messages", "limit": 30})] {
            for _ in 0..2 {
                let result = host.call("query_records", given.clone()).await;
                assert_within_budget(&result);
                let wanted = given["limit"].as_u64().unwrap_or(25);
                let told = format!(
                    "requested={wanted} served={} (a larger page does not fit and this server gives no cursor; take fewer fields",
                    result.structured["served"]
                );
                assert!(result.text.contains(&told), "{}", result.text);
            }
        }
        let all = host.call("query_records", json!({"stream": "messages", "fields": ["n"]})).await;
        assert!(all.text.contains(": 25 record(s).") && !all.text.contains("served="), "{}", all.text);
    }
}

/// A server over HTTP makes an adapter for each request; they share what pages cost, each bearer its own.
#[tokio::test]
async fn what_pages_cost_outlives_one_request_and_stays_with_its_bearer() {
    let fake = Fake::start(pages(&Arc::new(AtomicUsize::new(20)))).await;
    let shared = adapter(&fake);
    for (bearer, requests) in [("ana", 2), ("ana", 1), ("bruno", 2), ("ana", 1)] {
        let mut host = Host::before(shared.with_bearer(Bearer::new(bearer))).await;
        let result = host.call("query_records", json!({"stream": "messages", "limit": 25})).await;
        assert_within_budget(&result);
        assert_eq!(limits(&fake).len(), requests, "{bearer}");
    }
}

/// S4-R2-S2: a search learns too, and every page still says what was requested and served.
#[tokio::test]
async fn a_search_is_asked_once_after_the_first() {
    let words = "Some words that surround the place in question, and others that do not matter, ".repeat(2);
    let fake = Fake::start(move |seen: &Seen| {
        let limit = seen.param("limit").and_then(|limit| limit.parse::<usize>().ok()).unwrap_or(25);
        let hit = |n: usize| {
            json!({"object": "search_result", "stream": "messages", "record_key": format!("m{n:04}"),
                "result_id": format!("cin_01hx7m2v9k3q8r5t/messages:m{n:04}"), "connector_id": "slack",
                "connection_id": "cin_01hx7m2v9k3q8r5t", "display_name": "Acme Slack", "evidence": "lexical_match",
                "notes": words.repeat(9),
                "evidence_excerpts": [{"field_path": "text", "preview_text": format!("we use <mark>Hyperlane</mark> {words}"),
                    "truncated": true, "provenance": "lexical_match"}]})
        };
        Reply::json(&json!({"data": (0..limit).map(hit).collect::<Vec<_>>(), "has_more": true, "next_cursor": "p2"}))
    })
    .await;
    let mut host = Host::connect(&fake).await;
    for (call, q) in ["Hyperlane", "bridge", "Hyperlane bridge", "funds"].into_iter().enumerate() {
        let result = host.call("search", json!({"q": q, "limit": 10})).await;
        assert_within_budget(&result);
        assert_eq!(limits(&fake).len(), if call == 0 { 2 } else { 1 }, "{q}");
        let served = rows(&result);
        assert!(
            served < 10 && result.text.contains(&format!("requested=10 served={served}.")),
            "{}",
            result.text
        );
        assert!(result.text.contains("next_cursor=\"p2\""));
    }
    host.call("search", json!({"q": "funds", "limit": 3})).await;
    assert_eq!(limits(&fake), [Some("3".to_owned())]);
}
