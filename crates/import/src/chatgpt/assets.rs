//! Files that messages show, and where they lie in the export.
//!
//! A message points at `file-service://file-AbC` or `sediment://file_00ff`; the file lies somewhere in the export as
//! `file-AbC-name.png`, `dalle-generations/file-AbC-….webp` or, lately, `file_00ff.dat`. Many are not in the export at
//! all, which is no fault of it.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read as _};

use serde_json::Value;

use super::claim::{is_asset, named};
use super::content::Shown;
use crate::folders::folder;
use crate::json_list::parse;
use crate::members::{Fields, count, list, text};
use crate::tree::read_whole;
use crate::{Attachment, Claim, Complaint, Draft, Sink, Stop, Tree, file_name, media_type, mint_key};

/// Most bytes of the list of file names.
const LONGEST_NAMES: u64 = 16 << 20;
/// Most files that wait for the text to end; each takes about a kilobyte.
const MOST_WAITING: usize = 100_000;

/// A file as its message describes it.
#[derive(Debug, Default)]
pub(super) struct Asset {
    id: String,
    shown: Shown,
    name: Option<String>,
    media_type: Option<String>,
}

impl Asset {
    /// The files of a message: what it shows, and what was attached to it. One that is both comes once.
    pub(super) fn of_message(message: &Value, shown: &[Shown]) -> Vec<Self> {
        let mut assets: Vec<Self> = Vec::new();
        for shown in shown {
            let id = asset_id(&shown.pointer).to_owned();
            if !assets.iter().any(|known| known.id == id) {
                assets.push(Self { id, shown: shown.clone(), ..Self::default() });
            }
        }
        for attached in list(&message["metadata"], "attachments") {
            let Some(id) = text(attached, "id").map(asset_id) else { continue };
            let at = assets.iter().position(|known| known.id == id).unwrap_or_else(|| {
                let shown = Shown { kind: "file", ..Shown::default() };
                assets.push(Self { id: id.to_owned(), shown, ..Self::default() });
                assets.len() - 1
            });
            let asset = &mut assets[at];
            asset.name = text(attached, "name").map(str::to_owned);
            let media_type = text(attached, "mime_type").or_else(|| text(attached, "mimeType"));
            asset.media_type = media_type.map(str::to_owned);
            asset.shown.size_bytes = asset.shown.size_bytes.or_else(|| count(attached, "size"));
            asset.shown.width = asset.shown.width.or_else(|| count(attached, "width"));
            asset.shown.height = asset.shown.height.or_else(|| count(attached, "height"));
        }
        assets
    }
}

/// The files of one export.
#[derive(Debug)]
pub(super) struct Assets {
    /// The entry of each file by its id, and whether a message showed it.
    entries: HashMap<String, (usize, bool)>,
    /// Files whose names hold no id, or an id that another has too.
    others: Vec<usize>,
    /// The name each file had when it was uploaded, by its id.
    names: BTreeMap<String, String>,
    waiting: Vec<Waiting>,
}

/// A record that waits for its bytes.
#[derive(Debug)]
struct Waiting {
    entry: usize,
    draft: Draft,
    name: String,
    media_type: Option<String>,
}

