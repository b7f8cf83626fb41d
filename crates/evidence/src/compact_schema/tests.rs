//! Cases for `compact_schema`: short inputs, whole expected outputs.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::random::Random;

#[track_caller]
fn check(schema: Value, expected: Expect) {
    let small = compact(&schema);
    assert_eq!(compact(&small), small, "compacting twice changes nothing");
    expected.assert_eq(&small.to_string());
}

/// Only the connections, one line per connector: the shared set, then each stream's own.
#[track_caller]
fn check_connections(streams: &[&str], expected: Expect) {
    let list = |names: &str| -> Value {
        names.split_whitespace().map(|name| json!({ "connection_id": name })).collect()
    };
    let streams: Value =
        streams.iter().map(|names| json!({"name": "s", "granted_connections": list(names)})).collect();
    let small = compact(&json!({"connectors": [{"streams": streams}]}));
    let show = |value: &Value| match value.get("granted_connections").and_then(Value::as_array) {
        Some(own) => format!(
            "[{}]",
            own.iter().map(|c| c["connection_id"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        ),
        None => "-".to_owned(),
    };
    let connector = &small["connectors"][0];
    let own: Vec<String> = connector["streams"].as_array().unwrap().iter().map(show).collect();
    expected.assert_eq(&format!("{}: {}", show(connector), own.join(" ")));
}

#[test]
fn a_full_document_shrinks_to_its_request_vocabulary() {
    check(
        json!({
            "object": "schema",
            "bearer": {"token_kind": "client", "scope": "grant", "grant_id": "g1", "client_id": "c1"},
            "connectors": [{
                "object": "connector",
                "source": {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/gmail"},
                "connector_key": "gmail",
                "connector_id": "gmail",
                "stream_count": 1,
                "streams": [{
                    "object": "stream_metadata",
                    "name": "messages",
                    "semantics": "mutable_state",
                    "schema": {"type": "object"},
                    "primary_key": ["id"],
                    "cursor_field": "received_at",
                    "consent_time_field": "received_at",
                    "selection": {"fields": true},
                    "views": [],
                    "relationships": [],
                    "query": {},
                    "freshness": {"status": "unknown"},
                    "granted_connections": [{"connection_id": "cin_a1", "display_name": "Personal"}],
                    "field_capabilities": {
                        "id": {"schema": {"type": "string"}, "granted": true},
                        "subject": {"type": "text", "role": "primary-title", "granted": true,
                            "lexical_search": {"declared": true, "usable": true},
                            "semantic_search": {"declared": true, "usable": true}},
                        "received_at": {"schema": {"type": "string"}, "role": "event-time", "granted": true,
                            "aggregation": {"group_by_time": {"usable": true}, "max": {"usable": true}, "min": {"usable": true}}},
                        "body": {"schema": {"type": "string"}, "granted": false,
                            "lexical_search": {"declared": true, "usable": false, "reason": "field_not_granted"}},
                    },
                    "expand_capabilities": [{
                        "name": "attachments", "stream": "attachments", "target_stream": "attachments",
                        "cardinality": "has_many", "child_parent_key_field": "message_id",
                        "foreign_key": "message_id", "default_limit": 10, "max_limit": 50,
                        "granted": true, "usable": true,
                    }],
                }],
            }],
            "links": {"self": "/v1/schema"},
            "meta": {"count": {"kind": "none"}, "warnings": []},
        }),
        expect![[
            r#"{"object":"schema","detail":"compact","bearer":{"token_kind":"client","scope":"grant","grant_id":"g1","client_id":"c1"},"connector_count":1,"stream_count":1,"connectors":[{"object":"connector","source":{"kind":"connector","id":"https://registry.pdpp.dev/connectors/gmail"},"connector_key":"gmail","connector_id":"gmail","stream_count":1,"granted_connections":[{"connection_id":"cin_a1","display_name":"Personal"}],"streams":[{"name":"messages","primary_key":["id"],"cursor_field":"received_at","field_capabilities":{"id":"t=string","subject":"t=text,role=primary-title,lex,sem","received_at":"t=string,role=event-time,a=group_by_time|max|min","body":"t=string,g=false,lex=unusable:field_not_granted"},"expand_capabilities":[{"name":"attachments","stream":"attachments","target_stream":"attachments","cardinality":"has_many","granted":true,"usable":true,"foreign_key":"message_id","max_limit":50,"default_limit":10}]}]}],"links":{"self":"/v1/schema"},"meta":{"count":{"kind":"none"},"warnings":[]}}"#
        ]],
    );
}

#[test]
fn the_most_common_connections_are_named_once() {
    check_connections(&["a b", "a b", "c"], expect!["[a b]: - - [c]"]);
    check_connections(&["c", "a b", "b a"], expect!["[a b]: [c] - -"]);
    check_connections(&["a", "b"], expect!["[a]: - [b]"]);
    check_connections(&["b", "a", "a", "b"], expect!["[b]: - [a] [a] -"]);
    check_connections(&["a"], expect!["[a]: -"]);
}

#[test]
fn an_empty_set_differs_only_from_a_shared_one() {
    check_connections(&["", "", "a"], expect!["[a]: [] [] -"]);
    check_connections(&["", ""], expect!["-: - -"]);
}

#[test]
fn names_of_connections_count_in_the_comparison() {
    let named = json!([{"connection_id": "a", "display_name": "Home"}]);
    let small = compact(&json!({"connectors": [{"streams": [
        {"granted_connections": named}, {"granted_connections": named},
        {"granted_connections": [{"connection_id": "a"}]},
    ]}]}));
    assert_eq!(small["connectors"][0]["streams"][0].get("granted_connections"), None);
    assert_eq!(small["connectors"][0]["streams"][2]["granted_connections"], json!([{"connection_id": "a"}]));
}

#[test]
fn every_surviving_member_survives() {
    let members: Map<String, Value> =
        STREAM_MEMBERS.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
    let small = compact_stream(&Value::Object(members.clone()), &[]);
    assert_eq!(small, Value::Object(members));
    let entry: Map<String, Value> =
        EXPAND_MEMBERS.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
    let small = compact_stream(&json!({"expand_capabilities": [entry.clone()]}), &[]);
    assert_eq!(small["expand_capabilities"][0], Value::Object(entry));
}

#[test]
fn foreign_shapes_are_tolerated() {
    check(json!(null), expect!["null"]);
    check(json!([1]), expect!["[1]"]);
    check(json!({}), expect![[r#"{"detail":"compact"}"#]]);
    check(
        json!({"connectors": 5, "streams": "x"}),
        expect![[r#"{"detail":"compact","connectors":5,"streams":"x"}"#]],
    );
    check(
        json!({"connectors": [null, "gmail", {}, {"streams": 3}, {"streams": [null, "messages", {}]}]}),
        expect![[
            r#"{"detail":"compact","connector_count":5,"stream_count":3,"connectors":[null,"gmail",{},{},{"stream_count":3,"streams":[null,"messages",{}]}]}"#
        ]],
    );
    check(
        json!({"connectors": [{"streams": [{"granted_connections": 1, "field_capabilities": [1], "expand_capabilities": {}}]}]}),
        expect![[
            r#"{"detail":"compact","connector_count":1,"stream_count":1,"connectors":[{"stream_count":1,"streams":[{}]}]}"#
        ]],
    );
    check(
        json!({"streams": [{"name": "s", "schema": {}, "field_capabilities": {"a": null}, "expand_capabilities": [1, {}]}]}),
        expect![[
            r#"{"detail":"compact","streams":[{"name":"s","field_capabilities":{"a":"declared"},"expand_capabilities":[{}]}]}"#
        ]],
    );
}

#[test]
fn arbitrary_documents_never_fail() {
    const KEYS: &[&str] = &[
        "connectors",
        "streams",
        "granted_connections",
        "field_capabilities",
        "expand_capabilities",
        "name",
        "connection_id",
        "schema",
        "type",
        "aggregation",
        "object",
        "detail",
        "range_filter",
        "operators",
    ];
    fn arbitrary(random: &mut Random, depth: usize) -> Value {
        match random.below(if depth == 0 { 3 } else { 7 }) {
            0 => Value::Null,
            1 => random.pick(KEYS).into(),
            2 => random.below(3).into(),
            3 | 4 => (0..random.below(4)).map(|_| arbitrary(random, depth - 1)).collect(),
            _ => (0..random.below(5))
                .map(|_| (random.pick(KEYS).to_owned(), arbitrary(random, depth - 1)))
                .collect::<Map<_, _>>()
                .into(),
        }
    }
    let mut random = Random::new(3);
    for _ in 0..5_000 {
        let mut schema =
            json!({"connectors": [arbitrary(&mut random, 5)], "streams": arbitrary(&mut random, 4)});
        let small = compact(&schema);
        assert_eq!(compact(&small), small, "{schema}");
        crate::scope(&mut schema, Some("name"), Some("type"));
    }
}
