//! Records in.

use axum::body::Body;
use expect_test::expect;
use pdpp_store::Catalogues as _;

use crate::world::{Answer, World, request};

const NOTES: &str = "/v1/ingest/notes?connector_id=notes";

#[tokio::test]
async fn each_line_gets_its_receipt() {
    let world = World::new().await;
    let deep = format!(r#"{{"key":"n_9","data":{{"id":"n_9","x":{}1{}}}}}"#, "[".repeat(70), "]".repeat(70));
    let lines = [
        r#"{"key":"n_90","data":{"id":"n_90","title":"New"},"emitted_at":"2026-02-28T10:00:00Z"}"#,
        "",
        "   ",
        r#"{"key":"n_90","data":{"id":"n_90","title":"New"},"emitted_at":"2026-02-28T10:00:00Z"}"#,
        "not json",
        r#"{"key":"n_91","data":{"id":"n_91","title":"a","title":"b"}}"#,
        r#"{"key":"n_91","data":{"id":"n_91","title":"\ud800"}}"#,
        r#"{"key":"n_92","data":{"id":"n_93"}}"#,
        r#"{"key":"n_94","data":{"id":"n_94","title":7}}"#,
        r#"{"key":"n_\u0000","data":{"id":"n_\u0000"}}"#,
        r#"{"data":{"id":"n_95"}}"#,
        r#"{"key":"n_95"}"#,
        r#"{"key":"n_95","data":{"id":"n_95"},"emitted_at":"soon"}"#,
        r#"{"key":"n_95","data":{"id":"n_95"},"op":"merge"}"#,
        &deep,
        r#"{"key":"n_00","op":"delete"}"#,
        r#"{"key":"never","op":"delete"}"#,
    ];
    let answer = world.ask("owner", "POST", NOTES, lines.join("\n")).await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "stream": "notes",
          "records_attempted": 15,
          "records_accepted": 4,
          "records_rejected": 11,
          "errors": [],
          "rejections": [
            {
              "input_index": 2,
              "code": "malformed_ndjson",
              "receipt_id": "rr_949782fe2079f322",
              "message": "The line is not one JSON object with each name once."
            },
            {
              "input_index": 3,
              "code": "malformed_ndjson",
              "receipt_id": "rr_1f3f49529674bcda",
              "message": "The line is not one JSON object with each name once."
            },
            {
              "input_index": 4,
              "code": "malformed_ndjson",
              "receipt_id": "rr_0960f52ff750dd42",
              "message": "The line is not one JSON object with each name once."
            },
            {
              "input_index": 5,
              "code": "schema_violation",
              "receipt_id": "rr_d86381d451d2f32f",
              "message": "the record breaks /required."
            },
            {
              "input_index": 6,
              "code": "schema_violation",
              "receipt_id": "rr_5a8b55d1525eba76",
              "message": "/title breaks /properties/title/type."
            },
            {
              "input_index": 7,
              "code": "invalid_record_identity",
              "receipt_id": "rr_6823e87b96963a19",
              "message": "The record key contains a control character."
            },
            {
              "input_index": 8,
              "code": "malformed_ndjson",
              "receipt_id": "rr_154cdb4f7855a1e8",
              "message": "`key` is missing."
            },
            {
              "input_index": 9,
              "code": "malformed_ndjson",
              "receipt_id": "rr_9bc4e436ab38db99",
              "message": "`data` is missing."
            },
            {
              "input_index": 10,
              "code": "malformed_ndjson",
              "receipt_id": "rr_1c178241a55ed2b3",
              "message": "`emitted_at` is not a time."
            },
            {
              "input_index": 11,
              "code": "malformed_ndjson",
              "receipt_id": "rr_ad0da1cd9a5793ad",
              "message": "`op` must be upsert or delete."
            },
            {
              "input_index": 12,
              "code": "too_deep",
              "receipt_id": "rr_8d8d9933df7c674c",
              "message": "The data is nested deeper than 64."
            }
          ]
        }"#]]
    .assert_eq(&answer.show());
    let again = world.ask("owner", "POST", NOTES, lines.join("\n")).await;
    assert_eq!(
        again.json()["rejections"],
        answer.json()["rejections"],
        "the same bad line gets the same receipt"
    );
}

#[tokio::test]
async fn a_line_that_is_not_utf8_is_refused_alone() {
    let world = World::new().await;
    let mut body = b"{\"key\":\"n_90\",\"data\":{\"id\":\"n_90\",\"title\":\"t\"}}\n".to_vec();
    body.extend_from_slice(b"{\"key\":\"\xff\"}\n");
    let receipt = world.ask("owner", "POST", NOTES, body).await.json();
    assert_eq!(receipt["records_accepted"], 1);
    assert_eq!(receipt["rejections"][0]["code"], "invalid_utf8");
}

