//! Ids: complete, self-contained where they can be, and never handles where they cannot.

use pdpp_evidence::RecordHandle;
use serde_json::{Value, json};

use super::{PREVIEW, calls, first_id, hit, hits, proven};

fn id(result: &crate::support::CallResult, n: usize) -> &str {
    result.structured["results"][n]["id"].as_str().expect("an id")
}

/// S4-R1-S1: hits of several connections embed their own, in text and results.
#[tokio::test]
async fn each_hit_embeds_its_own_connection() {
    let result = hits(&[hit("cin_aaa", "orders", "o1"), hit("cin_bbb", "orders", "o9")]).await;
    for (n, (id, connection)) in
        [("cin_aaa/orders:o1", "cin_aaa"), ("cin_bbb/orders:o9", "cin_bbb")].iter().enumerate()
    {
        assert!(result.text.contains(&format!("{}. id={id} ", n + 1)), "{}", result.text);
        assert_eq!(result.structured["results"][n]["id"], *id);
        assert_eq!(result.structured["results"][n]["connection_id"], *connection);
    }
    assert!(!result.text.contains("connection_id="), "{}", result.text);
}

/// S4-R1: an id of 260 characters is printed whole.
#[tokio::test]
async fn a_long_id_is_never_cut() {
    let key = "k".repeat(260 - "cin_s1/messages:".len());
    let result = hits(&[proven("cin_s1", "messages", &key, PREVIEW)]).await;
    let whole = format!("cin_s1/messages:{key}");
    assert_eq!(whole.len(), 260);
    assert!(result.text.contains(&format!("1. id={whole} ")), "{}", result.text);
    assert!(result.text.contains(&format!("first_fetch_id={whole} ")), "{}", result.text);
    assert_eq!(id(&result, 0), whole);
}

/// S4-R1: an id that is only a URL is kept, not wrapped, and not called a handle.
#[tokio::test]
async fn a_url_is_not_wrapped() {
    let result =
        hits(&[json!({"url": "https://shop.test/o2", "connection_id": "cin_a", "title": "Order 2"})]).await;
    assert_eq!(id(&result, 0), "https://shop.test/o2");
    assert!(result.text.contains("1. id=https://shop.test/o2 fetchable=false "), "{}", result.text);
    assert!(!result.text.contains("first_fetch_id") && !result.text.contains("`fetch`"), "{}", result.text);
    assert!(result.structured.get("content_ladder").is_none());
}

/// S4-R1: a connection that does not survive the grammar is printed beside the id.
#[tokio::test]
async fn a_connection_with_a_colon_stands_beside_the_id() {
    let mut odd = proven("a:b", "orders", "o1", PREVIEW);
    odd.as_object_mut().unwrap().remove("result_id");
    let result = hits(&[odd]).await;
    assert_eq!(id(&result, 0), "orders:o1");
    assert!(result.text.contains("1. id=orders:o1 connection_id=\"a:b\" "), "{}", result.text);
    let wanted = json!({"connection_id": "a:b", "stream": "orders", "record_id": "o1", "field_path": "text",
        "offset_chars": 268, "limit_chars": 4096});
    assert_eq!(calls(&result.text)[0], ("read_record_field".to_owned(), wanted));
}

#[tokio::test]
async fn a_hit_without_any_id_is_numbered_and_not_wrapped() {
    let result = hits(&[json!({"title": "x", "connection_id": "cin_a"})]).await;
    assert_eq!(id(&result, 0), "result:1");
    assert!(!result.text.contains("first_fetch_id"), "{}", result.text);
}

/// S0-R5-S2: a parseable `record_uri` becomes the self-contained id, in either encoding.
#[tokio::test]
async fn a_record_uri_is_shown_as_the_plain_id() {
    let canonical = RecordHandle {
        connection_id: Some("cin_slack".to_owned()),
        stream: "messages".to_owned(),
        record_id: "m1".to_owned(),
    };
    for uri in ["pdpp://record/cin_slack%2Fmessages%3Am1".to_owned(), canonical.uri()] {
        for name in ["record_uri", "recordUri", "id"] {
            let excerpts = json!([{"field_path": "text", "preview_text": PREVIEW}]);
            let result = hits(&[json!({ name: uri, "evidence_excerpts": excerpts })]).await;
            assert_eq!(id(&result, 0), "cin_slack/messages:m1");
            assert_eq!(first_id(&result.text), "cin_slack/messages:m1");
            assert_eq!(calls(&result.text)[0].1["id"], "cin_slack/messages:m1");
            for shown in
                [&json!(result.text), &result.structured["results"], &result.structured["content_ladder"]]
            {
                assert!(!shown.to_string().contains("pdpp://record/"), "{shown}");
            }
        }
    }
}

