//! What stands beside a document's own facts: the server's warnings, and what the boundary changed.

use serde_json::{Map, Value};

use super::document::Record;
use super::room::Room;
use crate::record;
use crate::text::clipped;

/// How many places of bytes are listed.
const REDACTED: usize = 20;

/// What the server wants its reader to know.
pub(super) fn warnings(record: &Record<'_>, room: Room, metadata: &mut Map<String, Value>) {
    let given = record.row.get("meta").and_then(|meta| meta.get("warnings")).and_then(Value::as_array);
    let said = |warning: &Value| {
        let warning = warning.as_object()?;
        let parts = ["code", "message"].map(|name| record::text(warning, name).unwrap_or(""));
        Some(Value::from(clipped(&parts.join(": "), room.value)))
    };
    let warnings: Vec<Value> = given.into_iter().flatten().filter_map(said).take(3).collect();
    if !warnings.is_empty() {
        metadata.insert("warnings".to_owned(), warnings.into());
    }
}

/// What the boundary changed: bytes left out, characters made visible.
pub(super) fn boundary(record: &Record<'_>, room: Room, metadata: &mut Map<String, Value>) {
    let payload = &record.payload;
    if payload.replaced > 0 {
        metadata.insert("unsafe_chars_replaced".to_owned(), payload.replaced.into());
    }
    let fields = payload.binary.iter().take(room.listed);
    let fields: Vec<Value> = fields.map(|field| field.brief(record.adapter, record.handle)).collect();
    if !fields.is_empty() {
        metadata.insert("binary_fields".to_owned(), fields.into());
    }
    let paths = payload.redacted_paths.iter().take(REDACTED.min(room.listed));
    let paths: Vec<Value> = paths.map(|path| clipped(path, room.value).into()).collect();
    if !paths.is_empty() {
        metadata.insert("binary_redacted".to_owned(), paths.into());
    }
}
