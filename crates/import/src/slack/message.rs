//! One message of a day file.

use serde_json::{Map, Value, json};

use super::blocks;
use super::channels::Channel;
use super::directory::Directory;
use super::people::best_name;
use super::text::{mentions, plain};
use crate::chat::{Fields, flag, from_fraction, integer, list, shallow, text, texts};
use crate::mint_key;

/// Members that other fields already tell, or that say how a client draws the message.
const TOLD: [&str; 48] = [
    "type",
    "subtype",
    "ts",
    "text",
    "user",
    "team",
    "user_team",
    "source_team",
    "user_profile",
    "thread_ts",
    "parent_user_id",
    "reply_count",
    "reply_users_count",
    "reply_users",
    "latest_reply",
    "replies",
    "subscribed",
    "last_read",
    "unread_count",
    "is_locked",
    "edited",
    "reactions",
    "blocks",
    "attachments",
    "files",
    "file",
    "upload",
    "bot_id",
    "bot_profile",
    "username",
    "icons",
    "client_msg_id",
    "hidden",
    "display_as_bot",
    "root",
    "x_files",
    "bot_link",
    "app_id",
    "is_starred",
    "permalink",
    "channel",
    "event_ts",
    "metadata",
    "language",
    "assistant_app_thread",
    "upload_reply_to",
    "is_intro",
    "pinned_to",
];

#[derive(Debug)]
pub(super) struct Message {
    pub(super) key: String,
    pub(super) micros: i64,
    pub(super) fields: Fields,
}

/// The key of a message: its conversation and its `ts`, which Slack never gives twice there.
pub(super) fn key(channel: &str, ts: &str) -> String {
    mint_key(&format!("{channel}:{ts}"))
}

pub(super) fn read(value: &Value, channel: &Channel, directory: &Directory) -> Result<Message, &'static str> {
    if !value.is_object() {
        return Err("It is no object.");
    }
    let ts = text(value, "ts").ok_or("`ts` is missing.")?;
    let (sent_at, micros) = from_fraction(ts).ok_or("`ts` is no time.")?;
    let key = key(&channel.id, ts);
    let mut fields = Fields::new(&key);
    fields.maybe("workspace_id", text(value, "team").or_else(|| directory.workspace()));
    fields.put("channel_id", channel.id.as_str());
    fields.put("channel_name", channel.title.as_str());
    fields.put("channel_kind", channel.kind.as_str());
    fields.put("ts", ts);
    fields.put("sent_at", sent_at);
    thread(value, ts, channel, &mut fields);
    author(value, directory, &mut fields);
    words(value, directory, &mut fields);
    marks(value, directory, &mut fields);
    fields.object("extra", extra(value));
    Ok(Message { key, micros, fields })
}

fn thread(value: &Value, ts: &str, channel: &Channel, fields: &mut Fields) {
    let root = text(value, "thread_ts").unwrap_or(ts);
    fields.put("thread_id", key(&channel.id, root));
    fields.when("is_reply", root != ts);
    let about = inner(value).and_then(|message| text(message, "ts"));
    fields.maybe("about_message_id", about.map(|ts| key(&channel.id, ts)));
    fields.maybe("reply_count", integer(value, "reply_count"));
    let last = text(value, "latest_reply").and_then(from_fraction);
    fields.maybe("last_reply_at", last.map(|(time, _)| time));
    fields.list("reply_user_ids", texts(value, "reply_users").map(Value::from).collect());
}

fn author(value: &Value, directory: &Directory, fields: &mut Fields) {
    let told = inner(value);
    let user = text(value, "user").or_else(|| told.and_then(|message| text(message, "user")));
    let bot = text(value, "bot_id");
    let id = user.or(bot);
    let known = user.and_then(|id| directory.person(id));
    let profile = value.get("user_profile").and_then(best_name);
    let app = value.get("bot_profile").and_then(|profile| text(profile, "name"));
    // A bot may post under any name it likes; that is the name people saw.
    let name = text(value, "username").or(known).or(profile).or(app).or(id);
    fields.maybe("author_id", id);
    fields.maybe("author_name", name);
    let by_bot = bot.is_some() || user == Some("USLACKBOT") || text(value, "subtype") == Some("bot_message");
    fields.put("author_kind", if by_bot { "bot" } else { "person" });
    fields.maybe("bot_id", bot);
    fields.maybe("app_name", app);
}

