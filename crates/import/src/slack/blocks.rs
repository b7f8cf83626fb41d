//! The words in blocks and attachments, which apps use instead of, or beside, a message's text.

use serde_json::{Map, Value};

use super::directory::Directory;
use super::text::plain;
use crate::chat::{list, text};

/// Deepest nesting that is walked; Slack's own blocks reach six.
const DEEPEST: usize = 24;

/// The words in blocks, a line for each part.
pub(super) fn words(blocks: &[Value], directory: &Directory) -> String {
    let mut told = String::new();
    for block in blocks {
        walk(block, directory, DEEPEST, &mut told);
        line(&mut told);
    }
    told.trim().to_owned()
}

/// Whether blocks hold more than what people type: apps lay out theirs in sections.
pub(super) fn made_by_app(blocks: &[Value]) -> bool {
    blocks.iter().any(|block| text(block, "type").is_some_and(|kind| kind != "rich_text"))
}

fn line(told: &mut String) {
    if !told.is_empty() && !told.ends_with('\n') {
        told.push('\n');
    }
}

fn walk(value: &Value, directory: &Directory, depth: usize, told: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let said = |member: &str| text(value, member);
    let mut say = |words: &str| told.push_str(words);
    match said("type").unwrap_or_default() {
        "text" | "plain_text" | "raw_text" => say(said("text").unwrap_or_default()),
        "mrkdwn" | "markdown" => say(&plain(said("text").unwrap_or_default(), directory)),
        "link" => say(said("text").or_else(|| said("url")).unwrap_or_default()),
        "emoji" => say(&said("name").map(|name| format!(":{name}:")).unwrap_or_default()),
        "user" => say(&plain(&said("user_id").map(|id| format!("<@{id}>")).unwrap_or_default(), directory)),
        "channel" => {
            say(&plain(&said("channel_id").map(|id| format!("<#{id}>")).unwrap_or_default(), directory));
        }
        "broadcast" => say(&said("range").map(|range| format!("@{range}")).unwrap_or_default()),
        "usergroup" => say("@group"),
        "date" => say(said("fallback").unwrap_or_default()),
        "image" => {
            let title = value.get("title").and_then(|title| text(title, "text"));
            say(title.or_else(|| said("alt_text")).unwrap_or_default());
        }
        "rich_text_list" | "rich_text" | "context" | "table" => {
            for part in list(value, "elements").iter().chain(list(value, "rows")) {
                line(told);
                walk(part, directory, depth, told);
            }
        }
        _ => any(value, directory, depth, told),
    }
}

/// A part of no particular kind: its heading, its text, its fields and what it holds.
fn any(value: &Value, directory: &Directory, depth: usize, told: &mut String) {
    if let Value::Array(cells) = value {
        for cell in cells {
            walk(cell, directory, depth, told);
            told.push(' ');
        }
        return;
    }
    for member in ["title", "text", "description"] {
        match value.get(member) {
            Some(Value::String(words)) => told.push_str(&plain(words, directory)),
            Some(inner @ Value::Object(_)) => walk(inner, directory, depth, told),
            _ => continue,
        }
        line(told);
    }
    for field in list(value, "fields") {
        walk(field, directory, depth, told);
        line(told);
    }
    for element in list(value, "elements") {
        walk(element, directory, depth, told);
    }
}

/// What an attachment says, without the colours and pictures around it.
pub(super) fn attachment(value: &Value, directory: &Directory) -> Option<Value> {
    let mut kept = Map::new();
    for member in ["pretext", "author_name", "service_name", "title", "text", "footer", "fallback"] {
        if let Some(words) = text(value, member) {
            kept.insert(member.to_owned(), plain(words, directory).into());
        }
    }
    for member in ["title_link", "from_url", "original_url", "image_url", "channel_id", "ts"] {
        if let Some(words) = text(value, member) {
            kept.insert(member.to_owned(), words.into());
        }
    }
    let fields: Vec<String> = list(value, "fields")
        .iter()
        .map(|field| {
            [text(field, "title"), text(field, "value")].into_iter().flatten().collect::<Vec<_>>().join(": ")
        })
        .filter(|words| !words.is_empty())
        .map(|words| plain(&words, directory))
        .collect();
    if !fields.is_empty() {
        kept.insert("fields".to_owned(), fields.join("\n").into());
    }
    let words = words(list(value, "blocks"), directory);
    if !words.is_empty() {
        kept.insert("blocks_text".to_owned(), words.into());
    }
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// The words of attachments as [`attachment`] keeps them.
pub(super) fn attachment_words(attachments: &[Value]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for attachment in attachments {
        let before = lines.len();
        for member in ["pretext", "title", "text", "fields", "blocks_text"] {
            lines.extend(text(attachment, member));
        }
        // The fallback repeats the rest, for clients that cannot show it.
        if lines.len() == before {
            lines.extend(text(attachment, "fallback"));
        }
    }
    lines.join("\n")
}
