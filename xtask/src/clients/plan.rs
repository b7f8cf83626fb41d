//! What the clients do: the server's command line, what it must list, and each call with its outcome.
//!
//! An outcome is `ok`, the code of a failed result, or the number of a protocol error; a failed read is just `error`,
//! because its number differs from one revision of the protocol to another.

use std::path::Path;

use serde_json::{Value, json};

use crate::clients::Archive;

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

pub(super) fn plan(pdpp: &Path, archive: &Archive) -> Value {
    let calls: Vec<Value> = successes(&archive.connection)
        .into_iter()
        .map(|(tool, arguments)| (tool, arguments, "ok"))
        .chain(failures(&archive.connection))
        .map(|(tool, arguments, expect)| json!({"tool": tool, "arguments": arguments, "expect": expect}))
        .collect();
    let read = |uri: &str, expect: &str| json!({"uri": uri, "expect": expect});
    json!({
        "command": [pdpp, "mcp", "--data", archive.data, "--grant", archive.grant],
        "env": {},
        "tools": TOOLS,
        "templates": TEMPLATES,
        "prompts": PROMPTS,
        "calls": calls,
        "reads": [
            read("pdpp://stream/messages", "ok"),
            read("pdpp://stream/attachments", "error"),
            read("pdpp://nothing/here", "error"),
        ],
    })
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

    /// The tools that read; the others change event subscriptions.
    const READ: [&str; 8] = [
        "schema",
        "list_streams",
        "query_records",
        "aggregate",
        "search",
        "fetch",
        "read_record_field",
        "fetch_blob",
    ];

    #[test]
    fn every_tool_that_reads_is_called_and_fails_once() {
        let called: Vec<_> = successes("c").into_iter().map(|(tool, _)| tool).collect();
        let failed: Vec<_> = failures("c").into_iter().map(|(tool, ..)| tool).collect();
        for tool in READ {
            // The samples hold no blob to read.
            assert!(called.contains(&tool) || tool == "fetch_blob", "{tool} is never called");
            assert!(failed.contains(&tool), "{tool} never fails");
        }
    }

    #[test]
    fn only_listed_tools_are_called() {
        let all = successes("c").into_iter().map(|(tool, _)| tool);
        let all: Vec<_> = all.chain(failures("c").into_iter().map(|(tool, ..)| tool)).collect();
        assert!(all.iter().all(|tool| TOOLS.contains(tool) || *tool == "no_such_tool"), "{all:?}");
    }
}
