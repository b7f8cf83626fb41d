//! Files that were shared in messages, and canvases and lists, which are files too.
//!
//! A file shared in two conversations is two records with one `file_id`: each belongs to its message.

use std::collections::HashMap;

use serde_json::Value;

use super::channels::Channel;
use super::directory::Directory;
use crate::chat::{Bytes, Fields, Pending, Waiting, flag, from_unix, integer, list, text};
use crate::{Draft, Sink, Stop, mint_key};

/// The files of a message, each once.
pub(super) fn of_message(
    value: &Value,
    message: &str,
    channel: &Channel,
    directory: &mut Directory,
    place: &str,
) -> Vec<Draft> {
    // Before 2018 a message had one file, in `file`.
    let files = list(value, "files").iter().chain(value.get("file").filter(|file| file.is_object()));
    let mut drafts: Vec<Draft> = Vec::new();
    for file in files {
        let draft = draft(file, Some((message, channel)), directory, place.to_owned());
        drafts.extend(draft.filter(|draft| drafts.iter().all(|other| other.key != draft.key)));
    }
    drafts
}

pub(super) fn draft(
    file: &Value,
    shared: Option<(&str, &Channel)>,
    directory: &mut Directory,
    place: String,
) -> Option<Draft> {
    let file_id = text(file, "id")?;
    let key = match shared {
        Some((message, _)) => mint_key(&format!("{message}:{file_id}")),
        None => mint_key(file_id),
    };
    if let Some(link) = text(file, "permalink") {
        directory.learn_domain(link, text(file, "user_team"));
    }
    let mut fields = Fields::new(&key);
    fields.put("file_id", file_id);
    if let Some((message, channel)) = shared {
        fields.put("message_id", message);
        fields.put("channel_id", channel.id.as_str());
    }
    fields.maybe("name", text(file, "name").or_else(|| text(file, "title")));
    fields.maybe("title", text(file, "title"));
    fields.maybe("media_type", text(file, "mimetype"));
    fields.maybe("file_type", text(file, "filetype"));
    fields.maybe("size_bytes", integer(file, "size").filter(|size| *size >= 0));
    let created = integer(file, "created").or_else(|| integer(file, "timestamp"));
    fields.maybe("created_at", created.and_then(from_unix));
    let user = text(file, "user");
    fields.maybe("author_id", user);
    fields.maybe("author_name", user.and_then(|id| directory.person(id)));
    let mode = text(file, "mode");
    fields.maybe("mode", mode);
    fields.when("is_deleted", mode == Some("tombstone"));
    fields.maybe("is_external", flag(file, "is_external"));
    fields.maybe("external_type", text(file, "external_type"));
    fields.maybe("url", text(file, "url_private").map(without_token));
    fields.maybe("permalink", text(file, "permalink").map(without_token));
    fields.maybe("preview", text(file, "plain_text").or_else(|| text(file, "preview")));
    fields.maybe("transcript", transcript(file));
    Some(fields.draft("files", &key, place))
}

/// What was said in a voice or video clip, as far as Slack wrote it down.
fn transcript(file: &Value) -> Option<&str> {
    let preview = file.get("transcription")?.get("preview")?;
    text(preview, "content")
}

/// Links in an export carry a secret in `t`, new with every export, that opens the file to anyone who has it.
fn without_token(url: &str) -> String {
    let Some((address, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("t=")).collect();
    if kept.is_empty() { address.to_owned() } else { format!("{address}?{}", kept.join("&")) }
}

/// Gives a file, or lets it wait for its bytes if they were fetched.
pub(super) fn give(
    draft: Draft,
    uploads: &HashMap<String, usize>,
    waiting: &mut Waiting,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    match draft.data.get("file_id").and_then(Value::as_str).and_then(|id| uploads.get(id)) {
        Some(entry) => {
            waiting.push(Pending { bytes: Bytes::Entry(*entry), draft });
            Ok(())
        }
        None => sink.record(draft),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_of_a_link_is_not_kept() {
        assert_eq!(without_token("https://f.example/a?t=xoxe-1"), "https://f.example/a");
        assert_eq!(without_token("https://f.example/a?x=1&t=xoxe-1&y=2"), "https://f.example/a?x=1&y=2");
        assert_eq!(without_token("https://f.example/a"), "https://f.example/a");
    }
}
