//! The expand gate: what has no relations is not asked for them, by the schema as it is now.

use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply, Seen};

/// A server with this schema, one record and one page.
async fn server(schema: Value) -> Fake {
    Fake::start(script(schema)).await
}

fn script(schema: Value) -> impl Fn(&Seen) -> Reply + Send + Sync + 'static {
    move |seen| {
        let record =
            json!({"object": "record", "id": "o1", "stream": "orders", "data": {"title": "An order"}});
        match seen.path.as_str() {
            "/v1/schema" => Reply::json(&schema),
            "/v1/streams/orders/records" => Reply::json(&json!({"object": "list", "data": [record]})),
            _ => Reply::json(&record),
        }
    }
}

fn top(capabilities: Value) -> Value {
    json!({"streams": [{"name": "orders", "expand_capabilities": capabilities}]})
}

fn nested(capabilities: Value) -> Value {
    json!({"connectors": [{"connector_key": "shop", "streams": [{"name": "orders", "expand_capabilities": capabilities}]}]})
}

fn paths(fake: &Fake) -> Vec<String> {
    fake.seen().into_iter().map(|seen| seen.path).collect()
}

const LIST: &str = "/v1/streams/orders/records";

/// S2-R5-S1: a stream with relations gets the call, and the server's answer comes back unchanged.
#[tokio::test]
async fn an_advertised_relation_is_forwarded() {
    for schema in
        [top(json!([{"name": "account"}])), nested(json!([{"name": "account"}])), top(json!({"account": {}}))]
    {
        let fake = server(schema).await;
        let mut host = Host::connect(&fake).await;
        let given = json!({"stream": "orders", "expand": ["account", "items"], "expand_limit": {"items": 3}});
        let result = host.call("query_records", given).await;
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(paths(&fake), ["/v1/schema", LIST]);
        let seen = fake.last();
        assert_eq!(seen.params("expand"), ["account", "items"]);
        assert_eq!(seen.param("expand_limit[items]"), Some("3"));
        assert_eq!(result.structured["data"]["data"][0]["data"]["title"], "An order");
        assert_eq!(result.structured["data"]["object"], "list");
    }
}

/// S2-R5, S2-R5-S2: a stream without relations is refused before the records route, in every shape of the schema.
#[tokio::test]
async fn a_stream_without_relations_is_refused_before_any_record_is_read() {
    let schemas = [
        top(json!([])),
        nested(json!([])),
        nested(json!(null)),
        json!({"streams": [{"name": "orders"}]}),
        json!({"data": nested(json!([]))}),
        json!({"streams": [{"stream_name": "orders", "expand_capabilities": {}}]}),
    ];
    let calls = [
        ("query_records", json!({"stream": "orders", "expand": ["account"]})),
        ("query_records", json!({"stream": "orders", "expand_limit": {"account": 2}})),
        ("fetch", json!({"id": "cin_a/orders:o1", "expand": ["account"]})),
        ("fetch", json!({"id": "cin_a/orders:o1", "expand_limit": {"account": 2}})),
    ];
    for schema in schemas {
        let fake = server(schema.clone()).await;
        let mut host = Host::connect(&fake).await;
        for (tool, given) in &calls {
            fake.forget();
            let result = host.call(tool, given.clone()).await;
            assert!(result.is_error, "{schema} {given}");
            assert_eq!(result.code(), "invalid_expand");
            let message = result.structured["error"]["message"].as_str().unwrap();
            for part in ["orders", "account", "/v1/schema", "expand_capabilities"] {
                assert!(message.contains(part) && result.text.contains(part), "{message}");
            }
            assert_eq!(paths(&fake), ["/v1/schema"]);
        }
    }
}

/// S2-R5-S3: what the schema says now counts, without a restart.
#[tokio::test]
async fn a_changed_schema_counts_on_the_next_call() {
    let fake = server(nested(json!([]))).await;
    let mut host = Host::connect(&fake).await;
    let given = json!({"stream": "orders", "expand": ["account"]});
    assert!(host.call("query_records", given.clone()).await.is_error);
    fake.rescript(script(nested(json!([{"name": "account"}]))));
    assert!(!host.call("query_records", given.clone()).await.is_error);
    fake.rescript(script(nested(json!([]))));
    assert!(host.call("query_records", given).await.is_error);
}

