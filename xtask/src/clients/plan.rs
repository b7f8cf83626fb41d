//! What the clients do: the server's command line, what it must list, and each call with its outcome.
//!
//! An outcome is `ok`, the code of a failed result, or the number of a protocol error; a failed read is just `error`,
//! because its number differs from one revision of the protocol to another. There are two plans: one reads from a data
//! directory, the other is before a server, where there are blobs, and where events can be subscribed to.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::clients::{Archive, Served};

const TOOLS: [&str; 15] = [
    "schema",
    "list_streams",
    "query_records",
    "aggregate",
    "search",
    "fetch",
    "read_record_field",
    "fetch_blob",
    "discover_event_subscription_capabilities",
    "create_event_subscription",
    "list_event_subscriptions",
    "get_event_subscription",
    "update_event_subscription",
    "delete_event_subscription",
    "send_test_event",
];
const TEMPLATES: [&str; 4] = [
    "pdpp://stream/{name}",
    "pdpp://record/{handle}",
    "pdpp://field-window/{handle}",
    "pdpp://blob/{handle}",
];
const PROMPTS: [&str; 2] = ["find_evidence", "summarize_stream"];

/// A file of the export that [`Served`] holds: it is named after its content.
const BLOB: &str = "blob_sha256_0670ca3402b9079995e7afd5bef530887c0d789469a8a7d2b041c191efe6340d";
/// Stands for the id of the subscription that was made.
const SUBSCRIPTION: &str = "$subscription";

pub(super) fn of_directory(pdpp: &Path, archive: &Archive) -> Value {
    let successes = successes(&archive.connection).into_iter();
    let calls = successes.map(|(tool, arguments)| (tool, arguments, "ok"));
    let calls: Vec<Value> = calls.chain(failures(&archive.connection)).map(call).collect();
    let read = |uri: &str, expect: &str| json!({"uri": uri, "expect": expect});
    let reads = json!([
        read("pdpp://stream/messages", "ok"),
        read("pdpp://stream/attachments", "error"),
        read("pdpp://nothing/here", "error"),
    ]);
    let command = json!([pdpp, "mcp", "--data", archive.data, "--grant", archive.grant]);
    plan(&command, &json!({}), &calls, &reads)
}

pub(super) fn of_server(pdpp: &Path, served: &Served) -> Value {
    let mut calls = events(&served.callback_host);
    calls.extend(event_failures().into_iter().map(call));
    // The handle that results name beside what a model sees.
    let handle = json!({"v": 1, "kind": "blob", "blob_id": BLOB}).to_string();
    let reads = json!([{"uri": format!("pdpp://blob/{}", URL_SAFE_NO_PAD.encode(handle)), "expect": "ok"}]);
    let command = json!([pdpp, "mcp", "--provider-url", served.url]);
    plan(&command, &json!({"PDPP_CLIENT_TOKEN": served.token}), &calls, &reads)
}

fn plan(command: &Value, env: &Value, calls: &[Value], reads: &Value) -> Value {
    json!({
        "command": command,
        "env": env,
        "tools": TOOLS,
        "templates": TEMPLATES,
        "prompts": PROMPTS,
        "calls": calls,
        "reads": reads,
    })
}

fn call((tool, arguments, expect): (&str, Value, &str)) -> Value {
    json!({"tool": tool, "arguments": arguments, "expect": expect})
}

/// A blob, and the life of a subscription: it is kept, and waited for until its receiver has answered.
fn events(callback_host: &str) -> Vec<Value> {
    let subscription = json!({ "subscription_id": SUBSCRIPTION });
    let mut created = call((
        "create_event_subscription",
        json!({"callback_url": format!("http://{callback_host}/")}),
        "ok",
    ));
    created["keep"] = json!([[SUBSCRIPTION, ["data", "subscription_id"]]]);
    let mut active = call(("get_event_subscription", subscription.clone(), "ok"));
    active["until"] = json!([[["data", "status"], "active"]]);
    let switched_off = json!({"subscription_id": SUBSCRIPTION, "enabled": false});
    let mut calls = vec![
        call(("fetch_blob", json!({ "blob_id": BLOB }), "ok")),
        call(("fetch_blob", json!({"blob_id": BLOB, "range": "bytes=0-4"}), "ok")),
        call(("discover_event_subscription_capabilities", json!({}), "ok")),
        created,
        active,
    ];
    calls.extend(
        [
            ("list_event_subscriptions", json!({}), "ok"),
            ("send_test_event", subscription.clone(), "ok"),
            ("update_event_subscription", switched_off, "ok"),
            ("delete_event_subscription", subscription.clone(), "ok"),
            ("get_event_subscription", subscription, "not_found"),
        ]
        .map(call),
    );
    calls
}

fn event_failures() -> Vec<(&'static str, Value, &'static str)> {
    let nothing = json!({"subscription_id": "sub_none"});
    vec![
        ("fetch_blob", json!({"blob_id": BLOB, "range": "bytes=99-"}), "invalid_range"),
        ("discover_event_subscription_capabilities", json!({"x": 1}), "invalid_arguments"),
        ("list_event_subscriptions", json!({"x": 1}), "invalid_arguments"),
        (
            "create_event_subscription",
            json!({"callback_url": "https://elsewhere.example/"}),
            "callback_not_allowed",
        ),
        ("get_event_subscription", nothing.clone(), "not_found"),
        ("update_event_subscription", json!({"subscription_id": "sub_none", "enabled": true}), "not_found"),
        ("delete_event_subscription", nothing.clone(), "not_found"),
        ("send_test_event", nothing, "not_found"),
    ]
}

