//! A schema too large for one result becomes smaller, keeps every name as long as it can, and says so.

use serde_json::{Map, Value, json};

use super::Wanted;
use super::fields::{Field, fields};
use super::rows::{Row, by_connector};
use crate::tokens::{estimate, estimate_json};

/// A document that fits.
pub(super) enum Shrunk {
    /// As it was.
    Whole(Value),
    /// Less, and the sentence that says what is missing and how to get it.
    Shortened(Value, String),
}

/// Shrinks `data` to `room` tokens.
pub(super) fn shrink(data: Value, rows: &[Row<'_>], wanted: Wanted<'_>, room: usize) -> Shrunk {
    let cost = estimate_json(&data);
    if cost <= room {
        return Shrunk::Whole(data);
    }
    if wanted.full && wanted.stream.is_some() {
        let mut bare = data.clone();
        let left_out = without_descriptions(&mut bare);
        if left_out > 0 && estimate_json(&bare) <= room {
            let note =
                format!("structured data shortened: descriptions_left_out={left_out}, data_tokens={cost}");
            return Shrunk::Shortened(bare, note);
        }
    }
    let mut head = Map::new();
    for name in ["object", "detail", "bearer", "connector_count", "stream_count"] {
        head.extend(data.get(name).map(|member| (name.to_owned(), member.clone())));
    }
    let next = if wanted.stream.is_some() {
        "schema(stream, connection_id)"
    } else {
        "schema(stream, connection_id?)"
    };
    head.insert("shortened".to_owned(), json!({"next": next}));
    let room = room.saturating_sub(estimate_json(&Value::Object(head.clone())) + 60);
    if let ([row], true) = (rows, wanted.stream.is_some()) {
        let (stream, omitted) = fewer_fields(row, room);
        head.insert("streams".to_owned(), json!([stream]));
        let mut note = format!("structured data shortened: fields_omitted={omitted}");
        if wanted.full {
            note.push_str("; full detail does not fit a result, so flags stand for JSON Schema");
        }
        return Shrunk::Shortened(head.into(), note);
    }
    let (members, omitted) = names(rows, room);
    head.extend(members);
    head.insert("streams_omitted".to_owned(), omitted.into());
    let note = format!("structured data shortened to names, streams_omitted={omitted}; narrow with {next}");
    Shrunk::Shortened(head.into(), note)
}

/// Takes the descriptions out of a JSON Schema, at any depth; says how many there were. A field of that name, whose
/// value is no text, stays.
fn without_descriptions(value: &mut Value) -> usize {
    match value {
        Value::Object(members) => {
            let own = members.get("description").is_some_and(Value::is_string);
            if own {
                members.shift_remove("description");
            }
            usize::from(own) + members.values_mut().map(without_descriptions).sum::<usize>()
        }
        Value::Array(items) => items.iter_mut().map(without_descriptions).sum(),
        _ => 0,
    }
}

/// The stream with the names of its fields, and the flags of as many as fit beside them.
fn fewer_fields(row: &Row<'_>, room: usize) -> (Value, usize) {
    let fields = fields(row);
    let naming = |name: &str| estimate(name) + 3;
    let mut for_names = room;
    let kept = fields.iter().take_while(|field| take(&mut for_names, naming(field.name))).count();
    let mut for_flags = for_names;
    let flags = |field: &&Field<'_>| take(&mut for_flags, estimate(&field.flags) + 3);
    let with_flags = fields[..kept].iter().take_while(flags).count();
    let flagged: Map<String, Value> = fields[..with_flags]
        .iter()
        .map(|field| (field.name.to_owned(), field.flags.as_str().into()))
        .collect();
    let others: Vec<&str> = fields[with_flags..kept].iter().map(|field| field.name).collect();
    let omitted = fields.len() - kept;
    let connections = connections(row);
    let stream = json!({
        "name": row.name, "connector_key": row.connector_key, "granted_connections": connections,
        "field_capabilities": flagged, "more_fields": others, "fields_omitted": omitted,
    });
    (stream, omitted)
}

/// Names and connections only; when even that is too much, names; then as many names as fit.
fn names(rows: &[Row<'_>], room: usize) -> (Map<String, Value>, usize) {
    for detailed in [true, false] {
        // A name costs a token at least.
        if rows.len() > room {
            break;
        }
        let members = grouped(rows, detailed);
        if estimate_json(&Value::Object(members.clone())) <= room {
            return (members, 0);
        }
    }
    let mut left = room;
    let kept = rows
        .iter()
        .take_while(|row| take(&mut left, estimate(row.name) + row.connector_key.map_or(0, estimate) + 12))
        .count();
    (grouped(&rows[..kept], false), rows.len() - kept)
}

fn grouped(rows: &[Row<'_>], detailed: bool) -> Map<String, Value> {
    let connector = |group: &[Row<'_>]| {
        let shared = connections(&group[0]);
        let entry = |row: &Row<'_>| match connections(row) {
            own if detailed && own != shared => json!({"name": row.name, "granted_connections": own}),
            _ => Value::from(row.name),
        };
        let streams: Vec<Value> = group.iter().map(entry).collect();
        let mut connector = json!({"connector_key": group[0].connector_key, "stream_count": streams.len()});
        if detailed && !shared.is_empty() {
            connector["granted_connections"] = shared.into();
        }
        connector["streams"] = streams.into();
        connector
    };
    Map::from_iter([("connectors".to_owned(), by_connector(rows).map(connector).collect())])
}

fn connections(row: &Row<'_>) -> Vec<Value> {
    row.connections.iter().take(8).map(|connection| json!({"connection_id": connection.id})).collect()
}

fn take(left: &mut usize, cost: usize) -> bool {
    let fits = cost <= *left;
    *left = left.saturating_sub(cost);
    fits
}
