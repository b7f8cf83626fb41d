//! What the service remembers: about the person, about each project, and in files of its own.

use serde_json::Value;

use crate::members::{Fields, list, text, time};
use crate::{Sink, Stop, hash_key, mint_key};

/// One remembered text.
#[derive(Debug, Default)]
struct Memory<'a> {
    key: String,
    kind: &'a str,
    said: &'a str,
    project: Option<String>,
    name: Option<&'a str>,
    updated_at: Option<String>,
}

/// The memories of one account.
pub(super) fn take(place: &str, value: &Value, sink: &mut dyn Sink) -> Result<(), Stop> {
    let account = text(value, "account_uuid").unwrap_or("account");
    if let Some(said) = text(value, "conversations_memory") {
        let key = mint_key(&format!("account:{account}"));
        Memory { key, kind: "account", said, ..Memory::default() }.give(place, sink)?;
    }
    for (project, said) in value.get("project_memories").and_then(Value::as_object).into_iter().flatten() {
        if let Some(said) = said.as_str().filter(|said| !said.is_empty()) {
            let key = mint_key(&format!("project:{project}"));
            let project = Some(mint_key(project));
            Memory { key, kind: "project", said, project, ..Memory::default() }.give(place, sink)?;
        }
    }
    for file in list(value, "memory_files") {
        let name = text(file, "path").or_else(|| text(file, "name")).or_else(|| text(file, "file_name"));
        let Some(said) = text(file, "content").or_else(|| text(file, "text")) else { continue };
        let key = match text(file, "uuid") {
            Some(id) => mint_key(id),
            None => hash_key(&["memory file", account, name.unwrap_or_default()]),
        };
        let updated_at = time(file, "updated_at").or_else(|| time(file, "created_at"));
        Memory { key, kind: "file", said, name, updated_at, ..Memory::default() }.give(place, sink)?;
    }
    Ok(())
}

impl Memory<'_> {
    fn give(self, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut fields = Fields::default();
        fields.put("id", self.key.as_str());
        fields.put("kind", self.kind);
        fields.put_some("name", self.name);
        fields.put_some("project_id", self.project);
        fields.put("text", self.said);
        fields.put_some("updated_at", self.updated_at);
        sink.record(fields.into_draft("memories", &self.key, place))
    }
}
