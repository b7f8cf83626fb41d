//! Hangouts, the chats before Chat: one file with every conversation.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::each::{Each, each};
use super::places::extra;
use super::seen::Seen;
use super::values::{Fields, text, whole};
use crate::{Complaint, Draft, Sink, Stop, Tree, hash_key, mint_key};

/// Reads `Hangouts.json`.
pub(super) fn read(
    tree: &mut dyn Tree,
    entry: usize,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let mut reading = Reading { seen, conversation: None, names: HashMap::new() };
    each(tree, entry, &["conversations", "*", "events"], sink, &mut reading)
}

struct Reading<'s> {
    seen: &'s mut Seen,
    /// The conversation that is read, its record not given yet.
    conversation: Option<Conversation>,
    /// Its members' names by their ids.
    names: HashMap<String, String>,
}

struct Conversation {
    key: String,
    record: Option<Fields>,
}

impl Each for Reading<'_> {
    fn enter(&mut self, depth: usize) {
        if depth == 2 {
            self.conversation = None;
            self.names.clear();
        }
    }

    fn beside(&mut self, depth: usize, name: &str, value: Value) {
        if depth != 2 || name != "conversation" {
            return;
        }
        // What describes a conversation stands one level deeper in some exports.
        let inner = value.get("conversation").unwrap_or(&value);
        let members = inner.get("participant_data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for member in members {
            if let (Some(id), Some(name)) = (text(member, "/id/gaia_id"), text(member, "/fallback_name")) {
                self.names.insert(id.to_owned(), name.to_owned());
            }
        }
        let id = text(&value, "/conversation_id/id").or(text(inner, "/id/id")).unwrap_or_default();
        let key = if id.is_empty() { hash_key(&["hangouts", &value.to_string()]) } else { mint_key(id) };
        let mut names: Vec<&str> = self.names.values().map(String::as_str).collect();
        names.sort_unstable();
        let mut fields = Fields::with_id(&key);
        fields.put("service", "hangouts");
        fields.text("name", text(inner, "/name").or(Some(&names.join(", "))));
        fields.put("kind", if text(inner, "/type") == Some("GROUP") { "space" } else { "direct" });
        fields.text("members_text", Some(&names.join(", ")));
        fields.put("member_count", members.len());
        let told = members.iter().filter_map(|member| text(member, "/fallback_name"));
        fields.put("members", told.map(|name| serde_json::json!({"name": name})).collect::<Vec<_>>());
        self.conversation = Some(Conversation { key, record: Some(fields) });
    }

    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let known = text(element, "/conversation_id/id").map(mint_key);
        let chat = match (&mut self.conversation, known) {
            (Some(conversation), _) => {
                if let Some(fields) = conversation.record.take()
                    && self.seen.first("chats", &conversation.key)
                {
                    let (key, place) = (conversation.key.clone(), place.to_owned());
                    sink.record(Draft { stream: "chats".to_owned(), key, data: fields.0, place })?;
                }
                conversation.key.clone()
            }
            (None, Some(known)) => known,
            (None, None) => return sink.complain(Complaint::damaged(place, "conversation_id is missing.")),
        };
        let at = whole(element, "/timestamp").and_then(|usec| Timestamp::from_microsecond(usec).ok());
        let body = body(element);
        let sender = text(element, "/sender_id/gaia_id").unwrap_or_default();
        let key = match text(element, "/event_id") {
            Some(id) if !id.is_empty() => mint_key(id),
            _ => hash_key(&[
                "hangouts",
                &chat,
                &at.map(|at| at.to_string()).unwrap_or_default(),
                sender,
                &body,
            ]),
        };
        if !self.seen.first("chat_messages", &key) {
            return Ok(());
        }
        let mut fields = Fields::with_id(&key);
        fields.put("chat_id", chat);
        fields.put("service", "hangouts");
        fields.text("author", self.names.get(sender).map(String::as_str));
        fields.text("text", Some(&body));
        fields.time("sent_at", at);
        fields.text("state", text(element, "/event_type"));
        fields.list("annotations", element.pointer("/chat_message/message_content/attachment"));
        let told = [
            "conversation_id",
            "sender_id",
            "timestamp",
            "self_event_state",
            "chat_message",
            "event_id",
            "event_type",
            "advances_sort_timestamp",
            "event_otr",
            "delivery_medium",
            "event_version",
        ];
        extra(element, &told, &mut fields);
        sink.record(Draft {
            stream: "chat_messages".to_owned(),
            key,
            data: fields.0,
            place: place.to_owned(),
        })
    }
}

/// The words of a message; links and line breaks are segments of their own.
fn body(element: &Value) -> String {
    let segments = element.pointer("/chat_message/message_content/segment").and_then(Value::as_array);
    let segments = segments.map_or(&[][..], Vec::as_slice);
    let piece = |segment: &Value| match text(segment, "/type") {
        Some("LINE_BREAK") => "\n".to_owned(),
        _ => text(segment, "/text").unwrap_or_default().to_owned(),
    };
    segments.iter().map(piece).collect()
}
