//! Bytes in and out.

use axum::body::Body;
use expect_test::expect;
use pdpp_testkit::{client, grant, sample};

use crate::world::{Answer, World, request};

async fn ask(world: &World, method: &str, headers: &[(&'static str, &str)]) -> Answer {
    let path = world.path(&format!("/v1/blobs/{}?connection_id=HOME", sample::chat::blob_id()));
    let mut request = request("owner", method, &path, Body::empty());
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    Answer::of(world, world.send(request).await).await
}

#[tokio::test]
async fn a_range_answers_206_and_a_range_outside_416() {
    let world = World::new().await;
    expect![[r#"
        206
        content-type: text/plain
        etag: "961eba09975142d5d3ffa0afdbcda49f9e4accfe0794766e543b55cd34c6300d"
        accept-ranges: bytes
        cache-control: private, no-store
        x-content-type-options: nosniff
        content-disposition: attachment
        content-range: bytes 0-6/50
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        Minutes"#]]
    .assert_eq(&ask(&world, "GET", &[("range", "bytes=0-6")]).await.show());
    let outside = ask(&world, "GET", &[("range", "bytes=9999-")]).await;
    assert_eq!(outside.verdict(), "416 invalid_range");
    assert_eq!(outside.header("content-range"), Some("bytes */50"));
    let whole = ask(&world, "GET", &[]).await;
    assert_eq!((whole.status, whole.bytes.as_slice()), (200, sample::chat::BLOB));
}

#[tokio::test]
async fn a_known_etag_answers_304_and_head_sends_no_bytes() {
    let world = World::new().await;
    let head = ask(&world, "HEAD", &[]).await;
    assert_eq!((head.status, head.bytes.len(), head.header("content-length")), (200, 0, Some("50")));
    let etag = head.header("etag").unwrap();
    let again = ask(&world, "GET", &[("if-none-match", etag)]).await;
    assert_eq!((again.status, again.bytes.len()), (304, 0));
    let other = ask(&world, "GET", &[("if-range", "\"other\""), ("range", "bytes=0-1")]).await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn uploaded_bytes_are_read_back_by_a_grant_that_shows_the_reference() {
    let world = World::new().await;
    let upload = "/v1/blobs?connector_id=chat&connection_id=WORK&stream=attachments&record_key=a_9&mime_type=image/png";
    let receipt = world.ask("owner", "POST", &world.path(upload), "not really a picture").await.json();
    assert_eq!(
        (&receipt["object"], &receipt["mime_type"], &receipt["size_bytes"]),
        (&"blob".into(), &"image/png".into(), &20.into())
    );
    let id = receipt["blob_id"].as_str().unwrap();
    let line = serde_json::json!({"key": "a_9", "data": {"id": "a_9", "message_id": "w_01",
        "blob_ref": {"blob_id": id, "mime_type": "image/png", "size_bytes": 20, "sha256": receipt["sha256"]}}});
    let ingest = world.path("/v1/ingest/attachments?connector_id=chat&connection_id=WORK");
    assert_eq!(world.ask("owner", "POST", &ingest, line.to_string()).await.json()["records_accepted"], 1);
    let source = &world.catalogue.sources[0];
    world.admit("with", client(&[grant(source).stream("attachments", &["id", "blob_ref"]).build()]));
    world.admit("without", client(&[grant(source).stream("attachments", &["id", "name"]).build()]));
    let read = format!("/v1/blobs/{id}");
    let shown = world.get("with", &read).await;
    assert_eq!((shown.status, shown.bytes.as_slice()), (200, b"not really a picture".as_slice()));
    assert_eq!(shown.header("content-disposition"), None);
    assert_eq!(world.verdict("without", &read).await, "404 blob_not_found");
    assert_eq!(world.verdict("client", &read).await, "404 blob_not_found");
}

/// A range of nothing is ignored (RFC 9110, 14.2): whoever asks for the first bytes must not be told there is no blob.
#[tokio::test]
async fn an_empty_blob_is_read_whatever_range_is_asked() {
    let world = World::new().await;
    let place = world.path("connector_id=chat&connection_id=WORK");
    let upload = format!("/v1/blobs?{place}&stream=attachments&record_key=a_9&mime_type=text/plain");
    let receipt = world.ask("owner", "POST", &upload, "").await.json();
    assert_eq!(receipt["size_bytes"], 0);
    let line = serde_json::json!({"key": "a_9", "data": {"id": "a_9", "message_id": "w_01",
        "blob_ref": {"blob_id": receipt["blob_id"], "mime_type": "text/plain", "size_bytes": 0}}});
    let ingest = format!("/v1/ingest/attachments?{place}");
    assert_eq!(world.ask("owner", "POST", &ingest, line.to_string()).await.json()["records_accepted"], 1);
    let read = world.path(&format!("/v1/blobs/{}?connection_id=WORK", receipt["blob_id"].as_str().unwrap()));
    for range in ["bytes=0-1048575", "bytes=0-", "bytes=5-9"] {
        let mut asked = request("owner", "GET", &read, Body::empty());
        asked.headers_mut().insert("range", range.parse().unwrap());
        let answer = Answer::of(&world, world.send(asked).await).await;
        assert_eq!((answer.status, answer.bytes.len()), (200, 0), "{range}");
        assert_eq!((answer.header("content-length"), answer.header("content-range")), (Some("0"), None));
    }
}

#[tokio::test]
async fn a_bad_upload_or_a_bad_id_is_refused() {
    let world = World::new().await;
    for (query, expected) in [
        ("stream=attachments&record_key=a", "400 invalid_request (connector_id)"),
        ("connector_id=chat&connection_id=HOME&record_key=a", "400 invalid_request (stream)"),
        ("connector_id=chat&connection_id=HOME&stream=attachments", "400 invalid_request (record_key)"),
        ("connector_id=chat&connection_id=HOME&stream=nope&record_key=a", "404 not_found"),
        (
            "connector_id=chat&connection_id=HOME&stream=attachments&record_key=a&mime_type=x",
            "400 invalid_request (mime_type)",
        ),
        (
            "connector_id=chat&connection_id=HOME&stream=attachments&record_key=a&json_path=x",
            "400 invalid_request (json_path)",
        ),
        ("connector_id=chat&stream=attachments&record_key=a", "400 ambiguous_connector_instance"),
    ] {
        let path = world.path(&format!("/v1/blobs?{query}"));
        assert_eq!(world.ask("owner", "POST", &path, "x").await.verdict(), expected, "{query}");
    }
    for id in [
        "blob_sha256_x",
        "..%2F..%2Fetc%2Fpasswd",
        "blob_sha256_0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        assert_eq!(world.verdict("client", &format!("/v1/blobs/{id}")).await, "404 blob_not_found", "{id}");
    }
}

/// The same bytes for a record of each of two connections.
async fn kept_twice(world: &World, bytes: &'static str) -> String {
    let mut id = String::new();
    for (connection, parent) in [("HOME", "m_01"), ("WORK", "w_01")] {
        let place = world.path(&format!("connector_id=chat&connection_id={connection}"));
        let upload = format!("/v1/blobs?{place}&stream=attachments&record_key=a_9&mime_type=image/png");
        let receipt = world.ask("owner", "POST", &upload, bytes).await.json();
        receipt["blob_id"].as_str().unwrap().clone_into(&mut id);
        let line = serde_json::json!({"key": "a_9", "data": {"id": "a_9", "message_id": parent,
            "blob_ref": {"blob_id": id, "mime_type": "image/png", "size_bytes": bytes.len()}}});
        let ingest = format!("/v1/ingest/attachments?{place}");
        assert_eq!(world.ask("owner", "POST", &ingest, line.to_string()).await.json()["records_accepted"], 1);
    }
    id
}

#[tokio::test]
async fn a_blob_under_two_visible_connections_asks_which_one_is_meant() {
    let world = World::new().await;
    let id = kept_twice(&world, "a picture twice").await;
    let source = &world.catalogue.sources[0];
    let grant = || grant(source).stream("attachments", &["id", "blob_ref"]);
    world.admit("both", client(&[grant().build()]));
    world.admit("home", client(&[grant().connections(&[&world.loaded.home]).build()]));
    let read = format!("/v1/blobs/{id}");
    let owners = format!("{read}?connector_id=chat");
    for (token, path) in [("both", &read), ("owner", &owners)] {
        let refused = world.get(token, path).await;
        assert_eq!(refused.verdict(), "409 ambiguous_connection", "{token}");
        let error = &refused.json()["error"];
        let mut offered: Vec<_> = error["available_connections"].as_array().unwrap().clone();
        offered.sort_by_key(|offer| offer["display_name"].to_string());
        assert_eq!(
            (&error["retry_with"], offered.as_slice()),
            (
                &"connection_id".into(),
                [
                    serde_json::json!({"connection_id": "HOME", "display_name": "Home"}),
                    serde_json::json!({"connection_id": "WORK", "display_name": "Work"}),
                ]
                .as_slice()
            ),
            "{token}"
        );
        for connection in ["HOME", "WORK"] {
            let chosen = world.get(token, &world.path(&format!("{read}?connection_id={connection}"))).await;
            assert_eq!((chosen.status, chosen.bytes.as_slice()), (200, b"a picture twice".as_slice()));
        }
    }
    let only = world.get("home", &read).await;
    assert_eq!(only.status, 200, "what is outside the grant makes nothing ambiguous");
    let other = world.path(&format!("{read}?connection_id=WORK"));
    assert_eq!(
        world.verdict("home", &other).await,
        world.verdict("home", &world.path("/v1/blobs/nope?connection_id=WORK")).await
    );
}

#[tokio::test]
async fn an_answer_in_bytes_warns_in_a_header_and_one_in_json_in_its_body() {
    let world = World::new().await;
    let blob = format!("/v1/blobs/{}", sample::chat::blob_id());
    let warned = world.get("owner", &world.path(&format!("{blob}?connector_instance_id=HOME"))).await;
    assert_eq!(warned.status, 200);
    assert_eq!(warned.header("pdpp-warning"), Some("deprecated_alias_used: connector_instance_id"));
    let plain = world.get("owner", &world.path(&format!("{blob}?connection_id=HOME"))).await;
    assert_eq!((plain.status, plain.header("pdpp-warning")), (200, None));
    for (query, code) in [
        ("limit=5000", Some("limit_clamped")),
        ("connector_instance_id=HOME", Some("deprecated_alias_used")),
        ("limit=100", None),
        ("connection_id=HOME", None),
    ] {
        let page = world.get("client", &world.path(&format!("/v1/streams/messages/records?{query}"))).await;
        assert_eq!((page.status, page.header("pdpp-warning")), (200, None), "{query}");
        assert_eq!(page.json()["meta"]["warnings"][0]["code"].as_str(), code, "{query}");
    }
}