#[tokio::test]
async fn an_append_only_record_may_be_repeated_but_not_rewritten() {
    let world = World::new().await;
    let path = world.path("/v1/ingest/messages?connector_id=chat&connector_instance_id=HOME");
    let lines = concat!(
        r#"{"key":"q1","data":{"id":"q1","text":"one"}}"#,
        "\n",
        r#"{"key":"q1","data":{"id":"q1","text":"one"}}"#,
        "\n",
        r#"{"key":"q1","data":{"id":"q1","text":"two"}}"#,
    );
    let receipt = world.ask("owner", "POST", &path, lines).await.json();
    assert_eq!(
        (&receipt["records_accepted"], &receipt["rejections"][0]["code"]),
        (&2.into(), &"append_only_conflict".into())
    );
}

#[tokio::test]
async fn more_lines_than_one_transaction_takes_all_arrive() {
    let world = World::new().await;
    let line = |n| format!(r#"{{"key":"b_{n}","data":{{"id":"b_{n}","title":"t"}}}}"#);
    let lines = (0..2_500).map(line).collect::<Vec<_>>().join("\n");
    assert_eq!(world.ask("owner", "POST", NOTES, lines).await.json()["records_accepted"], 2_500);
    let listed = world.get("owner", "/v1/streams?connector_id=notes").await.json();
    assert_eq!(listed["data"][0]["record_count"], 2_512);
}

#[tokio::test]
async fn a_write_must_say_where_it_goes() {
    let world = World::new().await;
    for (path, expected) in [
        ("/v1/ingest/notes", "400 invalid_request (connector_id)"),
        ("/v1/ingest/notes?connector_id=nope", "404 not_found (connector_id)"),
        ("/v1/ingest/nope?connector_id=notes", "404 not_found"),
        ("/v1/ingest/messages?connector_id=chat", "400 ambiguous_connector_instance"),
        (
            "/v1/ingest/messages?connector_id=chat&connector_instance_id=nope",
            "404 connector_instance_not_found (connector_instance_id)",
        ),
        (
            "/v1/ingest/messages?connector_id=chat&connector_instance_id=NOTES",
            "400 connector_instance_connector_mismatch (connector_instance_id)",
        ),
        ("/v1/ingest/notes?connector_id=notes&unheard_of=1", "400 invalid_request (unheard_of)"),
    ] {
        assert_eq!(world.ask("owner", "POST", &world.path(path), "").await.verdict(), expected, "{path}");
    }
}

#[tokio::test]
async fn a_body_of_another_kind_or_too_large_is_refused() {
    let world = World::with(|state| state.settings.limits.body_bytes = 100).await;
    let large = world.ask("owner", "POST", NOTES, "x".repeat(101)).await;
    assert_eq!(large.verdict(), "413 resource_limit");
    let chunks: Vec<Result<String, std::io::Error>> = (0..20).map(|_| Ok("x".repeat(10))).collect();
    let streamed = Body::from_stream(futures_util::stream::iter(chunks));
    assert_eq!(world.ask("owner", "POST", NOTES, streamed).await.verdict(), "413 resource_limit");
    let mut request = request("owner", "POST", NOTES, Body::from("{}"));
    request.headers_mut().insert("content-type", "text/csv".parse().unwrap());
    assert_eq!(Answer::of(&world, world.send(request).await).await.verdict(), "415 unsupported_media_type");
}

#[tokio::test]
async fn the_first_write_to_a_connector_makes_its_connection() {
    let world = World::new().await;
    assert_eq!(world.ask("owner", "POST", "/connectors", include_str!("second_chat.json")).await.status, 201);
    let path = "/v1/ingest/messages?connector_id=letters";
    let line = |key: &str| format!(r#"{{"key":"{key}","data":{{"id":"{key}"}}}}"#);
    for key in ["l1", "l2"] {
        assert_eq!(world.ask("owner", "POST", path, line(key)).await.json()["records_accepted"], 1);
    }
    let body = world.get("owner", "/v1/streams?connector_id=letters").await.json();
    assert_eq!((body["data"].as_array().unwrap().len(), &body["data"][0]["record_count"]), (1, &2.into()));
}

#[tokio::test]
async fn a_body_of_which_nothing_can_be_used_leaves_no_connection_behind() {
    let world = World::new().await;
    assert_eq!(world.ask("owner", "POST", "/connectors", include_str!("second_chat.json")).await.status, 201);
    let connections = async || {
        let catalogue = world.store.catalogue(&pdpp_testkit::sample::subject()).await.unwrap();
        catalogue.find_source("letters").unwrap().connections.len()
    };
    let stream = "/v1/ingest/messages?connector_id=letters";
    assert_eq!(world.ask("owner", "POST", stream, "garbage\n").await.json()["records_rejected"], 1);
    assert_eq!(connections().await, 0);
    let line = r#"{"key":"l1","data":{"id":"l1"}}"#;
    assert_eq!(world.ask("owner", "POST", stream, line).await.json()["records_accepted"], 1);
    assert_eq!(connections().await, 1);
}
