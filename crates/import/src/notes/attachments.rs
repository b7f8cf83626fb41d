//! The files that lie with the notes: pictures, documents, tables.

use std::collections::HashMap;

use super::paths::split_notion_id;
use super::vault::{File, FileNumber, Vault};
use crate::members::Fields;
use crate::{Attached, Attachment, Complaint, Sink, Stop, Tree, file_name, media_type, stem};

/// Which note shows a file first, and when that note was changed.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    shown: HashMap<FileNumber, (String, Option<String>)>,
}

impl Attachments {
    /// Remembers that a note shows a file.
    pub(super) fn shown(&mut self, file: FileNumber, note: &str, updated_at: Option<&str>) {
        self.shown.entry(file).or_insert_with(|| (note.to_owned(), updated_at.map(str::to_owned)));
    }

    /// Gives every file that is no note.
    pub(super) fn give(&self, vault: &Vault, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut before: Option<&str> = None;
        for (number, file) in vault.files().iter().enumerate().filter(|(_, file)| !file.is_note) {
            let place = tree.entries()[file.entry].path.clone();
            if before == Some(file.path.as_str()) {
                let message = "A file of this name came before; the first was kept.";
                sink.complain(Complaint::damaged(place, message))?;
                continue;
            }
            before = Some(&file.path);
            let key = file.key();
            let attached = attach(file, &key, &place, tree, sink)?;
            let mut fields = Fields::default();
            fields.put("id", key.as_str());
            if let Some((note, updated_at)) = self.shown.get(&number) {
                fields.put("note_id", note.as_str());
                fields.put_some("updated_at", updated_at.as_deref());
            }
            fields.put("name", file_name(&file.path));
            fields.put("path", file.path.as_str());
            fields.put("kind", kind(&file.path));
            if let Some(attached) = attached {
                fields.put("media_type", attached.media_type.as_str());
                fields.put("size_bytes", attached.size_bytes);
                fields.put("sha256", attached.sha256.as_str());
                fields.put("blob_ref", attached.blob_ref());
                fields.put_some("text", attached.text);
            }
            sink.record(fields.into_draft("attachments", &key, &place))?;
        }
        Ok(())
    }
}

fn attach(
    file: &File,
    key: &str,
    place: &str,
    tree: &mut dyn Tree,
    sink: &mut dyn Sink,
) -> Result<Option<Attached>, Stop> {
    let name = file_name(&file.path);
    let media_type = media_type::of_name(name).unwrap_or(media_type::UNKNOWN);
    let attachment = Attachment { stream: "attachments", key, name: Some(name), media_type };
    let mut bytes = match tree.open(file.entry) {
        Ok(bytes) => bytes,
        Err(error) => {
            sink.complain(Complaint::unreadable(place, &error))?;
            return Ok(None);
        }
    };
    let attached = sink.attach(&attachment, &mut bytes)?;
    if attached.is_none() {
        sink.complain(Complaint::damaged(place, "Its bytes could not be read to the end."))?;
    }
    Ok(attached)
}

/// A table of Notion, a canvas of Obsidian, or any other file.
fn kind(path: &str) -> &'static str {
    let own = stem(path);
    let table = own.strip_suffix("_all").unwrap_or(own);
    match path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
        Some("csv") if split_notion_id(table).1.is_some() => "database",
        Some("canvas") => "canvas",
        Some("base") => "base",
        _ => "file",
    }
}
