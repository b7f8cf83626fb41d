//! `schema`: the index, one stream, full detail, and every shape a server may send.

use pdpp_mcp::{Now, Settings};
use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply};

/// The compact schema of a grant over two sources, as our own server sends it.
fn compact() -> Value {
    json!({
        "object": "schema", "detail": "compact",
        "bearer": {"token_kind": "client", "scope": "grant", "grant_id": "grt_1", "expires_at": "2026-09-01T00:00:00Z"},
        "connector_count": 2, "stream_count": 3,
        "connectors": [
            {"object": "connector", "connector_key": "slack", "connector_id": "slack", "stream_count": 1,
             "source": {"kind": "connector", "id": "https://x/slack", "display_name": "Acme Slack"},
             "granted_connections": [{"connection_id": "cin_s1", "display_name": "Acme Slack"}],
             "streams": [{
                "name": "messages", "primary_key": ["id"], "cursor_field": "sent_at", "record_count": 120,
                "time_constraint": {"field": "sent_at", "since": "2026-01-01T00:00:00Z"},
                "field_capabilities": {
                    "body_html": "t=string,g=false,lex=unusable:field_not_granted",
                    "id": "t=string,eq", "sender": "t=string,role=actor,eq,a=count_distinct|group_by",
                    "sent_at": "t=timestamp,r=gte|lt,a=group_by_time", "text": "t=string,lex,sem"},
                "expand_capabilities": [{"name": "author", "stream": "users", "target_stream": "users",
                    "cardinality": "one", "granted": true, "usable": true, "foreign_key": "id", "max_limit": 10}],
             }]},
            {"object": "connector", "connector_key": "shop", "connector_id": "shop", "stream_count": 2,
             "source": {"kind": "connector", "id": "https://x/shop", "display_name": "Shop"},
             "granted_connections": [{"connection_id": "cin_a", "display_name": "Home"},
                                     {"connection_id": "cin_b", "display_name": "Work"}],
             "streams": [
                {"name": "orders", "primary_key": ["id"], "field_capabilities": {"id": "t=string,eq"}, "expand_capabilities": []},
                {"name": "notes", "primary_key": ["id"], "granted_connections": [{"connection_id": "cin_n"}],
                 "field_capabilities": {"id": "t=string"}, "expand_capabilities": []}]},
        ],
        "links": {"self": "/v1/schema?view=compact"}, "meta": {"warnings": []},
    })
}

async fn before(body: Value) -> (Fake, Host) {
    let fake = Fake::always(body).await;
    let host = Host::connect(&fake).await;
    (fake, host)
}

/// S1-R1: the first rung is compact: names, sources and the call for the next rung.
#[tokio::test]
async fn the_index_names_every_stream_and_the_next_call() {
    let (fake, mut host) = before(compact()).await;
    let result = host.call("schema", json!({})).await;
    assert_eq!(
        result.text,
        "PDPP schema: connectors=2 streams=3\n\
         grant expires_at=2026-09-01T00:00:00Z\n\
         stream name=\"messages\" connector_key=\"slack\" display_name=\"Acme Slack\" \
         connections={connection_id:cin_s1,display_name:Acme_Slack} record_count=120 \
         time_window=2026-01-01T00:00:00Z.. time_field=sent_at\n\
         stream name=\"orders\" connector_key=\"shop\" display_name=\"Shop\" \
         connections={connection_id:cin_a,display_name:Home}|{connection_id:cin_b,display_name:Work}\n\
         stream name=\"notes\" connector_key=\"shop\" display_name=\"Shop\" connections={connection_id:cin_n}\n\
         call schema(stream, connection_id?) for per-field capability flags"
    );
    assert_eq!(fake.seen().len(), 1);
    assert_eq!(fake.last().query, [("view".to_owned(), "compact".to_owned())]);
}

#[tokio::test]
async fn the_index_carries_identities_and_no_fields() {
    let (_fake, mut host) = before(compact()).await;
    let data = host.call("schema", json!({})).await.structured["data"].clone();
    assert_eq!(data["detail"], "compact");
    assert!(data["field_capability_legend"]["role"].is_string());
    assert_eq!(data["connectors"][1]["granted_connections"][1]["connection_id"], "cin_b");
    let streams =
        data["connectors"].as_array().unwrap().iter().flat_map(|it| it["streams"].as_array().unwrap());
    for stream in streams {
        assert!(stream.get("field_capabilities").is_none() && stream.get("expand_capabilities").is_none());
    }
}

