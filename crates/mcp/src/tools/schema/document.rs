//! The schema document, whichever server sent it: unwrapped, narrowed, and with one name for each thing.

use pdpp_evidence::scope;
use serde_json::{Map, Value, json};

use super::Wanted;

/// The document itself; some servers wrap it once in `data`.
fn unwrapped(body: Value) -> Value {
    let Value::Object(mut members) = body else { return body };
    let is_schema =
        |members: &Map<String, Value>| members.contains_key("connectors") || members.contains_key("streams");
    if is_schema(&members) {
        return members.into();
    }
    match members.remove("data") {
        Some(Value::Object(inner)) => inner.into(),
        Some(other) => {
            members.insert("data".to_owned(), other);
            members.into()
        }
        None => members.into(),
    }
}

/// The document narrowed to what was asked, also when the server ignored that.
pub(crate) fn prepared(body: Value, wanted: Wanted<'_>) -> Value {
    let mut document = unwrapped(body);
    if wanted.full {
        // Full detail passes as it came.
        return document;
    }
    one_name(&mut document);
    scope(&mut document, wanted.stream, None);
    if wanted.connection_id.is_some() {
        let mut narrowed = document.clone();
        scope(&mut narrowed, None, wanted.connection_id);
        // A server that lists no connections has narrowed by itself, or nothing is left to show either way.
        if names_connections(&document) {
            document = narrowed;
        }
    }
    document
}

fn names_connections(document: &Value) -> bool {
    match document {
        Value::Object(members) => members.iter().any(|(name, member)| {
            name == "granted_connections" || name == "connection_id" || names_connections(member)
        }),
        Value::Array(items) => items.iter().any(names_connections),
        _ => false,
    }
}

/// `connector_instance_id` is the old name of `connection_id`, and is read but never shown.
fn one_name(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(old) = members.shift_remove("connector_instance_id") {
                members.entry("connection_id").or_insert(old);
            }
            members.values_mut().for_each(one_name);
        }
        Value::Array(items) => items.iter_mut().for_each(one_name),
        _ => {}
    }
}

/// Without a stream only identities are kept; fields come when one stream is chosen.
pub(super) fn index(mut document: Value, with_fields: bool) -> Value {
    without_duplicates(&mut document);
    if !with_fields {
        streams_mut(&mut document).for_each(|stream| {
            stream.shift_remove("field_capabilities");
            stream.shift_remove("expand_capabilities");
        });
    }
    if let Value::Object(members) = &mut document {
        members.insert("field_capability_legend".to_owned(), legend());
    }
    document
}

/// Full detail lists no stream twice.
pub(super) fn full(document: &Value) -> Value {
    let mut document = document.clone();
    without_duplicates(&mut document);
    document
}

fn without_duplicates(document: &mut Value) {
    if let Value::Object(members) = document
        && members.get("connectors").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
    {
        members.shift_remove("streams");
    }
}

fn streams_mut(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let mut lists = Vec::new();
    if let Value::Object(members) = document {
        for (name, member) in members {
            match (name.as_str(), member) {
                ("streams", Value::Array(streams)) => lists.push(streams),
                ("connectors", Value::Array(connectors)) => lists.extend(
                    connectors
                        .iter_mut()
                        .filter_map(|connector| connector.get_mut("streams")?.as_array_mut()),
                ),
                _ => {}
            }
        }
    }
    lists.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn legend() -> Value {
    json!({
        "t": "type", "role": "display role", "g=false": "not granted", "eq": "exact filter",
        "r": "range filter operators", "lex": "word search", "sem": "meaning search", "a": "aggregations",
    })
}
