//! `schema` before many streams and many fields: everything is named as long as it fits, and the way on is printed.

use serde_json::{Map, Value, json};

use crate::support::{Fake, Host};
use crate::tokens::assert_affordable;

fn many(streams: usize, fields: usize) -> Value {
    let capabilities: Map<String, Value> = (0..fields)
        .map(|n| (format!("field_{n:03}"), "t=string,eq,lex,a=count_distinct|group_by".into()))
        .collect();
    let stream = |n: usize| {
        json!({"name": format!("stream_{n:03}"), "primary_key": ["id"], "cursor_field": "emitted_at",
            "record_count": n, "field_capabilities": capabilities})
    };
    let connector = |c: usize| {
        let own: Vec<Value> = (0..streams).filter(|n| n % 6 == c).map(stream).collect();
        json!({"connector_key": format!("source_{c}"), "source": {"display_name": format!("Source number {c}")},
            "granted_connections": [{"connection_id": format!("cin_{c}"), "display_name": format!("Account {c}")}],
            "stream_count": own.len(), "streams": own})
    };
    json!({"object": "schema", "detail": "compact", "bearer": {"token_kind": "client"},
        "connectors": (0..streams.min(6)).map(connector).collect::<Vec<_>>()})
}

/// S3-R1-S1: the schema of more than 50 streams names every one, counts what it left out, and prints the call that
/// narrows; following it stays on the same stream and connection.
#[tokio::test]
async fn three_hundred_streams_are_all_named_within_the_budget() {
    let fake = Fake::always(many(300, 3)).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("schema", json!({})).await;
    assert_affordable(&result);
    let structured = result.structured.to_string();
    for n in 0..300 {
        let name = format!("stream_{n:03}");
        assert!(result.text.contains(&name) && structured.contains(&name), "{name} is not named");
    }
    assert!(
        result.text.contains(
            "stream_index connector_key=\"source_0\" stream_count=50 streams=stream_000|stream_006"
        )
    );
    assert!(result.text.contains("|stream_299 connections={connection_id:cin_5,display_name:Account_5}"));
    assert_eq!(
        result.structured["data"]["connectors"][5]["granted_connections"][0]["connection_id"],
        "cin_5"
    );
    assert!(result.text.contains("\nmore_streams="), "{}", result.text);
    assert!(result.text.contains("call schema(stream, connection_id?)"), "{}", result.text);
    host.call("schema", json!({"stream": "stream_299", "connection_id": "cin_5"})).await;
    let seen = fake.last();
    assert_eq!((seen.param("stream"), seen.param("connection_id")), (Some("stream_299"), Some("cin_5")));
}

#[tokio::test]
async fn a_few_streams_over_fifty_get_an_index_and_fifty_rows() {
    let fake = Fake::always(many(51, 0)).await;
    let result = Host::connect(&fake).await.call("schema", json!({})).await;
    assert_affordable(&result);
    let rows = result.text.lines().filter(|line| line.starts_with("stream name=")).count();
    assert!(rows > 20, "{rows} rows: {}", result.text);
    assert!(result.text.contains(&format!("\nmore_streams={}", 51 - rows)));
}

#[tokio::test]
async fn thousands_of_streams_are_counted_where_they_are_not_named() {
    let fake = Fake::always(many(5_000, 0)).await;
    let result = Host::connect(&fake).await.call("schema", json!({})).await;
    assert_affordable(&result);
    assert!(
        result.text.contains("unnamed_streams=") && result.text.contains("narrow with"),
        "{}",
        result.text
    );
    assert!(result.structured["data"]["streams_omitted"].as_u64().unwrap() > 0);
    assert!(result.text.contains("structured data shortened to names"));
}

