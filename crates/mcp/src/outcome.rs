//! What a tool call gives back, before it is written as protocol.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, RequestId, TextContent};
use serde_json::{Map, Value, json};

use crate::plain::write_text;

/// The key under which resource-aware hosts find URIs. It is for hosts, never for models.
const RESOURCES: &str = "dev.pdpp/resources";

/// A result: text for models that see text, the same facts as data for those that see data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) structured: Structured,
    pub(crate) is_error: bool,
    resources: Map<String, Value>,
}

/// The half of a result that is data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Structured {
    Tree(Value),
    /// An object as JSON, only where the transport takes it: [`crate::adapter::Results::Written`].
    Written(String),
}

impl Outcome {
    /// A success.
    pub(crate) fn new(text: String, structured: Value) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            structured: Structured::Tree(structured),
            is_error: false,
            resources: Map::new(),
        }
    }

    /// A success whose data is written already.
    pub(crate) fn written(text: String, structured: String) -> Self {
        Self { structured: Structured::Written(structured), ..Self::new(text, Value::Null) }
    }

    /// A failure, complete in both halves.
    pub(crate) fn error(text: String, structured: Value) -> Self {
        Self { is_error: true, ..Self::new(text, structured) }
    }

    /// Adds a block after the text.
    #[must_use]
    pub(crate) fn block(mut self, block: ContentBlock) -> Self {
        self.content.push(block);
        self
    }

    /// Adds a URI for hosts that read resources.
    #[must_use]
    pub(crate) fn resource(mut self, kind: &str, uri: String) -> Self {
        self.resources.insert(kind.to_owned(), uri.into());
        self
    }
}

impl From<Outcome> for CallToolResult {
    fn from(outcome: Outcome) -> Self {
        let mut result =
            if outcome.is_error { Self::error(outcome.content) } else { Self::success(outcome.content) };
        result.structured_content = Some(match outcome.structured {
            Structured::Tree(value) => value,
            // Data is an object in every result, so that a text in its place says what it is; see `write_answer`.
            Structured::Written(json) => Value::String(json),
        });
        if !outcome.resources.is_empty() {
            let meta = json!({ RESOURCES: outcome.resources });
            result.meta = serde_json::from_value::<MetaObject>(meta).ok();
        }
        result
    }
}

/// About how long text is, written as JSON.
fn text_bytes(content: &[ContentBlock]) -> usize {
    content.iter().filter_map(ContentBlock::as_text).map(|text| text.text.len() * 9 / 8).sum()
}

/// Writes the answer to a call as the protocol library does, with data that is written already in its place; none when
/// there is no such data.
pub(crate) fn write_answer(id: &RequestId, result: &CallToolResult) -> serde_json::Result<Option<String>> {
    let Some(Value::String(structured)) = &result.structured_content else { return Ok(None) };
    let mut json = String::with_capacity(structured.len() + text_bytes(&result.content) + 512);
    json.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    json.push_str(&serde_json::to_string(id)?);
    json.push_str(",\"result\":{");
    if let Some(kind) = &result.result_type {
        json.push_str("\"resultType\":");
        json.push_str(&serde_json::to_string(kind)?);
        json.push(',');
    }
    json.push_str("\"content\":");
    match result.content.as_slice() {
        // What nearly every result is made of.
        [ContentBlock::Text(TextContent { text, meta: None, annotations: None, .. })] => {
            json.push_str("[{\"type\":\"text\",\"text\":");
            write_text(&mut json, text);
            json.push_str("}]");
        }
        other => json.push_str(&serde_json::to_string(other)?),
    }
    json.push_str(",\"structuredContent\":");
    json.push_str(structured);
    if let Some(is_error) = result.is_error {
        json.push_str(if is_error { ",\"isError\":true" } else { ",\"isError\":false" });
    }
    if let Some(meta) = &result.meta {
        json.push_str(",\"_meta\":");
        json.push_str(&serde_json::to_string(meta)?);
    }
    json.push_str("}}");
    Ok(Some(json))
}
