//! Projects, with the instructions and documents they hold.

use serde_json::Value;

use crate::members::{Fields, flag, list, text, time};
use crate::{Complaint, Sink, Stop, hash_key, mint_key};

/// One project and its documents.
pub(super) fn take(place: &str, value: &Value, sink: &mut dyn Sink) -> Result<(), Stop> {
    let Some(id) = text(value, "uuid") else {
        return sink.complain(Complaint::damaged(place, "`uuid` is missing."));
    };
    let key = mint_key(id);
    let created_at = time(value, "created_at");
    let updated_at = time(value, "updated_at").or_else(|| created_at.clone());
    let mut fields = Fields::default();
    fields.put("id", key.as_str());
    fields.put_some("name", text(value, "name"));
    fields.put_some("description", text(value, "description"));
    fields.put_some("prompt_template", text(value, "prompt_template"));
    fields.put_some("is_private", flag(value, "is_private"));
    fields.put_some("is_starter_project", flag(value, "is_starter_project"));
    fields.put_some("creator_name", value.get("creator").and_then(|creator| text(creator, "full_name")));
    fields.put_some("created_at", created_at);
    fields.put_some("updated_at", updated_at.as_deref());
    fields.put("document_count", list(value, "docs").len());
    sink.record(fields.into_draft("projects", &key, place))?;
    for (number, document) in list(value, "docs").iter().enumerate() {
        let place = format!("{place} document {}", number + 1);
        if !document.is_object() {
            sink.complain(Complaint::damaged(place, "It is not a JSON object."))?;
            continue;
        }
        give_document(&key, document, updated_at.as_deref(), &place, sink)?;
    }
    Ok(())
}

fn give_document(
    project: &str,
    document: &Value,
    project_updated_at: Option<&str>,
    place: &str,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let name = text(document, "filename").or_else(|| text(document, "file_name"));
    let key = match text(document, "uuid") {
        Some(id) => mint_key(id),
        None => hash_key(&["document", project, name.unwrap_or_default()]),
    };
    let created_at = time(document, "created_at");
    let mut fields = Fields::default();
    fields.put("id", key.as_str());
    fields.put("project_id", project);
    fields.put_some("name", name);
    fields.put_some("text", text(document, "content"));
    fields.put_some("created_at", created_at.as_deref().or(project_updated_at));
    sink.record(fields.into_draft("project_documents", &key, place))
}
