//! One message of a chat, written by someone or told by the service.

use jiff::civil::DateTime;
use serde_json::{Map, Value, json};

use super::chat::Chat;
use super::text::{entities, plain};
use crate::chat::{Fields, flag, from_unix, integer, list, local, shallow, text, texts};
use crate::mint_key;

/// Members that fields of the message or of its media already tell.
const TOLD: [&str; 50] = [
    "id",
    "type",
    "date",
    "date_unixtime",
    "edited",
    "edited_unixtime",
    "from",
    "from_id",
    "actor",
    "actor_id",
    "author",
    "action",
    "text",
    "text_entities",
    "reply_to_message_id",
    "reply_to_peer_id",
    "forwarded_from",
    "forwarded_from_id",
    "saved_from",
    "via_bot",
    "reactions",
    "poll",
    "location_information",
    "place_name",
    "address",
    "contact_information",
    "sticker_emoji",
    "media_type",
    "photo",
    "photo_file_size",
    "file",
    "file_name",
    "file_size",
    "mime_type",
    "thumbnail",
    "thumbnail_file_size",
    "width",
    "height",
    "duration_seconds",
    "performer",
    "title",
    "contact_vcard",
    "contact_vcard_file_size",
    "members",
    "message_id",
    "inline_bot_buttons",
    "live_location_period_seconds",
    "media_spoiler",
    "self_destruct_period_seconds",
    "inviter",
];

#[derive(Debug)]
pub(super) struct Message {
    pub(super) key: String,
    pub(super) number: i64,
    pub(super) sent_at: Option<String>,
    pub(super) fields: Fields,
}

pub(super) fn read(value: &Value, chat: &Chat) -> Result<Message, &'static str> {
    if !value.is_object() {
        return Err("It is no object.");
    }
    let number = integer(value, "id").ok_or("`id` is missing or no number.")?;
    let key = key(&chat.id, number);
    let mut fields = Fields::new(&key);
    fields.put("chat_id", chat.id.as_str());
    fields.put("chat_name", chat.title());
    fields.maybe("chat_type", chat.kind());
    fields.put("message_id", number);
    fields.put("kind", text(value, "type").unwrap_or("message"));
    let sent = time(value, "date_unixtime", "date");
    let sent_at = sent.as_ref().map(|(at, _)| at.clone());
    if let Some((at, basis)) = sent {
        fields.put("sent_at", at);
        fields.put("time_basis", basis);
    }
    fields.maybe("edited_at", time(value, "edited_unixtime", "edited").map(|(at, _)| at));
    who(value, &chat.id, &mut fields);
    fields.put("text", plain(value.get("text")));
    fields.list("entities", entities(value));
    service(value, &chat.id, &mut fields);
    content(value, &mut fields);
    reactions(value, &mut fields);
    fields.object("extra", extra(value));
    Ok(Message { key, number, sent_at, fields })
}

fn key(chat: &str, number: i64) -> String {
    mint_key(&format!("{chat}:{number}"))
}

/// The time in UTC where the export has it; older ones only say what the clock of the computer showed.
fn time(value: &Value, unix: &str, wall: &str) -> Option<(String, &'static str)> {
    if let Some(at) = integer(value, unix).and_then(from_unix) {
        return Some((at, "utc"));
    }
    let at: DateTime = text(value, wall)?.parse().ok()?;
    // The year 1970 is how an absent time is written.
    if at.year() <= 1970 {
        return None;
    }
    Some((local(at)?, "local"))
}

fn who(value: &Value, chat: &str, fields: &mut Fields) {
    fields.maybe("author_id", peer(value, "from_id").or_else(|| peer(value, "actor_id")));
    fields.maybe("author_name", text(value, "from").or_else(|| text(value, "actor")));
    fields.maybe("signature", text(value, "author"));
    if let Some(number) = integer(value, "reply_to_message_id") {
        fields.put("reply_to_id", key(text(value, "reply_to_peer_id").unwrap_or(chat), number));
    }
    for member in ["forwarded_from", "forwarded_from_id", "saved_from", "via_bot"] {
        fields.maybe(member, text(value, member));
    }
    fields.when(
        "is_forwarded",
        value.get("forwarded_from").is_some() || value.get("forwarded_from_id").is_some(),
    );
}

