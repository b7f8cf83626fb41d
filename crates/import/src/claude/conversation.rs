//! One conversation: its own record, its messages, and what was attached to them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{attachment, message};
use crate::members::{Fields, flag, list, text, time};
use crate::{Complaint, Sink, Stop, hash_key, mint_key};

/// The conversations of one export.
#[derive(Debug, Default)]
pub(super) struct Conversations {
    /// A short hash of each conversation by its key, to tell a repetition from a contradiction.
    seen: HashMap<String, String>,
}

impl Conversations {
    pub(super) fn take(&mut self, place: &str, value: &Value, sink: &mut dyn Sink) -> Result<(), Stop> {
        if value.get("chat_messages").and_then(Value::as_array).is_none() {
            return sink.complain(Complaint::damaged(place, "`chat_messages` is missing."));
        }
        let created_at = time(value, "created_at");
        let key = match text(value, "uuid") {
            Some(id) => mint_key(id),
            None => hash_key(&["conversation", created_at.as_deref().unwrap_or_default()]),
        };
        let digest = hash_key(&[&value.to_string()]);
        if let Some(earlier) = self.seen.get(&key) {
            if *earlier == digest {
                return Ok(());
            }
            let message = "Its `uuid` came before with other contents; the first was kept.";
            return sink.complain(Complaint::damaged(place, message));
        }
        self.seen.insert(key.clone(), digest);
        let messages = Messages::of(&key, value);
        let fields = fields(&key, value, created_at, &messages);
        sink.record(fields.into_draft("conversations", &key, place))?;
        messages.give(place, sink)
    }
}

fn fields(key: &str, value: &Value, created_at: Option<String>, messages: &Messages<'_>) -> Fields {
    let mut fields = Fields::default();
    fields.put("id", key);
    fields.put_some("name", text(value, "name"));
    fields.put_some("summary", text(value, "summary"));
    fields.put_some("updated_at", time(value, "updated_at").or_else(|| created_at.clone()));
    fields.put_some("created_at", created_at);
    fields.put_some("account_id", value.get("account").and_then(|account| text(account, "uuid")));
    fields.put_some("project_id", text(value, "project_uuid").map(mint_key));
    fields.put_some("model", text(value, "model"));
    fields.put_some("is_starred", flag(value, "is_starred"));
    fields.put_some("current_message_id", messages.leaf.as_deref());
    fields.put("message_count", messages.all.len());
    fields
}

/// The messages of one conversation.
struct Messages<'a> {
    conversation: &'a str,
    /// Each with its key, in the order of the export.
    all: Vec<(String, &'a Value)>,
    leaf: Option<String>,
    /// The messages that the conversation as it is shown leads through, if the export says which is the last.
    current: Option<HashSet<&'a str>>,
}

impl<'a> Messages<'a> {
    fn of(conversation: &'a str, value: &'a Value) -> Self {
        let keyed = |(position, message): (usize, &'a Value)| {
            let key = match text(message, "uuid") {
                Some(id) => mint_key(id),
                None => hash_key(&["message", conversation, &position.to_string()]),
            };
            (key, message)
        };
        let all = list(value, "chat_messages").iter().enumerate().map(keyed).collect();
        let leaf = text(value, "current_leaf_message_uuid");
        Self {
            conversation,
            all,
            leaf: leaf.map(mint_key),
            current: leaf.map(|leaf| path_to(leaf, list(value, "chat_messages"))),
        }
    }

    fn give(&self, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let known: HashSet<&str> = self.all.iter().map(|(key, _)| key.as_str()).collect();
        let mut given: HashMap<&str, &Value> = HashMap::new();
        for (position, (key, value)) in self.all.iter().enumerate() {
            let place = format!("{place} message {}", position + 1);
            if !value.is_object() {
                sink.complain(Complaint::damaged(place, "It is not a JSON object."))?;
                continue;
            }
            match given.insert(key, value) {
                None => {}
                Some(earlier) if earlier == *value => continue,
                Some(earlier) => {
                    given.insert(key, earlier);
                    let message = "Its `uuid` came before with other contents; the first was kept.";
                    sink.complain(Complaint::damaged(place, message))?;
                    continue;
                }
            }
            // The first message names a parent that is none.
            let parent = text(value, "parent_message_uuid").map(mint_key);
            let parent = parent.filter(|parent| known.contains(parent.as_str()) && parent != key);
            let current =
                self.current.as_ref().map(|path| text(value, "uuid").is_some_and(|id| path.contains(id)));
            let attached = attachment::of_message(self.conversation, key, value);
            let mut fields = message::fields(self.conversation, key, value);
            fields.put("position", position);
            fields.put_some("parent_id", parent);
            fields.put_some("on_current_path", current);
            if !attached.is_empty() {
                fields.put("attachment_count", attached.len());
            }
            sink.record(fields.into_draft("messages", key, &place))?;
            for (key, fields) in attached {
                sink.record(fields.into_draft("attachments", &key, &place))?;
            }
        }
        Ok(())
    }
}

/// The ids from the beginning to a message. Parents that lead in a circle are followed once.
fn path_to<'a>(leaf: &'a str, messages: &'a [Value]) -> HashSet<&'a str> {
    let ids = messages
        .iter()
        .filter_map(|message| Some((text(message, "uuid")?, text(message, "parent_message_uuid"))));
    let parents: HashMap<&str, Option<&str>> = ids.collect();
    let mut path = HashSet::new();
    let mut next = Some(leaf);
    while let Some(id) = next {
        if !path.insert(id) {
            break;
        }
        next = parents.get(id).copied().flatten();
    }
    path
}
