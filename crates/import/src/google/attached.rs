//! Files that lie beside notes and chats.

use std::collections::HashMap;

use jiff::Timestamp;

use super::values::Fields;
use crate::{Attachment, Complaint, Draft, Sink, Stop, Tree, file_name, stem};

/// The files of a claim by their path. A path and a number each: an archive of a hundred thousand pictures takes
/// some ten megabytes.
#[derive(Debug)]
pub(super) struct Files {
    by_path: HashMap<String, usize>,
}

/// A file that a record refers to.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) stream: &'a str,
    pub(super) key: String,
    /// The member that names the parent, and its key.
    pub(super) parent: (&'a str, &'a str),
    pub(super) time: Option<Timestamp>,
    pub(super) name: &'a str,
    pub(super) media_type: Option<&'a str>,
    /// The path it should lie at.
    pub(super) path: String,
    pub(super) place: &'a str,
}

impl Files {
    pub(super) fn new(tree: &dyn Tree, entries: &[usize]) -> Self {
        let others = entries.iter().map(|entry| (*entry, tree.entries()[*entry].path.as_str()));
        let others = others.filter(|(_, path)| !path.to_ascii_lowercase().ends_with(".json"));
        Self { by_path: others.map(|(entry, path)| (path.to_owned(), entry)).collect() }
    }

    /// The file at a path. Takeout writes `.jpeg` into a note and `.jpg` into the archive.
    fn find(&self, path: &str) -> Option<usize> {
        const PICTURES: [&str; 6] = ["jpg", "jpeg", "png", "gif", "webp", "3gp"];
        if let Some(entry) = self.by_path.get(path) {
            return Some(*entry);
        }
        let base = path.strip_suffix(file_name(path))?.to_owned() + stem(path);
        PICTURES.iter().find_map(|end| self.by_path.get(&format!("{base}.{end}")).copied())
    }

    /// Keeps a file and gives its record; without its bytes when it is not in the archive.
    pub(super) fn attach(
        &self,
        tree: &mut dyn Tree,
        wanted: Wanted<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let mut fields = Fields::with_id(&wanted.key);
        fields.put(wanted.parent.0, wanted.parent.1);
        fields.time("time", wanted.time);
        fields.text("name", Some(wanted.name));
        let guessed = media_type(wanted.name);
        let media_type = wanted.media_type.filter(|kind| kind.contains('/')).unwrap_or(guessed);
        fields.put("media_type", media_type);
        if let Some(entry) = self.find(&wanted.path) {
            let attachment =
                Attachment { stream: wanted.stream, key: &wanted.key, name: Some(wanted.name), media_type };
            match tree.open(entry) {
                Err(error) => sink.complain(Complaint::unreadable(wanted.path, &error))?,
                Ok(mut bytes) => match sink.attach(&attachment, &mut bytes)? {
                    None => sink.complain(Complaint::damaged(wanted.path, "Cannot be read to its end."))?,
                    Some(kept) => {
                        fields.put("media_type", kept.media_type.as_str());
                        fields.put("size_bytes", kept.size_bytes);
                        fields.put("sha256", kept.sha256.as_str());
                        fields.put("blob_ref", kept.blob_ref());
                        fields.some("text", kept.text);
                    }
                },
            }
        }
        let Wanted { stream, key, place, .. } = wanted;
        sink.record(Draft { stream: stream.to_owned(), key, data: fields.0, place: place.to_owned() })
    }
}

/// A media type from a name.
fn media_type(name: &str) -> &'static str {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref().unwrap_or_default() {
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "svg" => "image/svg+xml",
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "3gp" => "audio/3gpp",
        "mp3" => "audio/mpeg",
        "m4a" | "aac" => "audio/mp4",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}
