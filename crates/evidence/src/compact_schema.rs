//! The compact view of a schema: the same streams and fields in a fraction of the size.
//!
//! A full schema document runs to megabytes. The compact one keeps what a reader needs to form a request: names,
//! keys, connections, and one flag string per field. It is made from the full document alone, also from one that
//! another server sent, so members that are missing or of another shape are passed over and never an error.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::field_flags::flags;

/// The members of a stream that survive as they are, in the order they are written.
const STREAM_MEMBERS: [&str; 14] = [
    "name",
    "connector_key",
    "connector_id",
    "connector_display_name",
    "display_name",
    "connection_display_name",
    "connection_id",
    "connector_instance_id",
    "record_count",
    "granted",
    "primary_key",
    "cursor_field",
    "source",
    "time_constraint",
];

const EXPAND_MEMBERS: [&str; 11] = [
    "name",
    "relation",
    "stream",
    "target_stream",
    "cardinality",
    "granted",
    "usable",
    "foreign_key",
    "max_limit",
    "default_limit",
    "reason",
];

/// The compact view of a schema document. A document that is compact already comes back the same.
pub fn compact(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut out = Map::new();
    out.extend(members.get("object").map(|object| ("object".to_owned(), object.clone())));
    out.insert("detail".to_owned(), "compact".into());
    for (name, member) in members {
        let shown = match (name.as_str(), member) {
            ("object" | "detail" | "connector_count" | "stream_count", _) => continue,
            ("connectors", Value::Array(connectors)) => {
                let connectors: Vec<Value> = connectors.iter().map(compact_connector).collect();
                out.extend(counts(&connectors));
                connectors.into()
            }
            // Some servers list streams without connectors.
            ("streams", Value::Array(streams)) => {
                streams.iter().map(|stream| compact_stream(stream, &[])).collect()
            }
            _ => member.clone(),
        };
        out.insert(name.clone(), shown);
    }
    out.into()
}

/// `connector_count` and `stream_count` of a list of connectors.
pub(crate) fn counts(connectors: &[Value]) -> [(String, Value); 2] {
    let streams = |connector: &Value| connector.get("streams").and_then(Value::as_array).map_or(0, Vec::len);
    [
        ("connector_count".to_owned(), connectors.len().into()),
        ("stream_count".to_owned(), connectors.iter().map(streams).sum::<usize>().into()),
    ]
}

/// The connector with compact streams. The connections that most of its streams share are named once, on it.
fn compact_connector(connector: &Value) -> Value {
    let Value::Object(members) = connector else {
        return connector.clone();
    };
    let streams = members.get("streams").and_then(Value::as_array);
    let shared = members
        .get("granted_connections")
        .and_then(Value::as_array)
        .or_else(|| most_common_connections(streams?));
    let mut out = Map::new();
    for (name, member) in members {
        if !matches!(name.as_str(), "streams" | "granted_connections" | "stream_count") {
            out.insert(name.clone(), member.clone());
        }
    }
    if let Some(streams) = streams {
        out.insert("stream_count".to_owned(), streams.len().into());
    }
    out.extend(shared.map(|shared| ("granted_connections".to_owned(), shared.clone().into())));
    // There may be as many streams as connections, so the set is made once.
    let shared = shared.map_or_else(Vec::new, |shared| as_set(shared));
    let streams =
        streams.map(|streams| streams.iter().map(|stream| compact_stream(stream, &shared)).collect());
    out.extend(streams.map(|streams: Value| ("streams".to_owned(), streams)));
    out.into()
}

/// The most common non-empty set of connections; among equally common ones, the first.
fn most_common_connections(streams: &[Value]) -> Option<&Vec<Value>> {
    let mut seen: HashMap<Vec<String>, usize> = HashMap::new();
    let mut candidates: Vec<(&Vec<Value>, usize)> = Vec::new();
    for connections in streams.iter().filter_map(connections_of).filter(|list| !list.is_empty()) {
        let slot = *seen.entry(as_set(connections)).or_insert(candidates.len());
        match candidates.get_mut(slot) {
            Some((_, count)) => *count += 1,
            None => candidates.push((connections, 1)),
        }
    }
    // `max_by_key` gives the last of equals, so the order is turned around.
    candidates.into_iter().rev().max_by_key(|(_, count)| *count).map(|(connections, _)| connections)
}

fn connections_of(stream: &Value) -> Option<&Vec<Value>> {
    stream.get("granted_connections").and_then(Value::as_array)
}

/// Connections without their order.
fn as_set(connections: &[Value]) -> Vec<String> {
    let mut set: Vec<String> = connections.iter().map(Value::to_string).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// The compact stream; `shared` is the set of connections that its connector names.
fn compact_stream(stream: &Value, shared: &[String]) -> Value {
    let Value::Object(members) = stream else {
        return stream.clone();
    };
    let mut out = kept(members, &STREAM_MEMBERS);
    if let Some(own) = connections_of(stream).filter(|own| as_set(own) != shared) {
        out.insert("granted_connections".to_owned(), own.clone().into());
    }
    if let Some(Value::Object(fields)) = members.get("field_capabilities") {
        let flagged = fields.iter().map(|(field, capability)| (field.clone(), compact_field(capability)));
        out.insert("field_capabilities".to_owned(), flagged.collect::<Map<_, _>>().into());
    }
    if let Some(Value::Array(entries)) = members.get("expand_capabilities") {
        let entries = entries.iter().filter_map(Value::as_object).map(|entry| kept(entry, &EXPAND_MEMBERS));
        out.insert("expand_capabilities".to_owned(), entries.collect());
    }
    out.into()
}

fn compact_field(capability: &Value) -> Value {
    match capability {
        // A flag string already.
        Value::String(_) => capability.clone(),
        _ => flags(capability).into(),
    }
}

fn kept(members: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), members.get(*name)?.clone()))).collect()
}

#[cfg(test)]
mod tests;
