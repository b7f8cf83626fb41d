//! A window of a field: the one path behind `read_record_field` and `pdpp://field-window/…`, so that both give the
//! same text for the same selector.

mod render;
mod selector;

use pdpp_evidence::DEFAULT_LIMIT_CHARS;
use pdpp_wire::Code;
use serde_json::{Map, Value};

pub(crate) use selector::Selector;

use crate::Adapter;
use crate::failure::Failure;
use crate::tokens;

/// What a window's text may cost when the caller asked for a longer one than usual: it stands in both halves.
const LONG_TEXT: usize = 4_100;
/// What it may cost otherwise; the header and continuations need the rest.
const USUAL_TEXT: usize = 2_100;

/// A window as the server gave it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) selector: Selector,
    pub(crate) field: Value,
    /// The server's own members: text, offsets, totals.
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

    /// Whether the text is the whole field.
    pub(crate) fn is_complete(&self) -> bool {
        self.members.get("complete").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Reads a window. One that costs more than fits is asked for again, shorter, around the same place.
pub(crate) async fn read(adapter: &Adapter, selector: &Selector) -> Result<Window, Failure> {
    let window = ask(adapter, selector).await?;
    let usual = selector.limit_chars.is_none_or(|limit| limit <= DEFAULT_LIMIT_CHARS as u64);
    let allowed = if usual { USUAL_TEXT } else { LONG_TEXT };
    let cost = tokens::estimate(window.text());
    if cost <= allowed {
        return Ok(window);
    }
    ask(adapter, &shorter(&window, allowed, cost)).await
}

/// The part of a window that fits: from its start, or from shortly before its match.
fn shorter(window: &Window, allowed: usize, cost: usize) -> Selector {
    let shown = window.text().chars().count();
    // A little less than the proportion, because the cost of characters is not even.
    let fitting = (shown.saturating_mul(allowed) / cost.max(1)).saturating_mul(9) / 10;
    let fitting = u64::try_from(fitting).unwrap_or(u64::MAX).max(1);
    let start = window.number("start_chars").unwrap_or(0);
    let offset = match window.number("match_start_chars") {
        Some(matched) if matched >= start.saturating_add(fitting / 2) => matched.saturating_sub(fitting / 4),
        _ => start,
    };
    Selector {
        offset_chars: Some(offset),
        limit_chars: Some(fitting),
        q: None,
        before_chars: None,
        after_chars: None,
        ..window.selector.clone()
    }
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
            members: window.clone(),
            request_id: reply.request_id,
        }),
        _ => Err(Failure::adapter(
            Code::RsInvalidResponse,
            "The resource server's field window holds no text.",
        )),
    }
}

/// Errors after which there is another way to the same content say which.
fn with_way_on(selector: &Selector, failure: Failure) -> Failure {
    let (tool, arguments) = match failure.code() {
        "field_not_text" => {
            // Projection is by top-level field.
            let field = selector.field_path.split('.').next().unwrap_or_default();
            ("fetch", serde_json::json!({"id": selector.record.id(), "fields": [field]}))
        }
        "query_not_found" => (
            "read_record_field",
            serde_json::json!({"id": selector.record.id(), "field_path": selector.field_path}),
        ),
        _ => return failure,
    };
    failure.with("next_call", serde_json::json!({"tool": tool, "args": arguments}))
}
