//! Windows on one field.

use expect_test::expect;
use serde_json::Value;

use crate::world::World;

fn path(record: &str, query: &str) -> String {
    format!("/v1/streams/messages/records/{record}/field-window?{query}")
}

#[tokio::test]
async fn windows_join_to_the_whole_text() {
    let world = World::new().await;
    for record in ["x_emoji", "x_marks", "x_rtl", "x_cjk", "x_controls"] {
        let whole = world.get("client", &path(record, "field=text")).await.json();
        let (mut joined, mut offset) = (String::new(), 0);
        loop {
            let body = world
                .get("client", &path(record, &format!("field=text&offset_chars={offset}&limit_chars=3")))
                .await
                .json();
            let window = &body["window"];
            let text = window["text"].as_str().unwrap();
            let (start, end) =
                (window["start_chars"].as_u64().unwrap(), window["end_chars"].as_u64().unwrap());
            assert_eq!(end - start, text.chars().count() as u64);
            joined.push_str(text);
            match window["next_offset_chars"].as_u64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(joined, whole["window"]["text"], "{record}");
        assert_eq!(whole["window"]["complete"], true);
    }
}

#[tokio::test]
async fn a_query_opens_the_window_on_its_match() {
    let world = World::new().await;
    let query = "field=text&q=THIRD%20flowerpot&before_chars=10&after_chars=5";
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "field_window",
          "stream": "messages",
          "record_id": "x_long",
          "url": "/v1/streams/messages/records/x_long/field-window",
          "connection_id": "HOME",
          "connector_instance_id": "HOME",
          "field": {
            "path": "text",
            "type": "string"
          },
          "window": {
            "text": "under the third flowerpot.Rain",
            "total_chars": 20000,
            "start_chars": 10013,
            "end_chars": 10043,
            "limit_chars": 30,
            "complete": false,
            "has_more": true,
            "match_start_chars": 10023,
            "match_end_chars": 10038,
            "next_offset_chars": 10043,
            "previous_offset_chars": 9983
          },
          "links": {
            "self": "/v1/streams/messages/records/x_long/field-window?field=text&q=THIRD%20flowerpot&before_chars=10&after_chars=5"
          },
          "meta": {
            "count": {
              "kind": "none"
            },
            "warnings": []
          }
        }"#]].assert_eq(&world.get("client", &path("x_long", query)).await.show());
}

#[tokio::test]
async fn accents_and_case_do_not_hide_a_match() {
    let world = World::new().await;
    let body = world.get("client", &path("x_marks", "field=text&q=RESUME&limit_chars=8")).await.json();
    assert_eq!(body["window"]["match_start_chars"], 15);
}

#[tokio::test]
async fn dotted_paths_reach_into_objects_and_arrays() {
    let world = World::new().await;
    let text = async |field: &str| {
        let path = world.path(&path("x_nested", &format!("connection_id=HOME&{field}")));
        let body = world.get("owner", &path).await.json();
        (
            body["field"]["type"].as_str().unwrap_or("").to_owned(),
            body["window"]["text"].as_str().unwrap_or("").to_owned(),
        )
    };
    assert_eq!(text("field=meta.reply_to.quote").await, ("string".to_owned(), "a spade".to_owned()));
    assert_eq!(text("field_path=meta.client.0").await, ("string".to_owned(), "ios".to_owned()));
    assert_eq!(
        text("field=meta.reply_to").await,
        ("json".to_owned(), r#"{"id":"m_03","quote":"a spade"}"#.to_owned())
    );
}

#[tokio::test]
async fn a_window_longer_than_the_most_is_lowered_and_said() {
    let world = World::new().await;
    let body = world.get("client", &path("x_long", "field=text&limit_chars=99999")).await.json();
    assert_eq!(body["window"]["limit_chars"], 16_384);
    assert_eq!(body["meta"]["warnings"][0]["param"], "limit_chars");
    let past: Value = world.get("client", &path("x_long", "field=text&offset_chars=99999")).await.json();
    assert_eq!(past["window"]["start_chars"], 20_000);
    assert_eq!(past["window"]["text"], "");
}

#[tokio::test]
async fn every_fault_of_a_window_has_its_code() {
    let world = World::new().await;
    for (query, expected) in [
        ("", "400 invalid_field_path (field)"),
        ("field=", "400 invalid_field_path (field)"),
        ("field=text&field=id", "400 invalid_field_path (field)"),
        ("field=te%00xt", "400 invalid_field_path (field)"),
        ("field=text&field_path=id", "400 invalid_field_path (field)"),
        ("field=text&offset_chars=x", "400 invalid_window (offset_chars)"),
        ("field=text&offset_chars=-1", "400 invalid_window (offset_chars)"),
        ("field=text&limit_chars=0", "400 invalid_window (limit_chars)"),
        ("field=text&before_chars=5", "400 invalid_window"),
        ("field=text&q=a&before_chars=8193", "400 invalid_window"),
        ("field=text&q=a&offset_chars=1", "400 invalid_window (q)"),
        ("field=text&q=", "400 invalid_window (q)"),
        ("field=text&q=xyzzy", "404 query_not_found (q)"),
        ("field=stars", "403 field_not_granted (field)"),
        ("field=nonsense", "403 field_not_granted (field)"),
        ("field=text.deeper", "404 field_not_found (field)"),
        ("field=text&cursor=3&unheard_of=1", "200 ok"),
        ("field=text&offset_chars=&limit_chars=", "200 ok"),
    ] {
        assert_eq!(world.verdict("client", &path("m_20", query)).await, expected, "{query}");
    }
    for (record, field, expected) in [
        ("m_20", "stars", "422 field_not_text (field)"),
        ("x_base64", "text", "422 field_not_text (field)"),
        ("x_blob", "blob_ref", "422 field_not_text (field)"),
        ("x_bare", "text", "404 field_not_found (field)"),
        ("never", "text", "404 not_found"),
    ] {
        let path = world.path(&path(record, &format!("connection_id=HOME&field={field}")));
        assert_eq!(world.verdict("owner", &path).await, expected, "{record} {field}");
    }
}
