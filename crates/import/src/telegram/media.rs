//! Photos, files and cards of messages. The export holds them beside it, or says in words why it does not.

use serde_json::Value;

use super::message::Message;
use crate::chat::{Bytes, Fields, Pending, flag, integer, media_type_of, text};
use crate::{Draft, file_name, mint_key, safe_path};

#[derive(Debug)]
pub(super) enum Media {
    /// In a file of its own.
    Beside(Pending),
    /// Left out when the export was made.
    NotIncluded(Draft),
}

pub(super) fn of_message(
    value: &Value,
    message: &Message,
    chat: &str,
    place: &str,
    root: &str,
) -> Vec<Media> {
    ["photo", "file", "contact_vcard"]
        .into_iter()
        .filter_map(|member| one(value, member, message, chat, place, root))
        .collect()
}

fn one(value: &Value, member: &str, message: &Message, chat: &str, place: &str, root: &str) -> Option<Media> {
    let said = text(value, member)?;
    // `(File not included. Change data exporting settings to download.)`, and others of its kind.
    let path = if said.starts_with('(') && said.ends_with(')') { None } else { safe_path(said) };
    let key = mint_key(&format!("{}:{member}", message.key));
    let mut fields = Fields::new(&key);
    fields.put("message_id", message.key.as_str());
    fields.put("chat_id", chat);
    fields.maybe("sent_at", message.sent_at.as_deref());
    let kind = match member {
        "file" => text(value, "media_type").unwrap_or("file"),
        other => other,
    };
    fields.put("kind", kind);
    let own_name = if member == "file" { text(value, "file_name") } else { None };
    let name = own_name.or_else(|| path.as_deref().map(file_name));
    fields.maybe("name", name);
    let own_type = if member == "file" { text(value, "mime_type") } else { None };
    let by_name = match member {
        "photo" => Some("image/jpeg"),
        _ => name.map(media_type_of),
    };
    fields.maybe("media_type", own_type.or(by_name));
    fields
        .maybe("size_bytes", integer(value, &format!("{member}_file_size")).or_else(|| size(value, member)));
    if member != "contact_vcard" {
        fields.maybe("width", integer(value, "width"));
        fields.maybe("height", integer(value, "height"));
        fields.maybe("duration_seconds", integer(value, "duration_seconds"));
        fields.maybe("performer", text(value, "performer"));
        fields.maybe("title", text(value, "title"));
        fields.maybe("sticker_emoji", text(value, "sticker_emoji"));
        fields.when("is_spoiler", flag(value, "media_spoiler") == Some(true));
    }
    fields.put("is_included", path.is_some());
    let place = place.to_owned();
    let Some(path) = path else {
        // Anything but a remark is a path that leads out of the export, and is not followed.
        let because = said.strip_prefix('(').and_then(|said| said.strip_suffix(')'));
        fields.maybe("not_included_because", because);
        return Some(Media::NotIncluded(fields.draft("media", &key, place)));
    };
    let bytes = Bytes::Path(format!("{root}{path}"));
    Some(Media::Beside(Pending { bytes, draft: fields.draft("media", &key, place) }))
}

fn size(value: &Value, member: &str) -> Option<i64> {
    if member == "file" { integer(value, "file_size") } else { None }
}
