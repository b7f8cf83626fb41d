//! Foreign servers: hits in every place and shape that is known, and answers that are no answers.

use pdpp_mcp::{ResultDetail, Settings};
use serde_json::{Value, json};

use super::{PREVIEW, hit, list, proven, search};
use crate::support::{Fake, Host};

#[tokio::test]
async fn hits_are_found_in_every_known_place() {
    let one = json!([{"stream": "orders", "record_id": "o1", "source": {"connection_id": "cin_a",
        "connector_key": "shop", "display_name": "My shop"}}]);
    for body in [
        json!({"results": one}),
        json!({"hits": one}),
        json!({"data": one}),
        json!({"data": {"results": one}}),
        json!({"data": {"data": one, "has_more": true, "next_cursor": "p2"}}),
        one.clone(),
    ] {
        let result = search(body.clone(), json!({"q": "x"})).await;
        let entry = &result.structured["results"][0];
        assert_eq!(entry["id"], "cin_a/orders:o1", "{body}");
        assert_eq!((&entry["connector_key"], &entry["display_name"]), (&json!("shop"), &json!("My shop")));
        assert!(result.text.contains("connector_key=shop stream=orders"), "{}", result.text);
        assert_eq!(result.structured["data"], body);
        assert_eq!(
            result.text.contains("has_more=true. next_cursor=\"p2\"."),
            body["data"]["has_more"] == true
        );
    }
}

#[tokio::test]
async fn any_json_is_survived() {
    for body in [
        json!(null),
        json!(7),
        json!("text"),
        json!({}),
        json!({"results": "none"}),
        json!({"data": [null, 1, "x", [], {}, {"stream": 5, "id": {}}, {"evidence_excerpts": [1, {"text": 2}]}]}),
        json!({"hits": [{"id": true, "snippet": [], "source": "x", "matches": {"text": 1}, "read": 9}], "meta": []}),
        json!({"results": [], "meta": {"recall": 5, "index": "behind", "corrected": {}, "warnings": [1, {}], "count": -1}}),
    ] {
        let result = search(body.clone(), json!({"q": "x"})).await;
        assert!(!result.is_error && result.structured["results"].is_array(), "{body}");
        assert_eq!(result.structured["data"], body);
    }
}

/// S4-R2: `data` is the canonical envelope, `results` the flat projection, and the text is no JSON dump.
#[tokio::test]
async fn the_envelope_is_kept_whole() {
    let body = list(&[proven("cin_s1", "messages", "m1", PREVIEW), hit("cin_s1", "messages", "m2")]);
    let result = search(body.clone(), json!({"q": "x"})).await;
    assert_eq!(result.structured["data"], body);
    assert_eq!(result.structured["request_id"], "req_1");
    assert_eq!(result.structured["results"].as_array().unwrap().len(), 2);
    assert!(
        result.text.contains("1. id=cin_s1/messages:m1 connector_key=slack stream=messages"),
        "{}",
        result.text
    );
    assert!(!result.text.contains("{\n") && !result.text.contains("\"object\""), "{}", result.text);
}

/// The compact setting gives the reference's shape: hits once, windows beside excerpts, plain arguments.
#[tokio::test]
async fn the_compact_setting_lists_the_hits_once() {
    let mut body = list(&[proven("cin_s1", "messages", "m1", PREVIEW)]);
    body["data"][0]["snippet"] = json!({"field": "text", "text": "Hyperlane"});
    let fake = Fake::always(body).await;
    let settings = Settings { detail: ResultDetail::Compact, ..Settings::default() };
    let result = Host::with_settings(&fake, settings).await.call("search", json!({"q": "Hyperlane"})).await;
    let data = &result.structured["data"];
    assert!(data.get("data").is_none());
    assert_eq!(
        (&data["result_count"], &data["results_ref"]),
        (&json!(1), &json!("structuredContent.results"))
    );
    assert_eq!(data["meta"]["recall"]["complete"], true);
    let entry = &result.structured["results"][0];
    assert_eq!(entry["snippet"], "Hyperlane");
    let read =
        json!({"tool": "read_record_field", "args": {"id": "cin_s1/messages:m1", "field_path": "text"}});
    assert_eq!(
        (&entry["match_windows"][0]["text"], &entry["match_windows"][0]["read"]),
        (&json!(PREVIEW), &read)
    );
    assert_eq!(entry["evidence_excerpts"][0]["read"], read);
}

#[tokio::test]
async fn compact_envelopes_keep_their_other_members() {
    for (body, wanted) in [
        (
            json!({"hits": [{}], "total": 4}),
            json!({"total": 4, "result_count": 1, "results_ref": "structuredContent.results"}),
        ),
        (
            json!({"data": {"results": [], "x": 1}}),
            json!({"data": {"x": 1, "result_count": 0, "results_ref": "structuredContent.results"}}),
        ),
        (json!([{}]), json!({"result_count": 1, "results_ref": "structuredContent.results"})),
        (Value::Null, Value::Null),
    ] {
        let fake = Fake::always(body).await;
        let settings = Settings { detail: ResultDetail::Compact, ..Settings::default() };
        let result = Host::with_settings(&fake, settings).await.call("search", json!({"q": "x"})).await;
        assert_eq!(result.structured["data"], wanted);
    }
}

/// A sealed cursor looks like base64; it is a handle and stays.
#[tokio::test]
async fn a_long_cursor_is_not_taken_for_bytes() {
    let cursor = "QUJDRGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU2Nzg5Kysv".repeat(8);
    let mut body = list(&[hit("cin_s1", "messages", "m1")]);
    body["next_cursor"] = json!(cursor);
    let result = search(body, json!({"q": "x"})).await;
    assert_eq!(result.structured["data"]["next_cursor"], cursor);
    assert!(result.text.contains(&format!("next_cursor=\"{cursor}\".")), "{}", result.text);
    assert!(result.structured.get("binary_redacted").is_none());
}
