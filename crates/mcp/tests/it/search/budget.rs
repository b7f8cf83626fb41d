//! Budgets: a result costs what hosts show of one, whatever the records hold, and says what it left for later.

use pdpp_mcp::{ResultDetail, Settings};
use serde_json::{Value, json};

use super::{hit, list, proven, tokens};
use crate::support::{CallResult, Fake, Host, Reply, Seen};

const CONTENT: usize = 2_500;
const RESULT: usize = 9_000;

/// A server with so many hits, which keeps to `limit` and whose cursor is the next position.
async fn paged(hits: Vec<Value>) -> Fake {
    Fake::start(move |seen: &Seen| {
        let number = |name: &str| seen.param(name).and_then(|text| text.parse::<usize>().ok());
        let start = number("cursor").unwrap_or(0).min(hits.len());
        let end = (start + number("limit").unwrap_or(25)).min(hits.len());
        let mut body = list(&hits[start..end]);
        if end < hits.len() {
            body["has_more"] = json!(true);
            body["next_cursor"] = json!(end.to_string());
        }
        Reply::json(&body)
    })
    .await
}

fn within(result: &CallResult) {
    let text = tokens(&result.text);
    let all = text + tokens(&result.structured.to_string());
    assert!(text <= CONTENT, "{text} tokens of text: {}", result.text);
    assert!(all <= RESULT, "{all} tokens in all");
}

fn long(kind: &str, n: usize) -> Value {
    let words = match kind {
        "ascii" => "Some words that surround the place in question, and others. ".repeat(12),
        "cjk" => "我们决定使用这座桥来转移资金，下周五之前完成。".repeat(30),
        "emoji" => "👩🏽‍🚀🏳️‍🌈❤️‍🔥🙋‍♀️👩‍👩‍👧🚀 ".repeat(25),
        _ => "кто-то перевёл деньги через мост; ".repeat(20),
    };
    let preview = format!("{words} <mark>Hyperlane</mark> {words}");
    proven("cin_01hx7m2v9k3q8r5t", "messages", &format!("C08F2KQ1:1733441013.{n:06}"), &preview)
}

/// S4-R2-S2: many hits with long windows stay within the budget, every served hit has its id line, and paging by
/// the printed cursor meets every hit once.
#[tokio::test]
async fn long_windows_of_any_script_fit() {
    for kind in ["ascii", "cjk", "emoji", "cyrillic"] {
        let hits: Vec<Value> = (0..25).map(|n| long(kind, n)).collect();
        let fake = paged(hits.clone()).await;
        let mut host = Host::connect(&fake).await;
        let mut met = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let result = host.call("search", json!({"q": "Hyperlane", "limit": 25, "cursor": cursor})).await;
            within(&result);
            let served = result.structured["results"].as_array().unwrap();
            assert_eq!(result.structured["data"]["data"].as_array().unwrap().len(), served.len());
            assert!(
                result.text.contains(&format!("requested=25 served={}.", served.len())),
                "{}",
                result.text
            );
            for (n, entry) in served.iter().enumerate() {
                let id = entry["id"].as_str().unwrap();
                assert!(result.text.contains(&format!("\n{}. id={id} ", n + 1)), "{}", result.text);
                met.push(id.to_owned());
            }
            assert!(result.text.contains("<mark>Hyperlane</mark>"), "{}", result.text);
            cursor = result.structured["data"]["next_cursor"].clone();
            let Some(next) = cursor.as_str() else { break };
            assert!(result.text.contains(&format!("next_cursor=\"{next}\".")));
        }
        let all: Vec<&str> = hits.iter().map(|hit| hit["result_id"].as_str().unwrap()).collect();
        assert_eq!(met, all, "{kind}");
    }
}

fn ordinary() -> Vec<Value> {
    let words = "Some words that surround the place in question, and others that do not matter, ";
    let preview = format!("…{words}we use <mark>Hyperlane</mark> {words}and more…");
    (0..25).map(|n| proven("cin_01hx7m2v9k3q8r5t", "messages", &format!("m{n:04}"), &preview)).collect()
}

/// Ordinary hits of our own server: a page that does not fit is asked for once more, no oftener.
#[tokio::test]
async fn ordinary_hits_cost_at_most_one_repeat() {
    let fake = paged(ordinary()).await;
    let result = Host::connect(&fake).await.call("search", json!({"q": "Hyperlane"})).await;
    within(&result);
    let served = result.structured["results"].as_array().unwrap().len();
    assert!(served >= 7, "{served}");
    assert!(fake.seen().len() <= 2);
}

/// Without the envelope's copy, ten hits fit at once.
#[tokio::test]
async fn compact_results_hold_ten_hits() {
    let fake = paged(ordinary()).await;
    let settings = Settings { detail: ResultDetail::Compact, ..Settings::default() };
    let result = Host::with_settings(&fake, settings).await.call("search", json!({"q": "Hyperlane"})).await;
    within(&result);
    assert_eq!((result.structured["results"].as_array().unwrap().len(), fake.seen().len()), (10, 1));
}

