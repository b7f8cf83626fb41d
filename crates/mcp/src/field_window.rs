//! A window of a field: the one path behind `read_record_field` and `pdpp://field-window/…`, so that both give the
//! same text for the same selector.

mod fit;
mod render;
mod selector;

use pdpp_wire::Code;
use serde_json::{Map, Value};

pub(crate) use selector::Selector;

use crate::Adapter;
use crate::failure::Failure;
use crate::record::is_projectable;

/// The members of a window that are places in its field.
const OFFSETS: [&str; 7] = [
    "start_chars",
    "end_chars",
    "total_chars",
    "match_start_chars",
    "match_end_chars",
    "next_offset_chars",
    "previous_offset_chars",
];

/// A window as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) selector: Selector,
    pub(crate) field: Value,
    /// Text, offsets and totals, under the names of the protocol.
    pub(crate) members: Map<String, Value>,
    pub(crate) request_id: Option<String>,
}

impl Window {
    pub(crate) fn text(&self) -> &str {
        self.members.get("text").and_then(Value::as_str).unwrap_or("")
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.members.get(name).and_then(Value::as_u64)
    }

    /// Where the text starts.
    pub(crate) fn start(&self) -> u64 {
        self.number("start_chars").or(self.selector.offset_chars).unwrap_or(0)
    }

    /// Whether the text is the whole field.
    pub(crate) fn is_complete(&self) -> bool {
        self.members.get("complete").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Reads a window, cut to what fits.
pub(crate) async fn read(adapter: &Adapter, selector: &Selector) -> Result<Window, Failure> {
    Ok(ask(adapter, selector).await?.fitted(adapter.provider_url()))
}

async fn ask(adapter: &Adapter, selector: &Selector) -> Result<Window, Failure> {
    let reply = adapter.json(&selector.request()).await.map_err(|failure| with_way_on(selector, failure))?;
    let body = match reply.body {
        Value::Object(mut members) => match members.remove("data") {
            Some(Value::Object(inner)) if !members.contains_key("window") => inner,
            _ => members,
        },
        _ => Map::new(),
    };
    let field = body.get("field").cloned().unwrap_or(Value::Null);
    match body.get("window") {
        Some(Value::Object(window)) if window.get("text").is_some_and(Value::is_string) => Ok(Window {
            selector: selector.clone(),
            field,
            members: sound(window),
            request_id: reply.request_id,
        }),
        _ => Err(Failure::adapter(
            Code::RsInvalidResponse,
            "The resource server's field window holds no text.",
        )),
    }
}

/// The members that are what the protocol says they are. Nothing else is shown: it is bounded by nothing, and an
/// offset that JSON clients cannot count exactly is no place in a text.
fn sound(window: &Map<String, Value>) -> Map<String, Value> {
    let is_number = |value: &Value| value.as_u64().is_some_and(|number| number < 1 << 53);
    let is_sound = |name: &str, value: &Value| match name {
        "text" => value.is_string(),
        "complete" | "has_more" => value.is_boolean(),
        "limit_chars" => is_number(value),
        _ => OFFSETS.contains(&name) && (value.is_null() || is_number(value)),
    };
    window
        .iter()
        .filter(|(name, value)| is_sound(name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Errors after which there is another way to the same content say which.
fn with_way_on(selector: &Selector, failure: Failure) -> Failure {
    let (tool, arguments) = match failure.code() {
        "field_not_text" => {
            // Projection is by top-level field.
            let field = selector.field_path.split('.').next().unwrap_or_default();
            let mut args = serde_json::json!({"id": selector.record.id()});
            if is_projectable(field) {
                args["fields"] = serde_json::json!([field]);
            }
            ("fetch", args)
        }
        "query_not_found" => (
            "read_record_field",
            serde_json::json!({"id": selector.record.id(), "field_path": selector.field_path}),
        ),
        _ => return failure,
    };
    failure.with("next_call", serde_json::json!({"tool": tool, "args": arguments}))
}
