//! Input that means harm, or nothing: each gets its typed error and changes nothing.

use crate::world::World;

#[tokio::test]
async fn a_cursor_opens_only_the_query_that_issued_it() {
    let world = World::new().await;
    let page = world.get("client", "/v1/streams/messages/records?limit=2").await;
    let page: serde_json::Value = serde_json::from_slice(&page.bytes).unwrap();
    let cursor = page["next_cursor"].as_str().unwrap();
    let with = async |token: &str, stream: &str, query: &str| {
        world
            .verdict(token, &world.path(&format!("/v1/streams/{stream}/records?cursor={cursor}&{query}")))
            .await
    };
    assert_eq!(with("client", "messages", "limit=50").await, "200 ok");
    for (token, stream, query) in [
        ("client", "messages", "order=asc"),
        ("client", "messages", "filter[author]=anna"),
        ("client", "messages", "fields=id"),
        ("client", "notes", ""),
        ("owner", "messages", "connection_id=HOME"),
    ] {
        assert_eq!(
            with(token, stream, query).await,
            "400 invalid_cursor (cursor)",
            "{token} {stream} {query}"
        );
    }
    let swapped = format!("/v1/streams/messages/records?changes_since={cursor}");
    assert_eq!(world.verdict("client", &swapped).await, "400 invalid_cursor (changes_since)");
    let mut altered = cursor.to_owned();
    altered.replace_range(10..11, if &altered[10..11] == "A" { "B" } else { "A" });
    let altered = format!("/v1/streams/messages/records?cursor={altered}");
    assert_eq!(world.verdict("client", &altered).await, "400 invalid_cursor (cursor)");
}

#[tokio::test]
async fn a_parameter_beyond_its_bounds_is_refused() {
    let world = World::new().await;
    let records = |query: &str| format!("/v1/streams/messages/records?{query}");
    for (path, expected) in [
        (records(&format!("fields={}", "x".repeat(17_000))), "413 resource_limit"),
        (records(&"fields=id&".repeat(300)), "413 resource_limit"),
        (records("filter[a][b][c][d][e][f][g][h][i]=1"), "413 resource_limit (filter)"),
        (records("filter[a][b][c]=1"), "400 invalid_request (filter)"),
        (records("fields[99]=id"), "400 invalid_request (fields)"),
        (records("limit=99999999999999999999999999"), "200 ok"),
        (records("limit=1&limit=2"), "400 invalid_request (limit)"),
        (records("cursor=%zz"), "400 invalid_request (cursor)"),
        (records("cursor=%ff"), "400 invalid_request (cursor)"),
        (records("cursor=a%00b"), "400 invalid_request (cursor)"),
    ] {
        assert_eq!(world.verdict("client", &path).await, expected, "{}", &path[..path.len().min(80)]);
    }
}

#[tokio::test]
async fn ids_with_separators_or_traversal_lead_nowhere() {
    let world = World::new().await;
    for id in ["..", "..%2F..%2Fetc", "a%2Fb", "%5C", "a%0Ab", "%F0%9F%8F%96", "%27%20OR%201%3D1--"] {
        let verdict = world.verdict("client", &format!("/v1/streams/messages/records/{id}")).await;
        assert_eq!(verdict, "404 not_found", "{id}");
    }
    assert_eq!(
        world.verdict("client", "/v1/streams/messages/records/a%00b").await,
        "400 invalid_request (id)"
    );
    assert_eq!(world.verdict("client", "/v1/streams/messages/records/%ff").await, "400 invalid_request");
    assert_eq!(
        world.verdict("client", "/v1/streams/me%3Assages/records").await,
        "403 grant_stream_not_allowed"
    );
}

#[tokio::test]
async fn refused_writes_change_nothing() {
    let world = World::new().await;
    let count = async || world.get("owner", "/v1/streams?connector_id=notes").await.json()["data"].clone();
    let before = count().await;
    for line in [
        "{",
        "null",
        "[]",
        r#"{"key":"n_00","data":[]}"#,
        r#"{"key":["a","b"],"data":{}}"#,
        r#"{"key":"","data":{}}"#,
    ] {
        let receipt = world.ask("owner", "POST", "/v1/ingest/notes?connector_id=notes", line).await.json();
        assert_eq!(
            (&receipt["records_accepted"], &receipt["records_rejected"]),
            (&0.into(), &1.into()),
            "{line}"
        );
    }
    assert_eq!(count().await, before);
}
