//! What a tool call gives back, before it is written as protocol.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

/// The key under which resource-aware hosts find URIs. It is for hosts, never for models.
const RESOURCES: &str = "dev.pdpp/resources";

/// A result: text for models that see text, the same facts as data for those that see data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) structured: Value,
    pub(crate) is_error: bool,
    resources: Map<String, Value>,
}

impl Outcome {
    /// A success.
    pub(crate) fn new(text: String, structured: Value) -> Self {
        Self { content: vec![ContentBlock::text(text)], structured, is_error: false, resources: Map::new() }
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
        result.structured_content = Some(outcome.structured);
        if !outcome.resources.is_empty() {
            let meta = json!({ RESOURCES: outcome.resources });
            result.meta = serde_json::from_value::<MetaObject>(meta).ok();
        }
        result
    }
}
