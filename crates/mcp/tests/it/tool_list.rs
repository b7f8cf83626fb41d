//! The list of tools: what it costs, what it says, and that results keep the schemas it declares.

use std::collections::HashMap;

use pdpp_mcp::{ResultDetail, Settings, ToolSet};
use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply};
use crate::tokens::count;

const NAMES: [&str; 15] = [
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
const MAX_BYTES: usize = 16_384;
const MAX_TOKENS: usize = 4_000;

async fn listed() -> Vec<Value> {
    let fake = Fake::always(json!({})).await;
    Host::connect(&fake).await.tools().await
}

/// What is wrong with the size of a list, or with guidance that is said more than once.
fn faults(tools: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let text = Value::from(tools.to_vec()).to_string();
    if text.len() > MAX_BYTES {
        faults.push(format!("{} bytes", text.len()));
    }
    let tokens = count(&text);
    if tokens > MAX_TOKENS {
        faults.push(format!("{tokens} tokens"));
    }
    let holding = |part: &str| -> Vec<&str> {
        let holds = |tool: &&Value| tool.to_string().contains(part);
        tools.iter().filter(holds).filter_map(|tool| tool["name"].as_str()).collect()
    };
    if holding("available_connections").len() > 1 {
        faults.push("recovery is explained more than once".to_owned());
    }
    for part in ["Standard Webhooks", "webhook-signature", "CloudEvents"] {
        if holding(part).iter().any(|name| *name != "discover_event_subscription_capabilities") {
            faults.push(format!("{part} is explained outside discovery"));
        }
    }
    for (sentence, times) in long_sentences(tools) {
        if times > 2 {
            faults.push(format!("said {times} times: {sentence}"));
        }
    }
    faults
}

/// Sentences of 80 characters and more, with the number of tools that have each.
fn long_sentences(tools: &[Value]) -> HashMap<String, usize> {
    fn texts(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(text) if name == "description" => {
                            out.extend(
                                text.split(". ").filter(|it| it.chars().count() >= 80).map(str::to_owned),
                            );
                        }
                        other => texts(other, out),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
            _ => {}
        }
    }
    let mut counts = HashMap::new();
    for tool in tools {
        let mut sentences = Vec::new();
        texts(tool, &mut sentences);
        sentences.sort_unstable();
        sentences.dedup();
        for sentence in sentences {
            *counts.entry(sentence).or_insert(0) += 1;
        }
    }
    counts
}

/// S2-R2: descriptions are concise; what is shared stands in one place.
/// S2-R3: the size of the list is held to its budget by this test.
#[tokio::test]
async fn the_list_keeps_its_budget_and_repeats_nothing() {
    assert_eq!(faults(&listed().await), [""; 0]);
}

/// S2-R3-S1: the check fails when long guidance comes back.
#[tokio::test]
async fn thirty_kilobytes_of_description_are_noticed() {
    let tools = listed().await;
    for index in 0..tools.len() {
        let mut longer = tools.clone();
        longer[index]["description"] = "Guidance that was removed. ".repeat(1_200).into();
        assert!(!faults(&longer).is_empty());
    }
    let recovery = "On ambiguous_connection repeat the call with one connection_id out of available_connections, as listed.";
    let mut repeated = tools.clone();
    for tool in &mut repeated[..3] {
        tool["inputSchema"]["properties"]["connection_id"] =
            json!({"type": "string", "description": recovery});
    }
    assert_eq!(faults(&repeated).len(), 2);
    let mut signing = tools;
    signing[9]["description"] = "Mutating. Verify with Standard Webhooks.".into();
    assert_eq!(faults(&signing), ["Standard Webhooks is explained outside discovery"]);
}

/// S2-R2-S1: all read and event tools are there, in a stable order.
#[tokio::test]
async fn fifteen_tools_are_listed_and_six_on_request() {
    let names = |tools: Vec<Value>| -> Vec<String> {
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(listed().await), NAMES);
    let fake = Fake::always(json!({})).await;
    let mut host = Host::with_settings(&fake, Settings { tools: ToolSet::Read, ..Settings::default() }).await;
    let read = names(host.tools().await);
    assert_eq!(read, ["schema", "query_records", "aggregate", "search", "fetch", "read_record_field"]);
    for tool in NAMES.iter().filter(|name| !read.iter().any(|it| it == *name)) {
        let result = host.call(tool, json!({})).await;
        assert!(result.is_error && result.text.contains("not found"), "{tool}");
    }
    assert!(fake.seen().is_empty());
}

