//! Which chat a file is of.

use std::collections::BTreeSet;

use super::header::Phone;
use super::order::{Basis, Order};
use crate::chat::Fields;
use crate::{Sink, Stop, file_name, hash_key, stem};

/// Most names that a chat's record lists.
const MOST_NAMES: usize = 2_000;
/// Words between `WhatsApp chat` and the name, in many languages.
const JOINTS: [&str; 14] =
    ["with", "mit", "avec", "con", "com", "met", "med", "z", "ile", "с", "dengan", "cu", "cú", "w"];

/// A chat while it is read.
#[derive(Debug)]
pub(super) struct Chat {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) phone: Phone,
    pub(super) order: Order,
    pub(super) basis: Basis,
    pub(super) messages: u64,
    pub(super) authors: BTreeSet<String>,
    pub(super) first_at: Option<String>,
    pub(super) last_at: Option<String>,
}

impl Chat {
    pub(super) fn new(name: String, phone: Phone, (order, basis): (Order, Basis)) -> Self {
        let id = hash_key(&["whatsapp chat", &name]);
        let authors = BTreeSet::new();
        Self { id, name, phone, order, basis, messages: 0, authors, first_at: None, last_at: None }
    }

    pub(super) fn count(&mut self, at: &str, author: Option<&str>) {
        self.messages += 1;
        if let Some(author) = author
            && self.authors.len() < MOST_NAMES
            && !self.authors.contains(author)
        {
            self.authors.insert(author.to_owned());
        }
        if self.first_at.as_deref().is_none_or(|first| at < first) {
            self.first_at = Some(at.to_owned());
        }
        if self.last_at.as_deref().is_none_or(|last| at > last) {
            self.last_at = Some(at.to_owned());
        }
    }

    pub(super) fn give(self, place: String, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut fields = Fields::new(&self.id);
        fields.put("name", self.name);
        fields.put("phone", if self.phone == Phone::Iphone { "iphone" } else { "android" });
        fields.put("message_count", self.messages);
        fields.put("author_count", self.authors.len());
        fields.put("authors", self.authors.into_iter().collect::<Vec<_>>());
        fields.maybe("first_message_at", self.first_at);
        fields.maybe("last_message_at", self.last_at);
        fields.put("date_order", self.order.as_str());
        fields.put("date_order_basis", self.basis.as_str());
        sink.record(fields.draft("chats", &self.id, place))
    }
}

/// The name of a chat: from the file's name, else from the archive or folder around it, else from the notice that
/// iPhones put first under the chat's name, else what the file is called.
pub(super) fn name(path: &str, noticed: Option<&str>) -> String {
    let own = named(stem(path));
    let around = path.rsplit_once('/').map(|(folder, _)| file_name(folder));
    let around = around.map(|folder| folder.strip_suffix(".zip").unwrap_or(folder));
    let found = own.or_else(|| around.and_then(named)).or_else(|| noticed.map(str::to_owned));
    found.unwrap_or_else(|| match (stem(path), around) {
        ("_chat", Some(folder)) => folder.to_owned(),
        ("_chat", None) => "WhatsApp chat".to_owned(),
        (stem, _) => stem.to_owned(),
    })
}

/// The name in `WhatsApp Chat with NAME`, `Chat de WhatsApp con NAME`, `WhatsApp Chat - NAME (1)`.
fn named(title: &str) -> Option<String> {
    let title = if title.contains(' ') { title.to_owned() } else { title.replace('_', " ") };
    let at = title.to_ascii_lowercase().find("whatsapp")?;
    let rest = title[at + "whatsapp".len()..].trim_start_matches(['-', ' ']);
    let lower = rest.to_ascii_lowercase();
    let rest = if lower.starts_with("chat") { &rest[4..] } else { rest };
    let rest = rest.trim_start();
    let (joint, name) = rest.split_once(' ')?;
    let name = if joint == "-" || JOINTS.contains(&joint) { name } else { rest };
    let name = without_copy(name.trim());
    (!name.is_empty()).then(|| name.to_owned())
}

/// Browsers number what is downloaded twice.
fn without_copy(name: &str) -> &str {
    let copy = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match copy {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_are_named_by_what_is_around_them() {
        for (path, noticed, expected) in [
            ("WhatsApp Chat with Rui Costa.txt", None, "Rui Costa"),
            ("x/WhatsApp Chat mit Boat Club (2).txt", None, "Boat Club"),
            ("Chat de WhatsApp con Inés.txt", None, "Inés"),
            ("WhatsApp-chat met Bo.txt", None, "Bo"),
            ("WhatsApp_Chat_with_Rui.txt", None, "Rui"),
            ("WhatsApp Chat - Rui (1).zip/_chat.txt", Some("Other"), "Rui"),
            ("stuff/_chat.txt", Some("Rui"), "Rui"),
            ("stuff/_chat.txt", None, "stuff"),
            ("_chat.txt", None, "WhatsApp chat"),
            ("rowing.txt", None, "rowing"),
        ] {
            assert_eq!(name(path, noticed), expected, "{path}");
        }
    }
}
