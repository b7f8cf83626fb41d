//! A chat of an export, and what is learnt about it while its messages go by.

use serde_json::{Map, Value};

use crate::chat::{Fields, Seen, shallow};
use crate::{Sink, Stop, hash_key, mint_key};

/// Whether a word is a kind of chat as Telegram Desktop writes it.
pub(super) fn is_chat_type(kind: &str) -> bool {
    peer(kind).is_some()
}

/// Ids of people, groups and channels are counted apart; the word in front keeps them apart here too. It is the
/// word that `from_id` uses.
fn peer(kind: &str) -> Option<&'static str> {
    match kind {
        "personal_chat" | "bot_chat" | "saved_messages" | "replies" | "verification_codes" => Some("user"),
        "private_group" => Some("chat"),
        "private_supergroup" | "public_supergroup" | "private_channel" | "public_channel" => Some("channel"),
        _ => None,
    }
}

#[derive(Debug, Default)]
pub(super) struct Chat {
    pub(super) id: String,
    name: Option<String>,
    kind: Option<String>,
    number: Option<i64>,
    left: bool,
    others: Map<String, Value>,
    messages: u64,
    first_at: Option<String>,
    last_at: Option<String>,
    pub(super) seen: Seen,
}

impl Chat {
    pub(super) fn new(left: bool) -> Self {
        let mut chat = Self { left, ..Self::default() };
        chat.name_it();
        chat
    }

    /// Takes a member that stands beside the messages.
    pub(super) fn learn(&mut self, name: &str, json: &[u8]) {
        let value = serde_json::from_slice::<Value>(json).unwrap_or_default();
        match (name, value) {
            ("name", Value::String(said)) => self.name = Some(said),
            ("type", Value::String(said)) => self.kind = Some(said),
            ("id", Value::Number(number)) => self.number = number.as_i64(),
            (_, Value::Null) => {}
            (_, value) if self.others.len() < 64 => {
                self.others.insert(name.to_owned(), shallow(&value, 8));
            }
            _ => {}
        }
        self.name_it();
    }

    fn name_it(&mut self) {
        let kind = self.kind.as_deref().unwrap_or_default();
        self.id = match self.number {
            Some(number) => mint_key(&format!("{}{number}", peer(kind).unwrap_or("chat"))),
            None => hash_key(&["telegram chat", kind, self.name.as_deref().unwrap_or_default()]),
        };
    }

    /// What people call it. The chat with oneself and the chat of a deleted account have no name.
    pub(super) fn title(&self) -> &str {
        let nameless =
            if self.kind() == Some("saved_messages") { "Saved messages" } else { "Deleted account" };
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(nameless)
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    pub(super) fn count(&mut self, at: Option<&str>) {
        self.messages += 1;
        let Some(at) = at else { return };
        if self.first_at.as_deref().is_none_or(|first| at < first) {
            self.first_at = Some(at.to_owned());
        }
        if self.last_at.as_deref().is_none_or(|last| at > last) {
            self.last_at = Some(at.to_owned());
        }
    }

    pub(super) fn give(self, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        // An object that names nothing and holds nothing is no chat.
        if self.number.is_none() && self.name.is_none() && self.messages == 0 {
            return Ok(());
        }
        let mut fields = Fields::new(&self.id);
        fields.put("name", self.title());
        fields.maybe("type", self.kind.as_deref());
        fields.maybe("telegram_id", self.number);
        fields.put("is_left", self.left);
        fields.put("message_count", self.messages);
        fields.maybe("first_message_at", self.first_at);
        fields.maybe("last_message_at", self.last_at);
        fields.object("extra", self.others);
        let id = self.id.clone();
        sink.record(fields.draft("chats", &id, place.to_owned()))
    }
}