/// S2-R2-S2: each description says what the tool does to the world and which route it is.
#[tokio::test]
async fn every_description_names_its_route_and_effect() {
    for tool in listed().await {
        let description = tool["description"].as_str().unwrap_or("");
        assert!(
            description.contains("/v1/") || description.contains(".well-known"),
            "{}: {description}",
            tool["name"]
        );
        let hints = &tool["annotations"];
        let word = match (&hints["readOnlyHint"], &hints["destructiveHint"]) {
            (Value::Bool(true), _) => "Read-only",
            (_, Value::Bool(true)) => "Destructive",
            _ => "Mutating",
        };
        assert!(description.contains(word), "{}: {description}", tool["name"]);
        assert_eq!(hints["openWorldHint"], false);
    }
}

/// S2-R4: no description calls structured output hidden.
#[tokio::test]
async fn nothing_is_said_to_be_hidden() {
    for tool in listed().await {
        let text = tool.to_string().to_lowercase();
        for word in ["hidden", "not shown", "invisible", "not visible"] {
            assert!(!text.contains(word), "{}: {word}", tool["name"]);
        }
    }
}

/// S2-R4-S1: the wide reads call structured content structured output, and advise paging, fewer fields, and
/// counting or searching first.
#[tokio::test]
async fn wide_reads_advise_narrowing() {
    let tools = listed().await;
    for (name, advice) in [
        ("query_records", &[&["cursor"][..], &["fields"], &["aggregate", "search"]][..]),
        ("search", &[&["cursor", "limit", "fields", "aggregate"][..]][..]),
        ("fetch", &[&["fields"][..]][..]),
    ] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let description = tool["description"].as_str().unwrap_or("");
        assert!(description.contains("tructured output"), "{name}: {description}");
        for words in advice {
            let told = words.iter().any(|word| description.contains(word));
            assert!(told, "{name} advises none of {words:?}: {description}");
        }
    }
}

/// Each of the tools that filter says how, and `query_records` what an order and a view may be.
#[tokio::test]
async fn arguments_with_a_form_of_their_own_say_it() {
    let tools = listed().await;
    let property = |tool: &str, name: &str| {
        tools.iter().find(|it| it["name"] == tool).unwrap()["inputSchema"]["properties"][name].clone()
    };
    for tool in ["query_records", "aggregate", "search"] {
        let filter = property(tool, "filter");
        let mut rest = filter["description"].as_str().unwrap_or("");
        for part in [
            "typed object filter",
            "pre-encoded query string",
            "filter[field]",
            "filter[field][op]",
            "gte gt lte lt",
            "GET /v1/schema",
        ] {
            (_, rest) = rest.split_once(part).unwrap_or_else(|| panic!("{tool}: {part}"));
        }
    }
    assert_eq!(property("query_records", "order"), json!({"enum": ["asc", "desc"]}));
    let view = property("query_records", "view");
    assert!(view["description"].as_str().unwrap_or("").contains("views="), "{view}");
}

/// S2-R4-S2: how much of an answer is repeated can be chosen.
#[tokio::test]
async fn result_detail_is_a_setting() {
    assert_eq!(Settings::default().detail, ResultDetail::Full);
    let fake = Fake::always(json!({})).await;
    let settings = Settings { detail: ResultDetail::Compact, ..Settings::default() };
    assert_eq!(Host::with_settings(&fake, settings).await.tools().await.len(), NAMES.len());
}

#[tokio::test]
async fn the_schema_tool_tells_the_path() {
    let tools = listed().await;
    let description = tools[0]["description"].as_str().unwrap();
    for part in [
        "compact",
        "schema -> schema(stream) -> schema(stream, connection_id) -> query_records",
        "detail: \"full\"",
        "allowed only with `stream`",
        "/v1/schema",
        "connection_id",
        "connector_key",
    ] {
        assert!(description.contains(part), "{part}");
    }
    for name in ["create_event_subscription", "update_event_subscription", "send_test_event"] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let description = tool["description"].as_str().unwrap();
        for part in ["HTTPS", "query_records", "changes_since", "capabilities.client_event_subscriptions"] {
            assert!(description.contains(part), "{name}: {part}");
        }
    }
}

