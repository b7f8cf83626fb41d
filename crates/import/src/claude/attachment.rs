//! What was attached to a message. The export has the text the service took from a file, never the file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::members::{Fields, count, list, text, time};
use crate::{hash_key, media_type, mint_key};

/// The attachments of a message, each with its key.
pub(super) fn of_message(conversation: &str, message: &str, value: &Value) -> Vec<(String, Fields)> {
    let created_at = time(value, "created_at");
    let mut made = Vec::new();
    // Two pasted texts may have one name and one length: the first and the second of such are told apart.
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for attached in list(value, "attachments") {
        let name = text(attached, "file_name");
        let size = count(attached, "file_size");
        let alike = alike.entry(format!("{size:?} {name:?}")).or_default();
        *alike += 1;
        let unnamed = || {
            let size = size.unwrap_or_default().to_string();
            hash_key(&["attachment", name.unwrap_or_default(), &size, &alike.to_string()])
        };
        let id = text(attached, "id").map_or_else(unnamed, str::to_owned);
        let mut fields = fields(conversation, message, "attachment", name, created_at.as_deref());
        let told = text(attached, "file_type").filter(|kind| kind.contains('/'));
        fields.put_some("media_type", told.or_else(|| name.and_then(media_type::of_name)));
        fields.put_some("size_bytes", size);
        fields.put_some("text", text(attached, "extracted_content"));
        made.push((id, fields));
    }
    let mut known = BTreeSet::new();
    for file in list(value, "files").iter().chain(list(value, "files_v2")) {
        let name = text(file, "file_name");
        let id = text(file, "file_uuid").or(name).unwrap_or_default();
        // The second list repeats the first.
        if id.is_empty() || !known.insert(id) {
            continue;
        }
        let mut fields = fields(conversation, message, "file", name, created_at.as_deref());
        fields.put_some("file_id", text(file, "file_uuid"));
        fields.put_some("media_type", name.and_then(media_type::of_name));
        fields.put_some("size_bytes", count(file, "size_bytes"));
        made.push((format!("file:{id}"), fields));
    }
    let keyed = |(id, mut fields): (String, Fields)| {
        let key = mint_key(&format!("{message}:{id}"));
        fields.put("id", key.as_str());
        (key, fields)
    };
    made.into_iter().map(keyed).collect()
}

fn fields(
    conversation: &str,
    message: &str,
    kind: &str,
    name: Option<&str>,
    created_at: Option<&str>,
) -> Fields {
    let mut fields = Fields::default();
    // Stands first in the record; its value comes when the key is known.
    fields.put("id", "");
    fields.put("message_id", message);
    fields.put("conversation_id", conversation);
    fields.put("kind", kind);
    fields.put_some("name", name);
    fields.put_some("created_at", created_at);
    fields
}