/// `user42`; exports from before 2021 say 42 and mean a person.
fn peer(value: &Value, member: &str) -> Option<String> {
    let number = || value.get(member)?.as_i64().map(|number| format!("user{number}"));
    text(value, member).map(str::to_owned).or_else(number)
}

/// What the service tells: who joined, what was pinned, how long a call took.
fn service(value: &Value, chat: &str, fields: &mut Fields) {
    let action = text(value, "action");
    fields.maybe("action", action);
    if action.is_some() {
        fields.maybe("action_title", text(value, "title"));
        fields.maybe("inviter", text(value, "inviter"));
        fields.list("members", texts(value, "members").map(Value::from).collect());
        fields.maybe("about_message_id", integer(value, "message_id").map(|number| key(chat, number)));
    }
}

fn content(value: &Value, fields: &mut Fields) {
    let photo = value.get("photo").is_some_and(Value::is_string).then_some("photo");
    let file = value.get("file").is_some_and(Value::is_string).then_some("file");
    fields.maybe("media_kind", text(value, "media_type").or(photo).or(file));
    fields.maybe("sticker_emoji", text(value, "sticker_emoji"));
    fields.maybe("duration_seconds", integer(value, "duration_seconds"));
    fields.maybe("self_destruct_period_seconds", integer(value, "self_destruct_period_seconds"));
    if let Some(at) = value.get("location_information") {
        fields.maybe("latitude", at.get("latitude").and_then(Value::as_f64));
        fields.maybe("longitude", at.get("longitude").and_then(Value::as_f64));
    }
    fields.maybe("live_location_period_seconds", integer(value, "live_location_period_seconds"));
    fields.maybe("place_name", text(value, "place_name"));
    fields.maybe("address", text(value, "address"));
    if let Some(contact) = value.get("contact_information") {
        let names = [text(contact, "first_name"), text(contact, "last_name")];
        let name = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
        fields.maybe("contact_name", Some(name).filter(|name| !name.is_empty()));
        fields.maybe("contact_phone", text(contact, "phone_number"));
    }
    if let Some(poll) = value.get("poll").filter(|poll| poll.is_object()) {
        fields.put("poll_question", plain(poll.get("question")));
        fields.maybe("poll_closed", flag(poll, "closed"));
        fields.maybe("poll_voters", integer(poll, "total_voters"));
        let answers = list(poll, "answers");
        let choices = answers.iter().map(|answer| plain(answer.get("text"))).collect::<Vec<_>>().join("\n");
        fields.maybe("poll_choices", Some(choices).filter(|choices| !choices.is_empty()));
        fields.list("poll_answers", answers.iter().map(answer).collect());
    }
    let labels = list(value, "inline_bot_buttons").iter().filter_map(Value::as_array).flatten();
    let labels = labels.filter_map(|button| text(button, "text"));
    fields.list("buttons", labels.map(Value::from).collect());
}

fn answer(value: &Value) -> Value {
    json!({"text": plain(value.get("text")), "voters": integer(value, "voters"), "chosen": flag(value, "chosen")})
}

fn reactions(value: &Value, fields: &mut Fields) {
    let mut total = 0_i64;
    let mut told = Vec::new();
    for reaction in list(value, "reactions").iter().filter(|reaction| reaction.is_object()) {
        let count = integer(reaction, "count").unwrap_or(1);
        total = total.saturating_add(count);
        let people: Vec<&str> =
            list(reaction, "recent").iter().filter_map(|recent| text(recent, "from")).collect();
        // A custom emoji is named by the file it is drawn from.
        let emoji = text(reaction, "emoji").or_else(|| text(reaction, "document_id"));
        told.push(json!({"emoji": emoji, "type": text(reaction, "type"), "count": count, "people": people}));
    }
    if !told.is_empty() {
        fields.put("reaction_count", total);
        fields.put("reactions", told);
    }
}

fn extra(value: &Value) -> Map<String, Value> {
    let Some(members) = value.as_object() else {
        return Map::new();
    };
    let service = text(value, "action").is_some();
    // `title` is a song's beside a file, which the media tells.
    let told = |name: &str| TOLD.contains(&name) && (name != "message_id" || service);
    let says = |value: &Value| !value.is_null() && value != &json!("") && value != &json!([]);
    members
        .iter()
        .filter(|(name, value)| !told(name) && says(value))
        .map(|(name, value)| (name.clone(), shallow(value, 8)))
        .collect()
}