#[tokio::test]
async fn lists_may_be_kept_by_their_own_client_only() {
    let fake = Fake::always(json!({})).await;
    let mut host = Host::connect(&fake).await;
    assert_eq!(host.welcome["capabilities"]["tools"], json!({}), "no change is announced that never comes");
    let prompts = host.request("prompts/list", json!({})).await;
    let tools = host.request("tools/list", json!({})).await;
    for list in [prompts, tools] {
        let scope = &list["result"]["cacheScope"];
        assert!(scope.is_null() || scope == "private", "{scope}");
    }
}

/// The tools of discovery and events, with arguments that succeed.
fn calls() -> Vec<(&'static str, Value)> {
    let one = json!({"subscription_id": "sub_1"});
    vec![
        ("schema", json!({})),
        ("schema", json!({"stream": "messages", "connection_id": "cin_a"})),
        ("schema", json!({"stream": "messages", "detail": "full"})),
        ("list_streams", json!({})),
        ("discover_event_subscription_capabilities", json!({})),
        ("create_event_subscription", json!({"callback_url": "https://hooks.example"})),
        ("list_event_subscriptions", json!({})),
        ("get_event_subscription", one.clone()),
        ("update_event_subscription", json!({"subscription_id": "sub_1", "enabled": true})),
        ("delete_event_subscription", one.clone()),
        ("send_test_event", one),
    ]
}

/// S3-R1: only the listed routes are called, all with the one bearer.
#[tokio::test]
async fn only_granted_routes_are_called_with_one_bearer() {
    let fake = Fake::always(json!({"data": [], "streams": [{"name": "messages"}]})).await;
    let mut host = Host::connect(&fake).await;
    for (tool, arguments) in calls() {
        host.call(tool, arguments).await;
    }
    let params = json!({"ref": {"type": "ref/prompt", "name": "find_evidence"}, "argument": {"name": "stream", "value": ""}});
    host.request("completion/complete", params).await;
    for seen in fake.seen() {
        assert_eq!(seen.authorization, "Bearer client-token-of-the-tests");
        let listed = matches!(
            (seen.method.as_str(), seen.path.as_str()),
            (
                "GET",
                "/v1/schema"
                    | "/v1/streams"
                    | "/.well-known/oauth-protected-resource"
                    | "/v1/event-subscriptions"
            ) | ("POST", "/v1/event-subscriptions" | "/v1/event-subscriptions/sub_1/test-event")
                | ("GET" | "PATCH" | "DELETE", "/v1/event-subscriptions/sub_1")
        );
        assert!(listed, "{} {}", seen.method, seen.path);
    }
    assert_eq!(fake.seen().len(), calls().len() + 1);
}

#[tokio::test]
async fn results_and_errors_keep_the_declared_schemas() {
    let fake = Fake::always(json!({"data": [], "streams": [{"name": "messages"}]})).await;
    let mut host = Host::connect(&fake).await;
    let tools = host.tools().await;
    let valid = |tool: &str, structured: &Value| {
        let schema = &tools.iter().find(|it| it["name"] == tool).unwrap()["outputSchema"];
        assert_eq!(schema["type"], "object");
        jsonschema::validator_for(schema).unwrap().is_valid(structured)
    };
    for (tool, arguments) in calls() {
        let result = host.call(tool, arguments).await;
        assert!(!result.is_error && valid(tool, &result.structured), "{tool}: {}", result.structured);
    }
    fake.rescript(|_| Reply::error(403, "grant_revoked", "gone"));
    for (tool, arguments) in calls() {
        let result = host.call(tool, arguments).await;
        assert!(result.is_error && valid(tool, &result.structured), "{tool}: {}", result.structured);
    }
    for tool in NAMES {
        let result = host.call(tool, json!({"no_such_argument": 1})).await;
        assert!(result.is_error && valid(tool, &result.structured), "{tool}: {}", result.structured);
    }
}
