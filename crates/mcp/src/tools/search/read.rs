//! The call that reads on from a hit or from one of its windows.

use pdpp_evidence::safe_name;
use serde_json::{Map, Value, json};

use super::hit::Hit;
use super::window::{Window, sound_path};
use crate::record::is_projectable;

/// How much text around a literal match is asked for on either side.
const CONTEXT_CHARS: u64 = 400;

/// One callable continuation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Read {
    pub(super) tool: &'static str,
    pub(super) args: Map<String, Value>,
}

impl Read {
    pub(super) fn value(self) -> Value {
        let mut value = Map::with_capacity(2);
        value.insert("tool".to_owned(), self.tool.into());
        value.insert("args".to_owned(), self.args.into());
        value.into()
    }
}

/// The read of a window's field, landing on the match where its place is known.
pub(super) fn of_window(hit: &Hit, window: &Window) -> Option<Read> {
    let mut read = of_field(hit, &window.field_path)?;
    if read.tool == "read_record_field" {
        if !window.place.is_empty() {
            read.args.extend(window.place.clone());
        } else if let Some(literal) = window.text.literal() {
            read.args.insert("q".to_owned(), literal.into());
            read.args.insert("before_chars".to_owned(), CONTEXT_CHARS.into());
            read.args.insert("after_chars".to_owned(), CONTEXT_CHARS.into());
        }
    }
    Some(read)
}

/// The read of one field. `read_record_field` needs the connection; without one, `fetch` projects the field.
pub(super) fn of_field(hit: &Hit, path: &str) -> Option<Read> {
    let record = hit.minted.record.as_ref()?;
    let readable = sound_path(path) && safe_name("field_path", path).is_ok();
    let mut args = Map::new();
    let mut put = |name: &str, value: Value| {
        args.insert(name.to_owned(), value);
    };
    let scope = record.connection_id.as_deref().filter(|id| safe_name("connection_id", id).is_ok());
    match scope {
        Some(connection) if readable && hit.minted.beside.is_some() => {
            put("connection_id", connection.into());
            put("stream", record.stream.as_str().into());
            put("record_id", record.record_id.as_str().into());
        }
        Some(_) if readable => put("id", hit.handle()?.into()),
        _ => {
            put("id", hit.handle()?.into());
            if let (Some(connection), true) = (scope, hit.minted.beside.is_some()) {
                put("connection_id", connection.into());
            }
            // A projection names whole fields.
            let field = path.split('.').next().unwrap_or(path);
            if sound_path(field) && is_projectable(field) {
                put("fields", json!([field]));
            }
            return Some(Read { tool: "fetch", args });
        }
    }
    put("field_path", path.into());
    Some(Read { tool: "read_record_field", args })
}