fn successes(connection: &str) -> Vec<(&'static str, Value)> {
    let message = format!("{connection}/messages:m_0002");
    vec![
        ("schema", json!({})),
        ("schema", json!({"stream": "messages"})),
        ("schema", json!({"stream": "messages", "detail": "full"})),
        ("list_streams", json!({})),
        ("query_records", json!({"stream": "messages", "limit": 3})),
        (
            "query_records",
            json!({"stream": "messages", "fields": ["id", "text"], "filter": {"author": "Ana"}}),
        ),
        ("query_records", json!({"stream": "messages", "filter": {"stars": {"gte": 1}}, "count": "exact"})),
        ("aggregate", json!({"stream": "messages", "metric": "count"})),
        ("aggregate", json!({"stream": "messages", "metric": "count", "group_by": "author"})),
        ("search", json!({"q": "berth"})),
        ("search", json!({"q": "berth", "streams": ["messages"], "limit": 2})),
        ("search", json!({"q": "nobodyeverwrotethisword"})),
        ("fetch", json!({"id": message})),
        ("fetch", json!({"id": message, "fields": ["id", "author"]})),
        ("read_record_field", json!({"id": message, "field_path": "text"})),
        (
            "read_record_field",
            json!({"id": message, "field_path": "text", "offset_chars": 5, "limit_chars": 10}),
        ),
        (
            "read_record_field",
            json!({"connection_id": connection, "stream": "messages", "record_id": "m_0002", "field_path": "text",
                   "q": "Monday", "before_chars": 5, "after_chars": 5}),
        ),
        ("discover_event_subscription_capabilities", json!({})),
    ]
}

fn failures(connection: &str) -> Vec<(&'static str, Value, &'static str)> {
    let message = format!("{connection}/messages:m_0002");
    vec![
        ("no_such_tool", json!({}), "not_found"),
        ("schema", json!({"detail": "everything"}), "invalid_arguments"),
        ("list_streams", json!({"unknown": 1}), "invalid_arguments"),
        ("query_records", json!({}), "invalid_arguments"),
        ("query_records", json!({"stream": "messages", "limit": 200}), "invalid_arguments"),
        ("query_records", json!({"stream": "messages", "filter": {"author": {}}}), "invalid_filter"),
        ("query_records", json!({"stream": "messages", "cursor": "not-a-cursor"}), "invalid_cursor"),
        ("query_records", json!({"stream": "attachments"}), "grant_stream_not_allowed"),
        ("query_records", json!({"stream": "messages", "fields": ["private_note"]}), "field_not_granted"),
        ("query_records", json!({"stream": "messages", "fields": ["no_such_field"]}), "unknown_field"),
        ("aggregate", json!({"stream": "messages", "metric": "median"}), "invalid_arguments"),
        ("search", json!({"q": "berth", "mode": "semantic"}), "mode_not_available"),
        ("fetch", json!({"id": "not an id"}), "invalid_record_id"),
        ("fetch", json!({"id": format!("{connection}/messages:m_9999")}), "not_found"),
        ("fetch", json!({"id": message, "connection_id": "another"}), "conflicting_connection_id"),
        ("read_record_field", json!({"id": message, "field_path": "private_note"}), "field_not_granted"),
        ("read_record_field", json!({"id": message, "field_path": "stars"}), "field_not_text"),
        (
            "read_record_field",
            json!({"id": message, "field_path": "text", "q": "absent words"}),
            "query_not_found",
        ),
        (
            "read_record_field",
            json!({"id": message, "stream": "messages", "field_path": "text"}),
            "invalid_field_window_selector",
        ),
        ("fetch_blob", json!({"blob_id": "blob_none"}), "blob_not_found"),
        ("fetch_blob", json!({"blob_id": "blob_none", "range": "bytes=9-1"}), "invalid_range"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_called_and_fails_once() {
        let mut called: Vec<_> = successes("c").into_iter().map(|(tool, _)| tool.to_owned()).collect();
        let made = events("127.0.0.1:1").into_iter().filter(|call| call["expect"] == "ok");
        called.extend(made.filter_map(|call| call["tool"].as_str().map(str::to_owned)));
        let failed: Vec<_> =
            failures("c").into_iter().chain(event_failures()).map(|(tool, ..)| tool.to_owned()).collect();
        for tool in TOOLS {
            assert!(called.iter().any(|one| one == tool), "{tool} is never called");
            assert!(failed.iter().any(|one| one == tool), "{tool} never fails");
        }
    }

    #[test]
    fn only_listed_tools_are_called() {
        let all = successes("c").into_iter().map(|(tool, _)| tool);
        let failed = failures("c").into_iter().chain(event_failures()).map(|(tool, ..)| tool);
        let all: Vec<_> = all.chain(failed).collect();
        assert!(all.iter().all(|tool| TOOLS.contains(tool) || *tool == "no_such_tool"), "{all:?}");
    }
}