#[tokio::test]
async fn one_stream_says_what_its_fields_can_do_and_what_can_be_asked() {
    let (fake, mut host) = before(compact()).await;
    let result = host.call("schema", json!({"stream": "messages", "connection_id": "cin_s1"})).await;
    let seen = fake.last();
    assert_eq!((seen.param("stream"), seen.param("connection_id")), (Some("messages"), Some("cin_s1")));
    let lines: Vec<&str> = result.text.lines().collect();
    assert!(lines[2].starts_with("field_capability_legend") && lines[2].contains("role="), "{}", lines[2]);
    assert_eq!(lines[3], "schema_scope connection_id=\"cin_s1\"");
    for part in [
        "fields=id[t=string,eq];sender[t=string,role=actor,eq,a=count_distinct|group_by];sent_at[t=timestamp,r=gte|lt,a=group_by_time];text[t=string,lex,sem];body_html[t=string,g=false,lex=unusable:field_not_granted]",
        "aggregations=count_distinct=sender;group_by=sender;group_by_time=sent_at",
        "search=lex|sem",
        "expand=author->users(one,max=10)",
        "primary_key=id sort=sent_at",
        "time_window=2026-01-01T00:00:00Z..",
    ] {
        assert!(lines[4].contains(part), "{part} is missing: {}", lines[4]);
    }
    assert_eq!(lines[5], r#"next: query_records({"stream":"messages","connection_id":"cin_s1"})"#);
    let stream = &result.structured["data"]["connectors"][0]["streams"][0];
    assert_eq!(stream["field_capabilities"]["id"], "t=string,eq");
    assert_eq!(stream["expand_capabilities"][0]["max_limit"], 10);
    assert_eq!(result.structured["data"]["connectors"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_date_is_stated_when_the_adapter_was_given_a_clock() {
    let fake = Fake::always(compact()).await;
    let now = Now::new(|| pdpp_wire::Instant::parse("2026-08-02T10:00:00Z").unwrap());
    let mut host = Host::with_settings(&fake, Settings { now: Some(now), ..Settings::default() }).await;
    let result = host.call("schema", json!({})).await;
    assert!(
        result.text.contains("\ngrant expires_at=2026-09-01T00:00:00Z today=2026-08-02\n"),
        "{}",
        result.text
    );
    assert_eq!(result.structured["today"], "2026-08-02");
}

#[tokio::test]
async fn a_server_without_the_compact_view_is_asked_once_more() {
    let full = json!({"object": "schema", "connectors": [{"connector_key": "shop", "streams": [
        {"name": "orders", "schema": {"type": "object"}, "views": [{"name": "short"}],
         "granted_connections": [{"connector_instance_id": "cin_a"}],
         "field_capabilities": {"total": {"schema": {"type": "number"}, "granted": true,
            "exact_filter": {"declared": true, "usable": true}, "aggregation": {"sum": {"usable": true}}}}}]}]});
    for code in ["bad_request", "invalid_request", "unsupported_query"] {
        let body = full.clone();
        let fake = Fake::start(move |seen| match seen.param("view") {
            Some(_) => Reply::error(400, code, "no such parameter"),
            None => Reply::json(&body),
        })
        .await;
        let mut host = Host::connect(&fake).await;
        let result = host.call("schema", json!({"stream": "orders"})).await;
        assert!(result.text.contains("fields=total[t=number,eq,a=sum]"), "{}", result.text);
        assert!(result.text.contains("connection_id:cin_a") && result.text.contains("views=short"));
        assert!(!result.visible().contains("connector_instance_id"));
        assert_eq!(result.structured["data"]["detail"], "compact");
        assert_eq!(fake.seen().len(), 2);
    }
    let fake = Fake::start(|_| Reply::error(400, "invalid_cursor", "no")).await;
    let result = Host::connect(&fake).await.call("schema", json!({})).await;
    assert_eq!((result.code(), fake.seen().len()), ("invalid_cursor", 1));
}

#[tokio::test]
async fn a_wrapped_document_and_top_level_streams_are_understood() {
    let (_fake, mut host) = before(json!({"data": compact()})).await;
    let result = host.call("schema", json!({})).await;
    assert!(result.structured["data"]["connectors"].is_array(), "{}", result.structured);
    assert!(result.text.contains("stream name=\"orders\""));

    let rows = json!({"object": "schema", "streams": [
        {"name": "orders", "connection_id": "cin_a", "source": {"connector_key": "shop", "display_name": "Shop"}}]});
    let (_fake, mut host) = before(rows).await;
    let text = host.call("schema", json!({})).await.text;
    assert!(
        text.contains(r#"connector_key="shop" display_name="Shop" connections={connection_id:cin_a}"#),
        "{text}"
    );

    let mut both = compact();
    both["streams"] = json!([{"name": "messages"}]);
    let (_fake, mut host) = before(both).await;
    let result = host.call("schema", json!({})).await;
    assert!(result.structured["data"].get("streams").is_none());
    assert!(result.text.starts_with("PDPP schema: connectors=2 streams=3"));
}

#[tokio::test]
async fn the_oldest_shape_lists_names() {
    let body = json!({"version": "1", "streams": ["orders"]});
    let (_fake, mut host) = before(body.clone()).await;
    let result = host.call("schema", json!({})).await;
    assert!(result.text.contains("stream name=\"orders\""), "{}", result.text);
    let full = host.call("schema", json!({"detail": "full", "stream": "orders"})).await;
    assert_eq!(full.structured["data"], body);
}

#[tokio::test]
async fn full_detail_passes_and_the_server_decides() {
    let raw = json!({"object": "schema", "streams": [{"name": "orders"}], "connectors": [{"connector_key": "shop",
        "streams": [{"name": "orders", "field_capabilities": {"id": {"schema": {"type": "string", "maxLength": 9}}}}]}]});
    let (fake, mut host) = before(raw.clone()).await;
    let result = host.call("schema", json!({"detail": "full", "stream": "orders"})).await;
    let seen = fake.last();
    assert_eq!((seen.param("detail"), seen.param("view")), (Some("full"), None));
    assert_eq!(result.structured["data"]["connectors"], raw["connectors"]);
    assert!(result.structured["data"].get("streams").is_none());

    fake.rescript(|_| {
        Reply::status(
            409,
            &json!({"error": {"type": "api_error", "code": "ambiguous_schema_detail",
            "message": "Several sources.", "retry_with": "connection_id",
            "available_connections": [{"connection_id": "cin_a", "connector_key": "shop"}]}}),
        )
    });
    let result = host.call("schema", json!({"detail": "full", "stream": "orders"})).await;
    assert!(result.is_error && result.code() == "ambiguous_schema_detail");
    assert_eq!(result.structured["error"]["retry_with"], "connection_id");
    assert!(result.text.contains("\"connection_id\":\"cin_a\""), "{}", result.text);

    fake.forget();
    let result = host.call("schema", json!({"detail": "everything"})).await;
    assert!(result.is_error && fake.seen().is_empty());
}

#[tokio::test]
async fn nothing_granted_and_nothing_matching_say_so() {
    let (_fake, mut host) = before(json!({"object": "schema", "connectors": []})).await;
    assert!(host.call("schema", json!({})).await.text.contains("no stream is granted"));
    let text = host.call("schema", json!({"stream": "nope"})).await.text;
    assert!(text.contains("no granted stream matches; call schema()"), "{text}");
}

#[tokio::test]
async fn names_from_strangers_cannot_leave_their_place() {
    let (_fake, mut host) = before(json!({"streams": [
        {"name": "a\nstream name=\"b", "display_name": "x\u{202e}y", "connection_id": "c,d}|{connection_id:e",
         "field_capabilities": {"f;g[t=1]": "t=a\nb"}}, 7, null, {"name": 5}]}))
    .await;
    let text = host.call("schema", json!({})).await.text;
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.contains(r#"{connection_id:"c,d}|{connection_id:e"}"#) && !text.contains('\u{202e}'),
        "{text}"
    );
    let text = host.call("schema", json!({"stream": "a\nstream name=\"b"})).await.text;
    assert!(text.contains(r#"fields="f;g[t=1]"["#), "{text}");
}

#[tokio::test]
async fn foreign_documents_never_break_the_tool() {
    for body in [
        json!(null),
        json!(5),
        json!([]),
        json!({"connectors": 5}),
        json!({"data": []}),
        json!({"streams": {}}),
        json!({"connectors": [null, {"streams": [1, {"name": "x", "field_capabilities": 5, "granted_connections": [5]}]}]}),
    ] {
        let (_fake, mut host) = before(body.clone()).await;
        for arguments in [
            json!({}),
            json!({"stream": "x", "connection_id": "y"}),
            json!({"stream": "x", "detail": "full"}),
        ] {
            let result = host.call("schema", arguments).await;
            assert!(!result.is_error && result.text.starts_with("PDPP schema:"), "{body}: {}", result.text);
        }
    }
}

#[tokio::test]
async fn the_small_set_is_told_of_no_tool_it_lacks() {
    let fake = Fake::always(compact()).await;
    let settings = Settings { tools: pdpp_mcp::ToolSet::Read, ..Settings::default() };
    let mut host = Host::with_settings(&fake, settings).await;
    for arguments in [json!({}), json!({"stream": "messages"}), json!({"stream": "nope"})] {
        let visible = host.call("schema", arguments).await.visible();
        for tool in ["list_streams", "fetch_blob", "event_subscription"] {
            assert!(!visible.contains(tool), "{tool}: {visible}");
        }
    }
}