/// S2-R5: the lookup is scoped to the stream and to the connection, the argument's or the id's.
#[tokio::test]
async fn the_lookup_names_stream_and_connection() {
    let fake = server(top(json!([{"name": "account"}]))).await;
    let mut host = Host::connect(&fake).await;
    for (tool, given) in [
        ("query_records", json!({"stream": "orders", "expand": ["account"], "connection_id": "cin_b"})),
        ("fetch", json!({"id": "orders:o1", "expand": ["account"], "connection_id": "cin_b"})),
        ("fetch", json!({"id": "cin_b/orders:o1", "expand": ["account"]})),
    ] {
        fake.forget();
        assert!(!host.call(tool, given).await.is_error);
        let seen = fake.seen();
        assert_eq!((seen[0].param("view"), seen[0].param("stream")), (Some("compact"), Some("orders")));
        assert_eq!(seen[0].param("connection_id"), Some("cin_b"));
        assert_eq!(seen[1].param("expand"), Some("account"));
    }
}

/// S2-R5: what the gate cannot know, the server decides.
#[tokio::test]
async fn an_unavailable_schema_or_an_unknown_stream_lets_the_call_pass() {
    let given = json!({"stream": "orders", "expand": ["account"]});
    for schema in [
        json!({"streams": []}),
        json!({"streams": ["orders"]}),
        json!({"streams": [{"name": "others", "expand_capabilities": []}]}),
        json!([1, 2]),
        json!(null),
    ] {
        let fake = server(schema.clone()).await;
        let mut host = Host::connect(&fake).await;
        assert!(!host.call("query_records", given.clone()).await.is_error, "{schema}");
        assert_eq!(paths(&fake).last().unwrap(), LIST);
    }
    for failure in [
        Reply::error(500, "api_error", "no"),
        Reply::bytes(200, "text/html", "<p>"),
        Reply::error(403, "x", "y"),
    ] {
        let answer = failure.clone();
        let page = script(json!(null));
        let fake =
            Fake::start(move |seen| if seen.path == "/v1/schema" { answer.clone() } else { page(seen) })
                .await;
        let mut host = Host::connect(&fake).await;
        assert!(!host.call("query_records", given.clone()).await.is_error);
        assert_eq!(paths(&fake).last().unwrap(), LIST);
    }
}

/// S2-R5: a server that does not know the compact view is asked once more without it.
#[tokio::test]
async fn a_refused_view_is_asked_for_without_it() {
    let page = script(nested(json!([])));
    let fake = Fake::start(move |seen| match seen.param("view") {
        Some(_) => Reply::error(400, "unsupported_query", "no such view"),
        None => page(seen),
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "orders", "expand": ["account"]})).await;
    assert_eq!(result.code(), "invalid_expand");
    assert_eq!(paths(&fake), ["/v1/schema", "/v1/schema"]);
}

/// S2-R5: two sources share a stream name and one of them has the relation.
#[tokio::test]
async fn one_source_with_the_relation_is_enough() {
    let fake = server(json!({"connectors": [
        {"streams": [{"name": "orders", "expand_capabilities": []}]},
        {"streams": [{"name": "orders", "expand_capabilities": [{"name": "account"}]}]},
    ]}))
    .await;
    let mut host = Host::connect(&fake).await;
    assert!(!host.call("query_records", json!({"stream": "orders", "expand": ["account"]})).await.is_error);
}

/// S2-R5: a malformed limit costs no request at all, and an empty list is no request to expand.
#[tokio::test]
async fn malformed_limits_make_no_request() {
    let fake = server(nested(json!([]))).await;
    let mut host = Host::connect(&fake).await;
    for limit in [json!({}), json!({"a[b]": 1}), json!({"account": 0})] {
        for (tool, mut given) in
            [("query_records", json!({"stream": "orders"})), ("fetch", json!({"id": "orders:o1"}))]
        {
            given["expand_limit"] = limit.clone();
            assert_eq!(host.call(tool, given).await.code(), "invalid_expand");
        }
    }
    assert!(fake.seen().is_empty());
    assert!(!host.call("query_records", json!({"stream": "orders", "expand": []})).await.is_error);
    assert_eq!(paths(&fake), [LIST]);
}

/// S2-R5: the server's own verdict on a relation passes through.
#[tokio::test]
async fn the_servers_own_refusal_passes_through() {
    let schema = nested(json!([{"name": "account"}]));
    let fake = Fake::start(move |seen| match seen.path.as_str() {
        "/v1/schema" => Reply::json(&schema),
        _ => Reply::error(400, "invalid_expand", "no relation `x`"),
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "orders", "expand": ["x"]})).await;
    assert_eq!((result.code(), result.structured["http_status"].as_u64()), ("invalid_expand", Some(400)));
}
