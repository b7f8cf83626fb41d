//! Keep notes, one JSON file each. The web page of the same name says the same and is passed over.

use jiff::Timestamp;
use serde_json::Value;

use super::attached::{Files, Wanted};
use super::seen::Seen;
use super::values::{Fields, flag, text, whole};
use crate::tree::read_whole;
use crate::{Complaint, Draft, Sink, Stop, Tree, file_name, hash_key, mint_key, stem};

/// Largest note.
const LARGEST: u64 = 16 * 1024 * 1024;
const TOLD: [&str; 15] = [
    "annotations",
    "attachments",
    "color",
    "createdTimestampUsec",
    "isArchived",
    "isPinned",
    "isTrashed",
    "labels",
    "listContent",
    "sharees",
    "textContent",
    "textContentHtml",
    "title",
    "userEditedTimestampUsec",
    "tasks",
];

/// Reads a note and the files that belong to it.
pub(super) fn read(
    tree: &mut dyn Tree,
    entry: usize,
    files: &Files,
    seen: &mut Seen,
    sink: &mut dyn Sink,
) -> Result<(), Stop> {
    let path = tree.entries()[entry].path.clone();
    let bytes = match read_whole(tree, entry, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let Ok(note @ Value::Object(_)) = serde_json::from_slice::<Value>(bytes) else {
        return sink.complain(Complaint::damaged(path, "The note is no JSON object."));
    };
    let Some(key) = key(&note, &path, seen) else { return Ok(()) };
    let created = usec(&note, "/createdTimestampUsec");
    let edited = usec(&note, "/userEditedTimestampUsec");
    let mut fields = Fields::with_id(&key);
    fields.text("title", text(&note, "/title"));
    let items = list(&note, "/listContent");
    fields.text("text", text(&note, "/textContent").or(Some(&as_text(items))));
    if !items.is_empty() {
        fields.put("items", items.iter().map(item).collect::<Vec<_>>());
        let open = items.iter().filter(|item| flag(item, "/isChecked") != Some(true)).count();
        fields.put("open_item_count", open);
    }
    let labels: Vec<&str> = list(&note, "/labels").iter().filter_map(|label| text(label, "/name")).collect();
    if !labels.is_empty() {
        fields.put("labels_text", labels.join(", "));
        fields.put("labels", labels);
    }
    fields.text("color", text(&note, "/color"));
    for (member, name) in [("pinned", "isPinned"), ("archived", "isArchived"), ("trashed", "isTrashed")] {
        fields.put(member, flag(&note, &format!("/{name}")).unwrap_or(false));
    }
    fields.list("links", note.get("annotations"));
    fields.list("shared_with", note.get("sharees"));
    fields.list("tasks", note.get("tasks"));
    fields.time("created_at", created);
    fields.time("edited_at", edited);
    // Old exports say only when a note was last edited.
    fields.time("time", created.or(edited));
    let attachments = list(&note, "/attachments");
    fields.put("attachment_count", attachments.len());
    super::places::extra(&note, &TOLD, &mut fields);
    sink.record(Draft { stream: "notes".to_owned(), key: key.clone(), data: fields.0, place: path.clone() })?;
    let folder = super::folder(&path);
    for attachment in attachments {
        let Some(name) = text(attachment, "/filePath").map(file_name).filter(|name| !name.is_empty()) else {
            sink.complain(Complaint::damaged(path.as_str(), "An attachment of the note has no filePath."))?;
            continue;
        };
        let wanted = Wanted {
            stream: "note_attachments",
            key: mint_key(&format!("{key}~{name}")),
            parent: ("note_id", &key),
            time: created.or(edited),
            name,
            media_type: text(attachment, "/mimetype"),
            path: if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") },
            place: &path,
        };
        if seen.first("note_attachments", &wanted.key) {
            files.attach(tree, wanted, sink)?;
        }
    }
    Ok(())
}

/// A note has no id; its first moment, to the microsecond, is one. Two notes of one moment are told by their file.
/// `None` when it was given already.
fn key(note: &Value, path: &str, seen: &mut Seen) -> Option<String> {
    let own =
        whole(note, "/createdTimestampUsec").filter(|usec| *usec > 0).map(|usec| format!("keep-{usec}"));
    if let Some(own) = own
        && seen.first("notes", &own)
    {
        return Some(own);
    }
    let second = hash_key(&["keep", stem(path), text(note, "/title").unwrap_or_default()]);
    seen.first("notes", &second).then_some(second)
}

fn usec(note: &Value, pointer: &str) -> Option<Timestamp> {
    // To the millisecond; Keep writes no more than that.
    Timestamp::from_millisecond(whole(note, pointer)? / 1000).ok()
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn item(item: &Value) -> Value {
    let mut fields = Fields::default();
    fields.put("text", text(item, "/text").unwrap_or_default());
    fields.put("done", flag(item, "/isChecked").unwrap_or(false));
    Value::Object(fields.0)
}

/// A list as text, so that it is found like any other note.
fn as_text(items: &[Value]) -> String {
    let line = |item: &Value| {
        let mark = if flag(item, "/isChecked") == Some(true) { "[x]" } else { "[ ]" };
        format!("{mark} {}", text(item, "/text").unwrap_or_default())
    };
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}