/// Evidence of a hit that no tool opens is shown, but its address is not called an id.
#[tokio::test]
async fn evidence_without_a_handle_does_not_pass_for_one() {
    let page = json!({"url": "https://shop.test/o2", "matches": [{"path": "text", "text": "Hyperlane"}]});
    let result = hits(&[page, hit("cin_s1", "messages", "m1")]).await;
    assert!(
        result.text.contains("1. result=1 ref=https://shop.test/o2 field_path=text snippet="),
        "{}",
        result.text
    );
    assert_eq!(first_id(&result.text), "cin_s1/messages:m1");
}

/// A key outside the plain grammar gets the canonical URI, which every tool takes.
#[tokio::test]
async fn keys_outside_the_grammar_get_a_handle_that_reads_back() {
    for key in ["octo/hello", "two words", "bidi\u{202E}key", "line\u{2028}end"] {
        let foreign = json!({"stream": "repos", "record_key": key, "connection_id": "cin_g"});
        let result = hits(&[foreign]).await;
        let read = RecordHandle::parse(id(&result, 0)).unwrap();
        assert_eq!((read.connection_id.as_deref(), read.record_id.as_str()), (Some("cin_g"), key));
        assert_eq!(first_id(&result.text), id(&result, 0));
        assert!(!result.text.contains('\u{202E}') && !result.text.contains('\u{2028}'));
    }
}

#[tokio::test]
async fn odd_keys_without_connection_read_back_or_are_no_handles() {
    for (key, fetchable) in
        [("o 1", true), ("o\u{202E}1", true), ("a/b", false), ("..", false), ("a\\b", false)]
    {
        let result = hits(&[json!({"stream": "orders", "record_id": key})]).await;
        assert_eq!(result.text.contains("first_fetch_id="), fetchable, "{}", result.text);
        if fetchable {
            assert_eq!(RecordHandle::parse(id(&result, 0)).unwrap().record_id, key);
        }
    }
}

/// An id that no tool takes, because it is longer than any argument, is no handle.
#[tokio::test]
async fn an_endless_id_is_no_handle() {
    let result =
        hits(&[json!({"stream": "orders", "record_id": "x".repeat(100_000), "connection_id": "cin_a"})])
            .await;
    assert!(!result.text.contains("first_fetch_id="));
    assert!(result.text.len() < 8_000);
}

/// `first_fetch_id` is the first id that `fetch` takes, stands before `source_mix`, and ends with a space.
#[tokio::test]
async fn the_first_handle_is_named_in_the_summary() {
    let result = hits(&[json!({"url": "https://shop.test/o2"}), hit("cin_s1", "messages", "m1")]).await;
    assert_eq!(first_id(&result.text), "cin_s1/messages:m1");
    assert!(result.text.contains(
        "search: 2 hit(s). first_fetch_id=cin_s1/messages:m1 source_mix={connection_id:cin_s1,connector_key:slack,count:1}."
    ), "{}", result.text);
}

/// The server's own handle wins over its parts; one that does not parse is kept as it is.
#[tokio::test]
async fn the_result_id_of_the_server_wins() {
    let odd =
        json!({"result_id": "pdpp://record/cin_a%2Forders%3Ao1", "stream": "other", "record_key": "zz"});
    let own =
        json!({"result_id": "private-17", "stream": "orders", "record_key": "o2", "connection_id": "cin_a"});
    let whole = json!({"id": "cin_a/orders:o3", "stream": "orders"});
    let legacy = json!({"id": "orders:o4", "stream": "orders", "connector_instance_id": "cin_a"});
    let result = hits(&[odd, own, whole, legacy]).await;
    let ids: Vec<&str> = (0..4).map(|n| id(&result, n)).collect();
    assert_eq!(ids, ["cin_a/orders:o1", "private-17", "cin_a/orders:o3", "cin_a/orders:o4"]);
    assert!(result.text.contains("2. id=private-17 fetch_id=cin_a/orders:o2 "), "{}", result.text);
}

#[tokio::test]
async fn titles_and_urls_come_from_the_hit() {
    let mut own = hit("cin_s1", "messages", "m1");
    own["subject"] = json!("Re: bridge");
    let bare = json!({"stream": "orders", "record_key": "a b", "connection_id": "cin_a", "emitted_at": "2026-01-02",
        "data": {"sent_at": "2026-01-01"}, "url": "javascript:alert(1)", "snippet": "never the title"});
    let result = hits(&[hit("cin_s1", "messages", "m0"), own, bare]).await;
    let entry = |n: usize, name: &str| result.structured["results"][n][name].as_str().unwrap().to_owned();
    let provider = result.structured["provider_url"].as_str().unwrap();
    assert_eq!(entry(0, "title"), "Acme Slack / messages / 2026-04-20T14:23:13Z");
    assert_eq!(entry(0, "url"), format!("{provider}/v1/streams/messages/records/m0?connection_id=cin_s1"));
    assert_eq!(entry(1, "title"), "Re: bridge");
    assert_eq!(entry(2, "title"), "cin_a / orders / 2026-01-01");
    assert_eq!(entry(2, "url"), format!("{provider}/v1/streams/orders/records/a%20b?connection_id=cin_a"));
    assert_ne!(result.structured["results"], Value::Null);
}