/// The message that a change or a deletion, told as an event of its own, is about.
fn inner(value: &Value) -> Option<&Value> {
    ["message", "previous_message"]
        .iter()
        .find_map(|member| value.get(*member))
        .filter(|inner| inner.is_object())
}

fn words(value: &Value, directory: &Directory, fields: &mut Fields) {
    let changed = value.get("message").and_then(|message| text(message, "text"));
    let said = text(value, "text").or(changed).unwrap_or_default();
    let laid_out = blocks::words(list(value, "blocks"), directory);
    let attachments: Vec<Value> =
        list(value, "attachments").iter().filter_map(|one| blocks::attachment(one, directory)).collect();
    let mut told = plain(said, directory);
    if told.is_empty() {
        told.clone_from(&laid_out);
    }
    let attached = blocks::attachment_words(&attachments);
    if told.is_empty() {
        told.clone_from(&attached);
    }
    fields.put("text", said);
    fields.put("text_plain", told.as_str());
    if laid_out != told && blocks::made_by_app(list(value, "blocks")) {
        fields.put("blocks_text", laid_out);
    }
    let mentioned = mentions(said);
    let names = mentioned.iter().filter_map(|id| directory.person(id)).map(Value::from).collect();
    fields.list("mentioned_user_ids", mentioned.iter().map(|id| Value::from(*id)).collect());
    fields.list("mentioned_names", names);
    fields.maybe("attachments_text", Some(attached).filter(|words| !words.is_empty() && *words != told));
    fields.list("attachments", attachments);
    let files = list(value, "files");
    let names = files.iter().filter_map(|file| text(file, "title").or_else(|| text(file, "name")));
    let names = names.collect::<Vec<_>>().join("\n");
    fields.maybe("file_names", Some(names).filter(|names| !names.is_empty()));
    fields.when("has_files", !files.is_empty() || value.get("file").is_some_and(Value::is_object));
}

fn marks(value: &Value, directory: &Directory, fields: &mut Fields) {
    let subtype = text(value, "subtype");
    fields.maybe("subtype", subtype);
    fields.when("is_deleted", matches!(subtype, Some("tombstone" | "message_deleted")));
    fields.when("is_hidden", flag(value, "hidden") == Some(true));
    if let Some(edited) = value.get("edited").filter(|edited| edited.is_object()) {
        fields.put("is_edited", true);
        fields.maybe("edited_at", text(edited, "ts").and_then(from_fraction).map(|(time, _)| time));
        fields.maybe("edited_by_id", text(edited, "user"));
    }
    let reactions: Vec<Value> =
        list(value, "reactions").iter().filter_map(|one| reaction(one, directory)).collect();
    if !reactions.is_empty() {
        let count = reactions.iter().filter_map(|one| integer(one, "count")).fold(0_i64, i64::saturating_add);
        fields.put("reaction_count", count);
        fields.put("reactions", reactions);
    }
    fields.maybe("client_msg_id", text(value, "client_msg_id"));
}

fn reaction(value: &Value, directory: &Directory) -> Option<Value> {
    let name = text(value, "name")?;
    let users: Vec<&str> = texts(value, "users").collect();
    let names: Vec<&str> = users.iter().map(|id| directory.person(id).unwrap_or(id)).collect();
    let count = integer(value, "count").unwrap_or_else(|| i64::try_from(users.len()).unwrap_or(i64::MAX));
    Some(json!({"name": name, "count": count, "user_ids": users, "user_names": names}))
}

/// What a particular kind of message says beside its text: who was invited, the new topic, the huddle's room.
fn extra(value: &Value) -> Map<String, Value> {
    let Some(members) = value.as_object() else {
        return Map::new();
    };
    let says = |value: &Value| !matches!(value, Value::Null) && value != &json!("") && value != &json!([]);
    members
        .iter()
        .filter(|(name, value)| !TOLD.contains(&name.as_str()) && says(value))
        .map(|(name, value)| (name.clone(), shallow(value, 8)))
        .collect()
}
