//! Selections and the grants they become, one line each.

use std::sync::Arc;

use expect_test::{Expect, expect};
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

use super::*;
use crate::ConnectionStatus;

fn source(connections: &[&str]) -> Source {
    let document = json!({"connector_key": "chat",
    "selection_presets": [{"id": "heads", "streams": [{"name": "messages", "view": "head"}]}],
    "streams": [
        {"name": "messages", "primary_key": ["id"], "consent_time_field": "sent_at",
         "selection": {"fields": true, "resources": true},
         "schema": {"required": ["id"], "properties": {"text": {"type": "string"}, "id": {"type": "string"},
            "author": {"type": "string"}, "sent_at": {"type": "string", "format": "date-time"}}},
         "views": [{"id": "head", "fields": ["author"]}]},
        {"name": "days", "primary_key": ["user", "day"],
         "selection": {"resources": true},
         "schema": {"required": ["user", "day"],
            "properties": {"user": {"type": "string"}, "day": {"type": "string"}, "steps": {"type": "integer"}}}}
    ]});
    let connection = |id: &&str| Connection {
        connection_id: id.parse().unwrap(),
        display_name: None,
        status: if id.starts_with("draft") { ConnectionStatus::Draft } else { ConnectionStatus::Active },
    };
    Source {
        manifest: Arc::new(Manifest::from_document(document).unwrap()),
        declaration_version: "sha256:1".into(),
        connections: connections.iter().map(connection).collect(),
    }
}

#[track_caller]
fn check(connections: &[&str], selection: Value, expected: Expect) {
    let mut request = json!({
        "source": {"kind": "connector", "id": "urn:pdpp:source:chat"}, "purpose_code": "urn:x", "access_mode": "continuous",
    });
    request.as_object_mut().unwrap().extend(selection.as_object().unwrap().clone());
    let terms = GrantTerms {
        grant_id: GrantId::parse("grt_1").unwrap(),
        subject_id: SubjectId::parse("owner_local").unwrap(),
        client_id: ClientId::parse("app").unwrap(),
        issued_at: Instant::from_micros(0),
        expires_at: None,
    };
    let outcome = resolve_selection(&source(connections), &serde_json::from_value(request).unwrap(), &terms);
    expected.assert_eq(&match outcome {
        Err(denial) => denial.message,
        Ok(grant) => grant
            .streams
            .iter()
            .map(|stream| serde_json::to_string(stream).unwrap())
            .collect::<Vec<_>>()
            .join("\n"),
    });
}

fn streams(stream: Value) -> Value {
    json!({ "streams": [stream] })
}

#[test]
fn fields_are_sorted_and_always_hold_the_required_ones() {
    check(
        &["a"],
        streams(json!({"name": "messages"})),
        expect![[r#"{"name":"messages","instance_ids":["a"],"fields":["author","id","sent_at","text"]}"#]],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "fields": ["text"]})),
        expect![[r#"{"name":"messages","instance_ids":["a"],"fields":["id","text"]}"#]],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "view": "head"})),
        expect![[r#"{"name":"messages","instance_ids":["a"],"fields":["author","id"]}"#]],
    );
    check(
        &["a"],
        json!({"selection_preset": "heads"}),
        expect![[r#"{"name":"messages","instance_ids":["a"],"fields":["author","id"]}"#]],
    );
}

#[test]
fn a_wildcard_is_every_declared_stream() {
    check(
        &["a", "b"],
        streams(json!({"name": "*", "instance_ids": ["b"]})),
        expect![[r#"
        {"name":"messages","instance_ids":["b"],"fields":["author","id","sent_at","text"]}
        {"name":"days","instance_ids":["b"],"fields":["day","steps","user"]}"#]],
    );
}

#[test]
fn times_and_records_are_frozen() {
    check(
        &["a"],
        streams(json!({"name": "messages", "time_range": {"since": "2026-01-01"}})),
        expect![[
            r#"{"name":"messages","instance_ids":["a"],"fields":["author","id","sent_at","text"],"time_constraint":{"field":"sent_at","since":"2026-01-01"}}"#
        ]],
    );
    check(
        &["a"],
        streams(json!({"name": "days", "resources": [r#"["u1","2026-04-01"]"#]})),
        expect![[
            r#"{"name":"days","instance_ids":["a"],"fields":["day","steps","user"],"resources":["[\"u1\",\"2026-04-01\"]"]}"#
        ]],
    );
}

#[test]
fn what_is_not_offered_is_refused_with_the_reason() {
    check(
        &["a"],
        streams(json!({"name": "nowhere"})),
        expect!["The stream 'nowhere' is not declared by 'chat'."],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "fields": ["colour"]})),
        expect!["Stream 'messages' declares no field 'colour'."],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "view": "nope"})),
        expect!["Stream 'messages' declares no view 'nope'."],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "view": "head", "fields": ["id"]})),
        expect!["Stream 'messages': name a view or fields, not both."],
    );
    check(
        &["a"],
        streams(json!({"name": "days", "fields": ["steps"]})),
        expect!["Stream 'days' does not allow choosing fields."],
    );
    check(
        &["a"],
        streams(json!({"name": "days", "time_range": {"since": "2026-01-01"}})),
        expect!["Stream 'days' has no time field and cannot be limited in time."],
    );
    check(
        &["a"],
        streams(json!({"name": "days", "resources": [r#"["u1"]"#]})),
        expect![[r#"Stream 'days': '["u1"]' is not a canonical key of 2 parts."#]],
    );
    check(
        &["a"],
        streams(json!({"name": "days", "resources": [r#"["u1", "d"]"#]})),
        expect![[r#"Stream 'days': '["u1", "d"]' is not a canonical key of 2 parts."#]],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "resources": ["m", "m"]})),
        expect!["grant is invalid: stream messages: resources must be non-empty and unique"],
    );
    check(
        &["a"],
        streams(json!({"name": "messages", "time_range": {"since": "2026-02-01", "until": "2026-01-01"}})),
        expect!["Stream 'messages': the time range needs a parseable since or until, in order."],
    );
    check(&["a"], json!({"selection_preset": "nope"}), expect!["The preset 'nope' is not declared."]);
    check(
        &["a"],
        json!({"selection_preset": "heads", "streams": [{"name": "days"}]}),
        expect!["Name a preset or streams, not both."],
    );
    check(&["a"], json!({}), expect!["Name at least one stream, or `*`."]);
    check(
        &["a"],
        streams(json!({"name": "messages", "instance_ids": ["zzz"]})),
        expect!["'zzz' is not an active connection of 'chat'."],
    );
}

#[test]
fn leaving_connections_out_never_means_all_of_them() {
    let all = || streams(json!({"name": "messages"}));
    check(
        &[],
        all(),
        expect!["Stream 'messages' requires exactly one eligible connection, found 0; name one."],
    );
    check(
        &["a", "b"],
        all(),
        expect!["Stream 'messages' requires exactly one eligible connection, found 2; name one."],
    );
    check(
        &["a", "draft"],
        all(),
        expect![[r#"{"name":"messages","instance_ids":["a"],"fields":["author","id","sent_at","text"]}"#]],
    );
}
