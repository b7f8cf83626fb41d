//! Google Chat: one folder for each conversation, with its members, its messages and its files.

use jiff::Timestamp;
use serde_json::Value;

use super::attached::{Files, Wanted};
use super::dates::chat_date;
use super::each::{Each, each};
use super::places::extra;
use super::seen::Seen;
use super::values::{Fields, text};
use crate::tree::read_whole;
use crate::{Complaint, Draft, Sink, Stop, Tree, file_name, hash_key, mint_key};

/// Largest list of members.
const LARGEST: u64 = 16 * 1024 * 1024;
const TOLD: [&str; 11] = [
    "creator",
    "created_date",
    "updated_date",
    "text",
    "annotations",
    "topic_id",
    "message_id",
    "attached_files",
    "reactions",
    "quoted_message_metadata",
    "message_state",
];

/// The key of a conversation: the name of its folder, `DM` or `Space` and an id.
fn chat_key(path: &str) -> String {
    mint_key(&file_name(super::folder(path)).replace(' ', "-"))
}

/// Reads who is in a conversation.
pub(super) fn read_group(tree: &mut dyn Tree, entry: usize, sink: &mut dyn Sink) -> Result<(), Stop> {
    let path = tree.entries()[entry].path.clone();
    let bytes = match read_whole(tree, entry, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let Ok(group @ Value::Object(_)) = serde_json::from_slice::<Value>(&bytes) else {
        return sink.complain(Complaint::damaged(path, "The list of members is no JSON object."));
    };
    let key = chat_key(&path);
    let members = group.get("members").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = members.iter().filter_map(|member| text(member, "/name")).collect();
    let folder = file_name(super::folder(&path));
    let mut fields = Fields::with_id(&key);
    fields.put("service", "chat");
    fields.text("name", text(&group, "/name").or(Some(&names.join(", "))));
    fields.put("kind", if folder.starts_with("DM") { "direct" } else { "space" });
    fields.text("members_text", Some(&names.join(", ")));
    fields.put("member_count", members.len());
    fields.list("members", group.get("members"));
    extra(&group, &["name", "members"], &mut fields);
    sink.record(Draft { stream: "chats".to_owned(), key, data: fields.0, place: path })
}

/// Reads what was written, then keeps the files that were sent.
pub(super) fn read_messages(
    tree: &mut dyn Tree,
    entry: usize,
    files: &Files,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let path = tree.entries()[entry].path.clone();
    let folder = super::folder(&path).to_owned();
    let mut messages = Messages { chat: chat_key(&path), seen, sent: Vec::new(), undated: 0 };
    each(tree, entry, &["messages"], sink, &mut messages)?;
    let Messages { sent, undated, .. } = messages;
    if undated > 0 {
        let message =
            format!("created_date of {undated} messages is in words that are not read; their time is open.");
        sink.complain(Complaint::damaged(path.as_str(), message))?;
    }
    for file in sent {
        let wanted = Wanted {
            stream: "chat_files",
            key: file.key,
            parent: ("message_id", &file.message),
            time: file.time,
            name: &file.name,
            media_type: None,
            path: if folder.is_empty() { file.export } else { format!("{folder}/{}", file.export) },
            place: &path,
        };
        files.attach(tree, wanted, sink)?;
    }
    Ok(())
}

/// A file to keep once the messages are read; a few names each.
struct Sent {
    key: String,
    message: String,
    time: Option<Timestamp>,
    name: String,
    export: String,
}

struct Messages<'s> {
    chat: String,
    seen: &'s mut Seen,
    sent: Vec<Sent>,
    undated: usize,
}

impl Each for Messages<'_> {
    fn element(&mut self, element: &Value, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        let date = text(element, "/created_date");
        let body = text(element, "/text");
        let author = text(element, "/creator/email").or(text(element, "/creator/name")).unwrap_or_default();
        let key = match text(element, "/message_id") {
            Some(id) if !id.is_empty() => mint_key(&id.replace('/', "~")),
            _ => hash_key(&[&self.chat, date.unwrap_or_default(), author, body.unwrap_or_default()]),
        };
        if !self.seen.first("chat_messages", &key) {
            return Ok(());
        }
        let sent_at = date.and_then(chat_date);
        self.undated += usize::from(date.is_some() && sent_at.is_none());
        let mut fields = Fields::with_id(&key);
        fields.put("chat_id", self.chat.as_str());
        fields.put("service", "chat");
        fields.text("topic_id", text(element, "/topic_id"));
        fields.text("author", text(element, "/creator/name"));
        fields.text("author_email", text(element, "/creator/email"));
        fields.text("author_kind", text(element, "/creator/user_type"));
        fields.text("text", body);
        fields.time("sent_at", sent_at);
        fields.text("sent_text", date.filter(|_| sent_at.is_none()));
        fields.time("edited_at", text(element, "/updated_date").and_then(chat_date));
        fields.text("state", text(element, "/message_state"));
        fields.list("reactions", element.get("reactions"));
        fields.list("annotations", element.get("annotations"));
        fields.object("quoted", element.get("quoted_message_metadata"));
        let files = element.get("attached_files").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        fields.put("file_count", files.len());
        extra(element, &TOLD, &mut fields);
        for file in files {
            let export = text(file, "/export_name").map(file_name).unwrap_or_default();
            let name = text(file, "/original_name").filter(|name| !name.is_empty()).unwrap_or(export);
            let file_key = mint_key(&format!("{key}~{name}"));
            if !name.is_empty() && self.seen.first("chat_files", &file_key) {
                let (message, name, export) = (key.clone(), name.to_owned(), export.to_owned());
                self.sent.push(Sent { key: file_key, message, time: sent_at, name, export });
            }
        }
        sink.record(Draft {
            stream: "chat_messages".to_owned(),
            key,
            data: fields.0,
            place: place.to_owned(),
        })
    }
}