impl Assets {
    pub(super) fn find(tree: &mut dyn Tree, claim: &Claim) -> Self {
        let mut names = BTreeMap::new();
        for index in named(tree, claim, |name| name == "conversation_asset_file_names.json") {
            let list = read_whole(tree, index, LONGEST_NAMES).ok().and_then(|bytes| parse(&bytes));
            for (file, name) in list.as_ref().and_then(Value::as_object).into_iter().flatten() {
                if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
                    names.insert(asset_id(file_name(file)).to_owned(), file_name(name).to_owned());
                }
            }
        }
        let (mut entries, mut others) = (HashMap::new(), Vec::new());
        // A claim begins with the conversations, and its files lie below them.
        let first = claim.entries.first().map_or("", |first| &tree.entries()[*first].path);
        let root = folder(first).len();
        for index in &claim.entries {
            let path = &tree.entries()[*index].path;
            if !path.get(root..).is_some_and(is_asset) {
                continue;
            }
            let id = asset_id(file_name(path));
            if entries.contains_key(id) {
                others.push(*index);
            } else {
                entries.insert(id.to_owned(), (*index, false));
            }
        }
        Self { entries, others, names, waiting: Vec::new() }
    }

    /// Takes a file of a message. If the export holds it, its record waits until the text is read.
    pub(super) fn take(
        &mut self,
        asset: Asset,
        (conversation, message): (&str, &str),
        created_at: Option<&str>,
        place: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        let key = mint_key(&format!("{message}:{}", asset.id));
        let name = asset.name.or_else(|| self.names.get(&asset.id).cloned());
        let media_type =
            asset.media_type.or_else(|| name.as_deref().and_then(media_type::of_name).map(str::to_owned));
        let mut fields = Fields::default();
        fields.put("id", key.as_str());
        fields.put("message_id", message);
        fields.put("conversation_id", conversation);
        fields.put("file_id", asset.id.as_str());
        fields.put_some("name", name.as_deref());
        fields.put_some("media_type", media_type.as_deref());
        fields.put_some("size_bytes", asset.shown.size_bytes);
        fields.put_some("created_at", created_at);
        asset.shown.put_into(&mut fields);
        let draft = fields.into_draft("attachments", &key, place);
        match self.entries.get_mut(&asset.id) {
            None => sink.record(draft),
            Some((_, shown)) if self.waiting.len() >= MOST_WAITING => {
                *shown = true;
                let message =
                    format!("More than {MOST_WAITING} files are shown; this one came without its bytes.");
                sink.complain(Complaint::damaged(place, message))?;
                sink.record(draft)
            }
            Some((entry, shown)) => {
                *shown = true;
                let name = name.unwrap_or_default();
                self.waiting.push(Waiting { entry: *entry, draft, name, media_type });
                Ok(())
            }
        }
    }

    /// Gives the records that waited, with their bytes, and then the files no message shows.
    pub(super) fn attach(mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut left: Vec<usize> =
            self.entries.values().filter(|(_, shown)| !shown).map(|(entry, _)| *entry).collect();
        left.append(&mut self.others);
        left.sort_unstable_by(|a, b| tree.entries()[*a].path.cmp(&tree.entries()[*b].path));
        for waiting in std::mem::take(&mut self.waiting) {
            waiting.attach(tree, sink)?;
        }
        for entry in left {
            self.unshown(tree, entry).attach(tree, sink)?;
        }
        Ok(())
    }

    /// A file no message shows. Its name in the export is all that is known of it.
    fn unshown(&self, tree: &dyn Tree, entry: usize) -> Waiting {
        let path = &tree.entries()[entry].path;
        let file = file_name(path);
        let id = asset_id(file);
        let name = self.names.get(id).map_or(file, String::as_str).to_owned();
        let key = mint_key(&format!("file:{file}"));
        let media_type = media_type::of_name(&name).map(str::to_owned);
        let mut fields = Fields::default();
        fields.put("id", key.as_str());
        fields.put("file_id", id);
        fields.put("name", name.as_str());
        fields.put_some("media_type", media_type.as_deref());
        fields.put("kind", "file");
        Waiting { entry, draft: fields.into_draft("attachments", &key, path), name, media_type }
    }
}

impl Waiting {
    fn attach(mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        let path = tree.entries()[self.entry].path.clone();
        if self.name.is_empty() {
            file_name(&path).clone_into(&mut self.name);
            self.draft.data.insert("name".to_owned(), self.name.as_str().into());
        }
        let mut head = Vec::new();
        let opened = tree.open(self.entry).and_then(|mut bytes| {
            bytes.by_ref().take(16).read_to_end(&mut head)?;
            Ok(bytes)
        });
        let bytes = match opened {
            Ok(bytes) => bytes,
            Err(error) => {
                sink.complain(Complaint::unreadable(path, &error))?;
                return sink.record(self.draft);
            }
        };
        let media_type = self.media_type.or_else(|| {
            let told = media_type::of_head(&head).or_else(|| media_type::of_name(&path));
            told.map(str::to_owned)
        });
        let media_type = media_type.as_deref().unwrap_or(media_type::UNKNOWN);
        let attachment =
            Attachment { stream: "attachments", key: &self.draft.key, name: Some(&self.name), media_type };
        let attached = sink.attach(&attachment, &mut io::Cursor::new(&head).chain(bytes))?;
        match attached {
            None => sink.complain(Complaint::damaged(path, "Its bytes could not be read to the end."))?,
            Some(attached) => {
                let data = &mut self.draft.data;
                data.insert("media_type".to_owned(), attached.media_type.as_str().into());
                data.insert("size_bytes".to_owned(), attached.size_bytes.into());
                data.insert("sha256".to_owned(), attached.sha256.as_str().into());
                data.insert("blob_ref".to_owned(), attached.blob_ref());
                if let Some(text) = attached.text {
                    data.insert("text".to_owned(), text.into());
                }
            }
        }
        sink.record(self.draft)
    }
}

/// The service's id in a pointer or a file name: `file-AbC` of `file-service://file-AbC` and of `file-AbC-name.png`.
fn asset_id(pointer: &str) -> &str {
    let bare = pointer.rsplit("://").next().unwrap_or(pointer);
    let prefix =
        ["file-", "file_"].iter().find(|prefix| bare.starts_with(**prefix)).map_or(0, |prefix| prefix.len());
    if prefix == 0 {
        // Not one of the service's ids: the whole name without what follows its last dot.
        return crate::stem(bare);
    }
    let length = bare[prefix..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    &bare[..prefix + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_and_file_names_meet_in_one_id() {
        for (given, id) in [
            ("file-service://file-AbC123", "file-AbC123"),
            ("file-AbC123-holiday photo.png", "file-AbC123"),
            ("sediment://file_00000000ffaa", "file_00000000ffaa"),
            ("sediment://file_00000000ffaa#file_1#p_0.jpg", "file_00000000ffaa"),
            ("file_00000000ffaa.dat", "file_00000000ffaa"),
            ("3f2a-voice.wav", "3f2a-voice"),
            ("", ""),
            ("file-", "file-"),
        ] {
            assert_eq!(asset_id(given), id, "{given}");
        }
    }
}
