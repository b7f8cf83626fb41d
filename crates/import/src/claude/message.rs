//! One message as a record: what it says, what was thought, and which tools were used.

use serde_json::{Map, Value, json};

use crate::members::{Fields, flag, list, text, time};

/// Most sources kept of one message.
const MOST_CITATIONS: usize = 200;

pub(super) fn fields(conversation: &str, key: &str, message: &Value) -> Fields {
    let mut blocks = Blocks::default();
    for block in list(message, "content") {
        blocks.take(block);
    }
    // The text beside the blocks says the same with stand-ins for what is no text; it counts where there is none.
    let said = if blocks.said.is_empty() { text(message, "text").unwrap_or_default() } else { &blocks.said };
    let mut fields = Fields::default();
    fields.put("id", key);
    fields.put("conversation_id", conversation);
    fields.put_some("sender", text(message, "sender"));
    fields.put("text", said);
    fields.put_some("thinking", Some(blocks.thought.as_str()).filter(|thought| !thought.is_empty()));
    fields.put_some("created_at", time(message, "created_at"));
    fields.put_some("updated_at", time(message, "updated_at"));
    fields.put_some("model", text(message, "model"));
    fields.put_some("stop_reason", text(message, "stop_reason"));
    fields.put_some("truncated", flag(message, "truncated"));
    fields.put_list("tools", blocks.tools);
    fields.put_some("tool_text", Some(blocks.tool_text).filter(|text| !text.is_empty()));
    fields.put_list("citations", blocks.citations);
    fields
}

/// The parts of a message, by what they are.
#[derive(Debug, Default)]
struct Blocks {
    said: String,
    thought: String,
    tools: Vec<Value>,
    tool_text: String,
    citations: Vec<Value>,
}

impl Blocks {
    fn take(&mut self, block: &Value) {
        match text(block, "type").unwrap_or_default() {
            "text" | "voice_note" => {
                append(&mut self.said, text(block, "title"));
                append(&mut self.said, text(block, "text"));
                for citation in list(block, "citations") {
                    self.cite(citation);
                }
            }
            "thinking" => append(&mut self.thought, text(block, "thinking").or_else(|| text(block, "text"))),
            // What was left of a limit says nothing to anybody.
            "token_budget" | "" => {}
            kind => {
                let said = tool_text(block);
                if !said.is_empty() {
                    let name = text(block, "name").map(|name| format!(" {name}")).unwrap_or_default();
                    append(&mut self.tool_text, Some(&format!("[{kind}{name}]\n{said}")));
                }
                self.tools.push(tool(kind, block));
            }
        }
    }

    fn cite(&mut self, citation: &Value) {
        let details = citation.get("details").filter(|details| details.is_object()).unwrap_or(citation);
        let Some(url) = text(details, "url").or_else(|| text(citation, "url")) else { return };
        let known = self.citations.iter().any(|known| known["url"] == *url);
        if known || self.citations.len() >= MOST_CITATIONS {
            return;
        }
        self.citations.push(match text(citation, "title").or_else(|| text(details, "title")) {
            Some(title) => json!({"url": url, "title": title}),
            None => json!({"url": url}),
        });
    }
}

/// What a tool was given or answered. Its input is kept as JSON text, which has no depth.
fn tool_text(block: &Value) -> String {
    let mut said = String::new();
    append(&mut said, text(block, "message"));
    append(&mut said, text(block, "text"));
    match block.get("content") {
        Some(Value::String(content)) => append(&mut said, Some(content)),
        Some(Value::Array(parts)) => {
            for part in parts {
                append(&mut said, part_text(part).as_deref());
            }
        }
        _ => {}
    }
    let input = block.get("input").filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
    append(&mut said, input.map(Value::to_string).as_deref());
    said
}

/// A call of a tool, its answer, or a part of another kind.
fn tool(kind: &str, block: &Value) -> Value {
    let mut members = Map::new();
    members.insert("kind".to_owned(), kind.into());
    for (name, value) in [
        ("name", text(block, "name")),
        ("id", text(block, "id").or_else(|| text(block, "tool_use_id"))),
        ("integration", text(block, "integration_name")),
    ] {
        members.extend(value.map(|value| (name.to_owned(), value.into())));
    }
    members.extend(flag(block, "is_error").map(|error| ("is_error".to_owned(), error.into())));
    Value::Object(members)
}

/// The text of a part of a tool's answer; a found page gives its title and address too.
fn part_text(part: &Value) -> Option<String> {
    let members = ["title", "url", "text"].iter().filter_map(|name| text(part, name));
    let said: Vec<&str> = part.as_str().into_iter().chain(members).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

fn append(to: &mut String, text: Option<&str>) {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return };
    if !to.is_empty() {
        to.push_str("\n\n");
    }
    to.push_str(text);
}
