//! The text of a whole page, as a model reads it.

use expect_test::expect;
use serde_json::json;

use super::{PREVIEW, hit, list, proven, search};

/// S4-R2-S1: complete ids with every label, and how to use them.
#[tokio::test]
async fn a_page_reads_from_evidence_to_the_next_call() {
    let mut second = hit("cin_s1", "messages", "m7");
    second["title"] = json!("Re: bridge");
    second["snippet"] = json!("minutes attached");
    let mut body = list(&[proven("cin_s1", "messages", "m1", PREVIEW), second]);
    body["has_more"] = json!(true);
    body["next_cursor"] = json!("p2");
    let result = search(body, json!({"q": "Hyperlane", "limit": 2})).await;
    expect![[r#"
        Evidence excerpts:
        1. result=1 id=cin_s1/messages:m1 field_path=text snippet="…we move funds with <mark>Hyperlane</mark> or LayerZero, decision Friday…" complete=false read=read_record_field args={"id":"cin_s1/messages:m1","field_path":"text","offset_chars":268,"limit_chars":4096}
        search: 2 hit(s). has_more=true. next_cursor="p2". first_fetch_id=cin_s1/messages:m1 source_mix={connection_id:cin_s1,connector_key:slack,count:2}. requested=2 served=2. matches=2.
        Top results:
        1. id=cin_s1/messages:m1 connector_key=slack stream=messages title="Acme Slack / messages / 2026-04-20T14:23:13Z" display_name="Acme Slack"
        2. id=cin_s1/messages:m7 connector_key=slack stream=messages title="Re: bridge" display_name="Acme Slack" snippet="minutes attached"
        To open a hit, give its id unchanged to `fetch`; add connection_id only where one is printed on its own. More hits: the same call with cursor set to next_cursor. Structured output: structuredContent.results (hits), structuredContent.data (envelope)."#]].assert_eq(&result.text);
}

/// How to go on never stands in the line of the last hit.
#[tokio::test]
async fn hints_have_a_line_of_their_own() {
    let mut body = json!({"data": [{"title": "Foreign", "url": "https://shop.test/o2"}]});
    for cursor in [false, true] {
        if cursor {
            body["next_cursor"] = json!("p2");
        }
        let result = search(body.clone(), json!({"q": "x"})).await;
        let last = result.text.lines().last().unwrap();
        assert!(last.contains("Structured output:") && !last.contains("Foreign"), "{}", result.text);
        assert!(
            !result.text.lines().any(|line| line.contains("title=") && line.contains("More hits")),
            "{}",
            result.text
        );
    }
}
