//! What the tests of all formats share: trees in memory, fixtures from disk, and a sink that keeps everything.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_store::Admission;
use pdpp_wire::Instant;
use pdpp_wire::manifest::Manifest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    Attached, Attachment, Bounds, Complaint, Draft, Entry, Format, InMemory, Nested, ReadSeek, Scratch, Sink, Stop,
    Tree, detect,
};

/// A tree in memory.
#[derive(Clone, Debug)]
pub(crate) struct MemoryTree {
    entries: Vec<Entry>,
    bytes: Vec<Vec<u8>>,
}

impl MemoryTree {
    pub(crate) fn new<P: Into<String>, B: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let (mut entries, mut all) = (Vec::new(), Vec::new());
        for (path, bytes) in files {
            let bytes = bytes.into();
            entries.push(Entry { path: path.into(), bytes: bytes.len() as u64 });
            all.push(bytes);
        }
        Self { entries, bytes: all }
    }

    /// A folder of `fixtures/exports`, in the order of its paths. Snapshots (`*.snap`) are left out.
    pub(crate) fn fixture(name: &str) -> Self {
        let root = fixtures().join(name);
        let mut files = BTreeMap::new();
        gather(&root, &root, &mut files);
        assert!(!files.is_empty(), "no fixture {name}");
        Self::new(files)
    }

    /// The bytes of one entry, to spoil them.
    pub(crate) fn bytes_mut(&mut self, path: &str) -> &mut Vec<u8> {
        let index = self.entries.iter().position(|entry| entry.path == path).unwrap();
        &mut self.bytes[index]
    }

    /// The same tree with its archives opened, as an import sees it.
    pub(crate) fn opened(self) -> Nested {
        let scratch: Arc<dyn Scratch> = Arc::new(InMemory);
        Nested::open(Box::new(self), &scratch, Bounds::default()).unwrap()
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exports")
}

fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, files);
        } else if path.extension().is_none_or(|end| end != "snap") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

impl Tree for MemoryTree {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn open(&mut self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.bytes[index].as_slice()))
    }

    fn seekable(&mut self, index: usize) -> io::Result<Option<Box<dyn ReadSeek>>> {
        Ok(Some(Box::new(Cursor::new(self.bytes[index].clone()))))
    }
}

/// Everything a format gave.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) records: Vec<Draft>,
    pub(crate) complaints: Vec<Complaint>,
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
}

impl Sink for Kept {
    fn record(&mut self, draft: Draft) -> Result<(), Stop> {
        self.records.push(draft);
        Ok(())
    }

    fn attach(&mut self, attachment: &Attachment<'_>, bytes: &mut dyn Read) -> Result<Option<Attached>, Stop> {
        let mut kept = Vec::new();
        if bytes.read_to_end(&mut kept).is_err() {
            return Ok(None);
        }
        let digest = Sha256::digest(&kept);
        let sha256 = digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        let blob_id = format!("blob_{}", &sha256[..8]);
        let size_bytes = kept.len() as u64;
        self.blobs.insert(blob_id.clone(), kept);
        let media_type = attachment.media_type.to_owned();
        Ok(Some(Attached { blob_id, sha256, size_bytes, media_type, text: None }))
    }

    fn complain(&mut self, complaint: Complaint) -> Result<(), Stop> {
        self.complaints.push(complaint);
        Ok(())
    }
}

impl Kept {
    /// Every record on its own line, then the complaints.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for Draft { stream, key, data, .. } in &self.records {
            let data = serde_json::to_string(data).unwrap();
            writeln!(text, "{stream} {key}\n    {data}").unwrap();
        }
        for Complaint { where_, code, message } in &self.complaints {
            writeln!(text, "! {where_}: {code}: {message}").unwrap();
        }
        text
    }

    pub(crate) fn of(&self, stream: &str) -> impl Iterator<Item = &Draft> {
        self.records.iter().filter(move |draft| draft.stream == stream)
    }
}

/// Reads whatever the format claims in a tree, and holds every record against the manifest: a record its own
/// stream would refuse, or a key outside the grammar, is a mistake of the format.
#[track_caller]
pub(crate) fn read(format: &dyn Format, tree: &mut dyn Tree) -> Kept {
    let mut kept = Kept::default();
    for (_, claim) in detect(tree, &[format]).claims {
        let manifest = format.manifest(tree, &claim).unwrap();
        let from = kept.records.len();
        format.read(tree, &claim, &mut kept).unwrap();
        admit(&manifest, &kept.records[from..]);
    }
    kept
}

#[track_caller]
fn admit(manifest: &Manifest, drafts: &[Draft]) {
    let rules: BTreeMap<&str, Admission<'_>> = manifest
        .streams()
        .iter()
        .map(|stream| (stream.name().as_str(), Admission::new(stream).unwrap()))
        .collect();
    let now = Instant::parse("2026-01-01T00:00:00Z").unwrap();
    for draft in drafts {
        let rule = rules.get(draft.stream.as_str()).unwrap_or_else(|| panic!("no stream {}", draft.stream));
        assert_eq!(crate::mint_key(&draft.key), draft.key, "the key of {draft:?}");
        let data = Value::Object(draft.data.clone());
        rule.upsert(&Value::String(draft.key.clone()), data, now)
            .unwrap_or_else(|refused| panic!("{refused} in {draft:?}"));
    }
}

/// Cuts every file of a fixture at several places and flips bytes in it: reading must come to its end, and what is
/// given must still be admitted.
#[track_caller]
pub(crate) fn survives_damage(format: &dyn Format, tree: &MemoryTree) {
    for index in 0..tree.entries.len() {
        let length = tree.bytes[index].len();
        for part in 0..12 {
            let mut cut = tree.clone();
            cut.bytes[index].truncate(length * part / 12);
            cut.entries[index].bytes = cut.bytes[index].len() as u64;
            read(format, &mut cut);
            let mut spoiled = tree.clone();
            for place in (part..length).step_by(97) {
                spoiled.bytes[index][place] ^= 0x5a;
            }
            read(format, &mut spoiled);
            let mut zeroed = tree.clone();
            zeroed.bytes[index][length * part / 12..].iter_mut().take(64).for_each(|byte| *byte = 0);
            read(format, &mut zeroed);
        }
    }
}
