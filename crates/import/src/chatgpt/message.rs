//! One message as a record.

use serde_json::Value;

use super::content::Content;
use super::message_tree::Placed;
use crate::members::{Fields, flag, list, text, time};
use crate::mint_key;

/// Whether a message says anything. The service opens conversations with empty messages of its own.
pub(super) fn says_something(message: &Value) -> bool {
    if message.pointer("/author/role").and_then(Value::as_str) != Some("system") {
        return true;
    }
    let content = Content::read(&message["content"]);
    !content.text.trim().is_empty()
        || !content.shown.is_empty()
        || !list(&message["metadata"], "attachments").is_empty()
}

/// The key of a message: nodes are named anew in every conversation, some by the same name in all.
pub(super) fn key(conversation: &str, node: &str) -> String {
    mint_key(&format!("{conversation}:{node}"))
}

/// The record of a message and the time it was written.
pub(super) fn fields(
    conversation: &str,
    placed: &Placed<'_>,
    content: &mut Content,
) -> (Fields, Option<String>) {
    let message = placed.message;
    let metadata = &message["metadata"];
    let author = &message["author"];
    content.cite_metadata(metadata);
    let created_at = time(message, "create_time");
    let mut fields = Fields::default();
    fields.put("id", key(conversation, placed.id));
    fields.put("conversation_id", conversation);
    fields.put("message_id", text(message, "id").unwrap_or(placed.id));
    fields.put_some("parent_id", placed.parent.map(|parent| key(conversation, parent)));
    fields.put_some("role", text(author, "role"));
    fields.put_some("author_name", text(author, "name"));
    fields.put_some("recipient", text(message, "recipient").filter(|recipient| *recipient != "all"));
    fields.put_some("content_type", text(&message["content"], "content_type"));
    fields.put_some(
        "language",
        text(&message["content"], "language").filter(|language| *language != "unknown"),
    );
    fields.put("text", std::mem::take(&mut content.text));
    fields.put_some("created_at", created_at.clone());
    fields.put_some("updated_at", time(message, "update_time"));
    fields.put_some("model", text(metadata, "model_slug"));
    fields.put_some("status", text(message, "status"));
    fields
        .put_some("finish_reason", metadata.get("finish_details").and_then(|details| text(details, "type")));
    fields.put("depth", placed.depth);
    fields.put("branch_index", placed.branch.0);
    fields.put("branch_count", placed.branch.1);
    fields.put_some("on_current_path", placed.on_current_path);
    fields.put_some("hidden", flag(metadata, "is_visually_hidden_from_conversation"));
    fields.put_list("citations", std::mem::take(&mut content.citations));
    fields.put_some("extra", content.extra.take());
    (fields, created_at)
}