/// A server that does not page cannot be asked for the rest, so the text says how many are missing, each time.
#[tokio::test]
async fn hits_that_no_cursor_reaches_are_counted() {
    let hits = ordinary();
    let fake = Fake::start(move |seen: &Seen| {
        let limit = seen.param("limit").and_then(|limit| limit.parse().ok()).unwrap_or(25);
        Reply::json(&list(&hits[..limit]))
    })
    .await;
    let mut host = Host::connect(&fake).await;
    for _ in 0..3 {
        let result = host.call("search", json!({"q": "Hyperlane", "mode": "hybrid"})).await;
        within(&result);
        let missing = 10 - result.structured["results"].as_array().unwrap().len();
        assert!(result.text.contains(&format!("{missing} more hit(s) did not fit")), "{}", result.text);
    }
    assert_eq!(fake.seen().len(), 6, "one repeat each");
}

/// The size that a server's pages taught is no reason to lose hits when it answers without a cursor.
#[tokio::test]
async fn a_learnt_size_hides_no_hits_where_the_cursor_is_missing() {
    let hits = ordinary();
    let fake = Fake::start(move |seen: &Seen| {
        let limit = seen.param("limit").and_then(|limit| limit.parse().ok()).unwrap_or(25);
        let mut body = list(&hits[..limit]);
        if seen.param("q") == Some("Hyperlane") {
            body["next_cursor"] = json!("p2");
        }
        Reply::json(&body)
    })
    .await;
    let mut host = Host::connect(&fake).await;
    host.call("search", json!({"q": "Hyperlane"})).await;
    let result = host.call("search", json!({"q": "bridge"})).await;
    within(&result);
    let missing = 10 - result.structured["results"].as_array().unwrap().len();
    assert!(result.text.contains(&format!("{missing} more hit(s) did not fit")), "{}", result.text);
}

/// Ids are never shortened to make room: the page is.
#[tokio::test]
async fn long_ids_make_the_page_smaller() {
    let hits: Vec<Value> = (0..10)
        .map(|n| proven("cin_a", "messages", &format!("{n}{}", "x7Kq".repeat(60)), "<mark>Hyperlane</mark>"))
        .collect();
    let fake = paged(hits).await;
    let result = Host::connect(&fake).await.call("search", json!({"q": "Hyperlane"})).await;
    within(&result);
    let served = result.structured["results"].as_array().unwrap();
    assert!(!served.is_empty() && served.len() < 10);
    for entry in served {
        assert!(result.text.contains(&format!(". id={} ", entry["id"].as_str().unwrap())));
    }
}

/// S4-R2-S2: a server that ignores `limit` keeps its envelope whole, and the text stays short and says so.
#[tokio::test]
async fn an_ignored_limit_is_told() {
    let hits: Vec<Value> = (0..200)
        .map(|n| {
            let mut hit = hit("cin_s1", "messages", &format!("m{n}"));
            hit["snippet"] = json!("lorem ipsum dolor sit amet ".repeat(18));
            hit
        })
        .collect();
    let body = list(&hits);
    let fake = Fake::always(body.clone()).await;
    let result = Host::connect(&fake).await.call("search", json!({"q": "lorem"})).await;
    assert!(tokens(&result.text) <= CONTENT);
    assert_eq!(result.structured["data"], body);
    assert_eq!(result.structured["results"].as_array().unwrap().len(), 10);
    assert!(
        result.text.contains("search: 200 hit(s).") && result.text.contains("ignored limit=10"),
        "{}",
        result.text
    );
    assert_eq!(fake.seen().len(), 1);
}

/// When the smaller page is refused, as a grant for one use would, the page at hand is given.
#[tokio::test]
async fn a_refused_repeat_does_not_lose_the_page() {
    let hits: Vec<Value> = (0..10).map(|n| long("cjk", n)).collect();
    let fake = Fake::start(move |seen: &Seen| {
        if seen.param("limit") == Some("10") {
            Reply::json(&list(&hits))
        } else {
            Reply::error(403, "grant_consumed", "once")
        }
    })
    .await;
    let result = Host::connect(&fake).await.call("search", json!({"q": "Hyperlane"})).await;
    assert!(!result.is_error);
    assert_eq!(result.structured["results"].as_array().unwrap().len(), 10);
    assert!(result.text.contains("larger than results should be"), "{}", result.text);
}

/// One hit that is larger than the budget by itself is still served, with the reason.
#[tokio::test]
async fn one_oversized_hit_is_served() {
    let mut huge = long("cjk", 1);
    huge["notes"] = json!("字".repeat(20_000));
    let fake = paged(vec![huge.clone(), huge]).await;
    let result = Host::connect(&fake).await.call("search", json!({"q": "Hyperlane"})).await;
    assert_eq!(result.structured["results"].as_array().unwrap().len(), 1);
    assert!(tokens(&result.text) <= CONTENT);
    assert!(result.text.contains("larger than results should be"), "{}", result.text);
}
