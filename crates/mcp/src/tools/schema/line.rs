//! One stream in one line.

use serde_json::Value;

use super::fields::{fields, inverted, relations, search_modes, views, word};
use super::rows::{Connection, Row, list, text};
use crate::text::{flag, put, quoted};
use crate::tokens::estimate;

/// The most streams described one by one.
pub(super) const MAX_ROWS: usize = 50;

/// Which stream it is, and where it is read.
pub(super) fn identity(row: &Row<'_>, most: usize) -> String {
    let mut line = format!("stream name={}", quoted(row.name, usize::MAX));
    if let Some(key) = row.connector_key {
        put(&mut line, " connector_key=", &quoted(key, 60));
    }
    if let Some(label) = row.display_name {
        put(&mut line, " display_name=", &quoted(label, 60));
    }
    line.push_str(&connections(row, most));
    if let Some(count) = row.stream.get("record_count").and_then(Value::as_u64) {
        put(&mut line, " record_count=", &count.to_string());
    }
    if let Some(window) = time_window(row.stream) {
        put(&mut line, " time_window=", &window);
    }
    line
}

/// ` connections={connection_id:…}|{…}`, or nothing.
pub(super) fn connections(row: &Row<'_>, most: usize) -> String {
    let one = |connection: &Connection<'_>| {
        let label = connection.label.map(|label| format!(",display_name:{}", flag(label, 60)));
        format!("{{connection_id:{}{}}}", word(connection.id), label.unwrap_or_default())
    };
    let shown: Vec<String> = row.connections.iter().take(most).map(one).collect();
    let mut list = String::new();
    if !shown.is_empty() {
        put(&mut list, " connections=", &shown.join("|"));
    }
    if row.connections.len() > most {
        put(&mut list, "|more_connections=", &(row.connections.len() - most).to_string());
    }
    list
}

/// A row with its fields, within `room` tokens.
pub(super) fn described(row: &Row<'_>, room: usize) -> String {
    let mut line = identity(row, MAX_ROWS);
    let key: Vec<String> =
        list(row.stream, "primary_key").iter().filter_map(Value::as_str).map(word).collect();
    if !key.is_empty() {
        put(&mut line, " primary_key=", &key.join("|"));
    }
    if let Some(field) = text(row.stream, "cursor_field") {
        put(&mut line, " sort=", &word(field));
    }
    let fields = fields(row);
    let mut tail = String::new();
    for (name, list) in [
        (" aggregations=", inverted(&fields, "a", 12)),
        (" search=", search_modes(&fields)),
        (" expand=", relations(row).join(";")),
        (" views=", views(row).join("|")),
    ] {
        if !list.is_empty() {
            put(&mut tail, name, &list);
        }
    }
    let mut left = room.saturating_sub(estimate(&line) + estimate(&tail) + 12);
    let mut shown = 0;
    for field in &fields {
        let piece = format!("{}[{}]", word(field.name), bounded(&field.flags));
        let cost = estimate(&piece) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        line.push_str(if shown == 0 { " fields=" } else { ";" });
        line.push_str(&piece);
        shown += 1;
    }
    if shown < fields.len() {
        put(&mut line, " more_fields=", &(fields.len() - shown).to_string());
    }
    line + &tail
}

/// `since..until on field`, of the grant's limit.
fn time_window(stream: &Value) -> Option<String> {
    let limit = stream
        .get("time_constraint")
        .or_else(|| stream.get("time_range"))
        .filter(|limit| limit.is_object())?;
    let bound = |name| text(limit, name).map(bounded).map(|text| word(&text)).unwrap_or_default();
    let field = text(limit, "field").map(|field| format!(" time_field={}", word(field)));
    Some(format!("{}..{}{}", bound("since"), bound("until"), field.unwrap_or_default()))
}

/// Values from outside have no end of their own.
pub(super) fn bounded(text: &str) -> String {
    text.chars().take(200).collect()
}
