//! Numbers about records.

use expect_test::expect;

use crate::world::World;

#[tokio::test]
async fn groups_are_counted_over_all_connections() {
    let world = World::new().await;
    let path = "/v1/streams/messages/aggregate?connector_id=chat&metric=count&group_by=author&limit=3";
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "aggregation",
          "stream": "messages",
          "metric": "count",
          "field": null,
          "group_by": "author",
          "group_by_time": null,
          "granularity": null,
          "time_zone": null,
          "approximate": false,
          "filtered_record_count": 45,
          "groups": [
            {
              "key": "ben",
              "count": 13
            },
            {
              "key": "anna",
              "count": 12
            },
            {
              "key": "chloë",
              "count": 10
            }
          ],
          "limit": 3,
          "other_count": 10,
          "links": {
            "self": "/v1/streams/messages/aggregate?connector_id=chat&metric=count&group_by=author&limit=3"
          },
          "meta": {
            "count": {
              "kind": "none"
            },
            "warnings": []
          }
        }"#]]
    .assert_eq(&world.get("owner", path).await.show());
}

#[tokio::test]
async fn time_buckets_follow_the_wall_clock_of_their_zone() {
    let world = World::new().await;
    let path = "/v1/streams/messages/aggregate?connector_id=chat&metric=count&group_by_time=sent_at&granularity=month&time_zone=Europe%2FBerlin";
    let body = world.get("owner", path).await.json();
    expect![[r#"[{"key":"2026-01-01","count":33},{"key":"2026-02-01","count":9},{"key":null,"count":3}]"#]]
        .assert_eq(&body["groups"].to_string());
    assert_eq!(body["time_zone"], "Europe/Berlin");
}

#[tokio::test]
async fn a_client_counts_only_what_it_may_read() {
    let world = World::new().await;
    let value = async |token: &str, query: &str| {
        world.get(token, &format!("/v1/streams/messages/aggregate?{query}")).await.json()["value"].clone()
    };
    assert_eq!(value("client", "metric=count").await, 15);
    assert_eq!(value("owner", "connector_id=chat&metric=sum&field=stars").await, 71);
    assert_eq!(value("client", "metric=max&field=sent_at").await, "2026-02-01T08:08:00Z");
    assert_eq!(value("client", "metric=count_distinct&field=author").await, 3);
}

#[tokio::test]
async fn every_fault_of_an_aggregate_has_its_code() {
    let world = World::new().await;
    for (query, expected) in [
        ("", "400 invalid_request (metric)"),
        ("metric=median", "400 invalid_request (metric)"),
        ("metric=count&field=id", "400 invalid_request (field)"),
        ("metric=sum", "400 invalid_request (field)"),
        ("metric=sum&field=author", "400 invalid_request (field)"),
        ("metric=sum&field=stars", "403 field_not_granted (field)"),
        ("metric=sum&field=nonsense", "400 unknown_field (field)"),
        ("metric=count&group_by=author&group_by_time=sent_at", "400 invalid_request (group_by_time)"),
        ("metric=count&group_by_time=sent_at", "400 invalid_request (granularity)"),
        ("metric=count&group_by_time=sent_at&granularity=eon", "400 invalid_request (granularity)"),
        (
            "metric=count&group_by_time=sent_at&granularity=day&time_zone=Mars",
            "400 invalid_request (time_zone)",
        ),
        ("metric=count&group_by=author&limit=101", "400 invalid_request (limit)"),
        ("metric=count&group_by=author&limit=0", "400 invalid_request (limit)"),
        ("metric=count&limit=5", "400 invalid_request (limit)"),
        ("metric=count&granularity=day", "400 invalid_request (granularity)"),
        ("metric=count&cursor=x", "400 invalid_request (cursor)"),
        ("metric=count&filter[stars]=1", "403 field_not_granted (filter)"),
    ] {
        assert_eq!(
            world.verdict("client", &format!("/v1/streams/messages/aggregate?{query}")).await,
            expected,
            "{query}"
        );
    }
}