#[tokio::test]
async fn hundreds_of_fields_stay_within_the_budget() {
    let fake = Fake::always(many(1, 600)).await;
    let result = Host::connect(&fake).await.call("schema", json!({"stream": "stream_000"})).await;
    assert_affordable(&result);
    assert!(result.text.contains(" more_fields="), "{}", result.text);
    assert!(result.structured.to_string().contains("field_599"));
    assert!(result.text.contains("structured data shortened: fields_omitted=0"), "{}", result.text);
    let fake = Fake::always(many(1, 9_000)).await;
    let result = Host::connect(&fake).await.call("schema", json!({"stream": "stream_000"})).await;
    assert_affordable(&result);
    assert!(result.structured["data"]["streams"][0]["fields_omitted"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_schema_of_usual_size_is_shown_whole() {
    let fake = Fake::always(many(24, 20)).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("schema", json!({})).await;
    assert_affordable(&result);
    assert!(!result.text.contains("shortened") && !result.text.contains("more_streams"), "{}", result.text);
    let result = host.call("schema", json!({"stream": "stream_003"})).await;
    assert_affordable(&result);
    assert!(result.text.contains("field_019[") && !result.text.contains("more_fields"), "{}", result.text);
    assert!(result.structured.to_string().len() < 6_000);
}

#[tokio::test]
async fn many_sources_of_one_stream_stay_within_the_budget() {
    let fields: Map<String, Value> =
        (0..100).map(|n| (format!("feld_größe_{n}"), "t=string,eq,lex".into())).collect();
    let connector = |n: usize| {
        json!({"connector_key": format!("source_{n}"), "granted_connections": [{"connection_id": format!("cin_{n}")}],
            "streams": [{"name": "messages", "field_capabilities": fields}]})
    };
    let fake = Fake::always(json!({"connectors": (0..400).map(connector).collect::<Vec<_>>()})).await;
    let mut host = Host::connect(&fake).await;
    for arguments in [json!({}), json!({"stream": "messages"})] {
        let result = host.call("schema", arguments).await;
        assert_affordable(&result);
        assert!(result.text.contains("more_streams=") && result.text.contains("narrow"), "{}", result.text);
    }
    let result = host.call("schema", json!({"stream": "messages", "connection_id": "cin_399"})).await;
    assert_affordable(&result);
    assert!(result.text.contains("connections={connection_id:cin_399}") && !result.text.contains("cin_398"));
}

/// Full detail of so many fields, each with its JSON Schema.
fn detailed(fields: usize, description: &str) -> Value {
    let fields: Map<String, Value> = (0..fields)
        .map(|n| (format!("field_{n}"), json!({"schema": {"type": "string", "description": description}})))
        .collect();
    json!({"connectors": [{"connector_key": "shop", "streams": [{"name": "orders", "field_capabilities": fields}]}]})
}

#[tokio::test]
async fn full_detail_that_fits_comes_whole() {
    let body = detailed(60, "A field.");
    let fake = Fake::always(body.clone()).await;
    let arguments = json!({"stream": "orders", "detail": "full"});
    let result = Host::connect(&fake).await.call("schema", arguments).await;
    assert_affordable(&result);
    assert_eq!(result.structured["data"], body);
    assert!(!result.text.contains("shortened"), "{}", result.text);
}

/// Of one stream the descriptions go first, then JSON Schema; both are said.
#[tokio::test]
async fn full_detail_of_one_stream_loses_its_descriptions_first() {
    let arguments = json!({"stream": "orders", "detail": "full"});
    let fake = Fake::always(detailed(150, &"A field of the shop. ".repeat(10))).await;
    let result = Host::connect(&fake).await.call("schema", arguments.clone()).await;
    assert_affordable(&result);
    assert!(result.text.contains("descriptions_left_out=150"), "{}", result.text);
    assert!(result.text.contains("data_tokens="), "{}", result.text);
    let fields = &result.structured["data"]["connectors"][0]["streams"][0]["field_capabilities"];
    assert_eq!(fields["field_149"], json!({"schema": {"type": "string"}}));
    let fake = Fake::always(detailed(600, "A field.")).await;
    let result = Host::connect(&fake).await.call("schema", arguments).await;
    assert_affordable(&result);
    assert!(result.structured.to_string().contains("field_599"));
    assert!(result.text.contains("full detail does not fit a result"), "{}", result.text);
}

/// Of several streams the names stay, and the way to narrow.
#[tokio::test]
async fn full_detail_of_many_streams_becomes_an_index() {
    let stream = |n: usize| json!({"name": format!("stream_{n}"), "schema": detailed(30, "A field.")});
    let body = json!({"connectors": [{"connector_key": "shop", "streams": (0..40).map(stream).collect::<Vec<_>>()}]});
    let fake = Fake::always(body).await;
    let result = Host::connect(&fake).await.call("schema", json!({"detail": "full"})).await;
    assert_affordable(&result);
    assert!(result.structured.to_string().contains("stream_39"));
    assert!(result.text.contains("narrow with schema(stream"), "{}", result.text);
}

/// S1-R4: a connector with as many streams as connections is read once, not once for each pair.
#[tokio::test]
async fn streams_share_their_connections_however_many_there_are() {
    let connection = |n: usize| json!({"connection_id": format!("cin_{n}"), "display_name": "Account"});
    let connections: Vec<Value> = (0..30_000).map(connection).collect();
    // A list of its own, though an empty one, is compared with that of the connector.
    let own = json!({"name": "orders_2", "granted_connections": []});
    let streams: Vec<Value> =
        (0..30_000).map(|n| if n % 2 == 0 { "messages".into() } else { own.clone() }).collect();
    let connector = json!({"connector_key": "shop", "granted_connections": connections, "streams": streams});
    let fake = Fake::always(json!({"connectors": [connector]})).await;
    let mut host = Host::connect(&fake).await;
    for arguments in [
        json!({}),
        json!({"stream": "messages"}),
        json!({"stream": "messages", "connection_id": "cin_29999"}),
    ] {
        let result = host.call("schema", arguments).await;
        assert_affordable(&result);
        assert!(result.text.contains("more_streams="), "{}", result.text);
    }
    let reference = json!({"type": "ref/prompt", "name": "find_evidence"});
    for (name, total) in [("stream", 2), ("connection_id", 30_000)] {
        let params = json!({"ref": reference, "argument": {"name": name, "value": ""}});
        let answer = host.request("completion/complete", params).await;
        assert_eq!(answer["result"]["completion"]["total"], total, "{name}");
    }
}

/// S1-R4: of operations and fields without end a few are named, and the others counted.
#[tokio::test]
async fn operations_without_end_are_counted() {
    let kinds = |count: usize| (0..count).map(|n| format!("k{n}")).collect::<Vec<_>>().join("|");
    let fields =
        json!({"one": format!("a={}", kinds(200_000)), "two": format!("a={}", "k1|".repeat(200_000))});
    let body = json!({"streams": [{"name": "orders", "field_capabilities": fields}]});
    let fake = Fake::always(body).await;
    let result = Host::connect(&fake).await.call("schema", json!({"stream": "orders"})).await;
    assert_affordable(&result);
    assert!(result.text.contains(";k1=one|two;") && result.text.contains(";more_kinds="), "{}", result.text);
}
