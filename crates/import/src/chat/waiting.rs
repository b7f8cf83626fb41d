//! Records whose bytes lie in another entry. Only one entry is open at a time, so they wait until the text that
//! names them has been read, or until so many wait that the text is put down for a while.

use serde_json::Value;

use crate::{Attached, Attachment, Complaint, Draft, Sink, Stop, Tree};

/// How much may wait, in bytes of records. Tests reach it sooner.
const MOST: usize = if cfg!(test) { 64 * 1024 } else { 48 * 1024 * 1024 };
/// What a waiting record takes beside its texts.
const EACH: usize = 512;

/// Where the bytes of a record are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    Entry(usize),
    Path(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) bytes: Bytes,
    pub(crate) draft: Draft,
}

#[derive(Debug)]
pub(crate) struct Waiting {
    queue: Vec<Pending>,
    size: usize,
    /// Entries of the claim in the order of their paths: eight bytes each, instead of a copy of every path.
    by_path: Vec<usize>,
    missing: u64,
}

impl Waiting {
    pub(crate) fn new(tree: &dyn Tree, entries: &[usize]) -> Self {
        let mut by_path = entries.to_vec();
        let all = tree.entries();
        by_path.sort_by(|a, b| all[*a].path.cmp(&all[*b].path));
        Self { queue: Vec::new(), size: 0, by_path, missing: 0 }
    }

    pub(crate) fn push(&mut self, pending: Pending) {
        let texts = pending.draft.data.values().filter_map(Value::as_str).map(str::len).sum::<usize>();
        self.size += EACH + texts;
        self.queue.push(pending);
    }

    /// Whether the text should be put down and [`Waiting::flush`] called.
    pub(crate) fn full(&self) -> bool {
        self.size >= MOST
    }

    /// Gives every waiting record with its bytes. No entry may be open.
    pub(crate) fn flush(&mut self, tree: &mut dyn Tree, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.size = 0;
        for Pending { bytes, mut draft } in std::mem::take(&mut self.queue) {
            let entry = match bytes {
                Bytes::Entry(entry) => Some(entry),
                Bytes::Path(path) => self.find(tree, &path),
            };
            match entry {
                None => {
                    self.missing += 1;
                    if let Some(included) = draft.data.get_mut("is_included") {
                        *included = false.into();
                    }
                }
                Some(entry) => attach(tree, entry, &mut draft, sink)?,
            }
            sink.record(draft)?;
        }
        Ok(())
    }

    /// Complains once about all the files that were named and not found.
    pub(crate) fn complain_of_missing(&mut self, place: &str, sink: &mut dyn Sink) -> Result<(), Stop> {
        match std::mem::take(&mut self.missing) {
            0 => Ok(()),
            count => {
                let message = format!(
                    "Files it names that are not in the export: {count}. They were kept by name only."
                );
                sink.complain(Complaint::damaged(place, message))
            }
        }
    }

    fn find(&self, tree: &dyn Tree, path: &str) -> Option<usize> {
        let all = tree.entries();
        let place = self.by_path.binary_search_by(|entry| all[*entry].path.as_str().cmp(path)).ok()?;
        Some(self.by_path[place])
    }
}

fn attach(tree: &mut dyn Tree, entry: usize, draft: &mut Draft, sink: &mut dyn Sink) -> Result<(), Stop> {
    let path = tree.entries()[entry].path.clone();
    let mut bytes = match tree.open(entry) {
        Ok(bytes) => bytes,
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let said = |name: &str| draft.data.get(name).and_then(Value::as_str);
    let attachment = Attachment {
        stream: &draft.stream,
        key: &draft.key,
        name: said("name"),
        media_type: said("media_type").unwrap_or("application/octet-stream"),
    };
    match sink.attach(&attachment, &mut *bytes)? {
        Some(attached) => {
            complete(draft, attached);
            Ok(())
        }
        None => sink.complain(Complaint::damaged(path, "It could not be read to its end, and was not kept.")),
    }
}

fn complete(draft: &mut Draft, attached: Attached) {
    let blob_ref = attached.blob_ref();
    let data = &mut draft.data;
    data.insert("media_type".into(), attached.media_type.into());
    data.insert("size_bytes".into(), attached.size_bytes.into());
    data.insert("sha256".into(), attached.sha256.into());
    data.insert("blob_ref".into(), blob_ref);
    if let Some(text) = attached.text {
        data.insert("text".into(), text.into());
    }
}
