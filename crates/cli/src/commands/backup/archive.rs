//! The backup file: a tar of parts, and at its end an index with the hash of each. A file without that end is not one.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use pdpp_wire::Instant;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::parts::is_ours;

const INDEX: &str = "pdpp-backup.json";
/// The form this program writes, and the newest it reads.
const VERSION: u32 = 1;
/// Longest index: some millions of attachments.
const LARGEST_INDEX: u64 = 1 << 30;

/// What a backup says about itself.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::commands) struct Index {
    version: u32,
    pub(in crate::commands) made_at: String,
    pub(in crate::commands) parts: Vec<Part>,
}

/// One part.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::commands) struct Part {
    pub(in crate::commands) path: String,
    pub(in crate::commands) size: u64,
    sha256: String,
}

/// Writes a backup.
pub(super) struct Packer<W: Write> {
    tar: tar::Builder<W>,
    index: Index,
    at: u64,
}

impl<W: Write> Packer<W> {
    pub(super) fn new(writer: W, now: Instant) -> Self {
        let index = Index { version: VERSION, made_at: now.to_rfc3339(), parts: Vec::new() };
        Self {
            tar: tar::Builder::new(writer),
            index,
            at: u64::try_from(now.unix_seconds()).unwrap_or_default(),
        }
    }

    /// Adds a file and gives its hash.
    pub(super) fn add(&mut self, path: &str, file: File) -> anyhow::Result<String> {
        let size = file.metadata()?.len();
        let mut hashing = Hashing { inner: file.take(size), hasher: Sha256::new(), bytes: 0 };
        self.append(path, size, &mut hashing)?;
        ensure!(hashing.bytes == size, "{path} became shorter while it was read");
        let sha256 = hex(&hashing.hasher.finalize());
        self.index.parts.push(Part { path: path.to_owned(), size, sha256: sha256.clone() });
        Ok(sha256)
    }

    pub(super) fn finish(mut self) -> anyhow::Result<W> {
        let index = serde_json::to_vec(&self.index)?;
        self.append(INDEX, index.len() as u64, &mut index.as_slice())?;
        Ok(self.tar.into_inner()?)
    }

    fn append(&mut self, path: &str, size: u64, bytes: &mut dyn Read) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.at);
        self.tar.append_data(&mut header, path, bytes)
    }
}

/// What is said about a broken header quotes the file, which may hold anything; what the system says does not.
fn not_readable(error: io::Error) -> anyhow::Error {
    const WRONG: &str = "this is no backup, or it is cut off";
    match error.raw_os_error() {
        Some(_) => anyhow::Error::from(error).context(WRONG),
        None => io::Error::new(error.kind(), WRONG).into(),
    }
}

/// Reads a backup to its end and checks every part; puts them into a folder when there is one.
pub(in crate::commands) fn read(file: impl Read, into: Option<&Path>) -> anyhow::Result<Index> {
    let mut tar = tar::Archive::new(file);
    let mut found: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for entry in tar.entries()? {
        let mut entry = entry.map_err(not_readable)?;
        let path = entry.path()?.to_str().context("this is no backup of pdpp")?.to_owned();
        if path == INDEX {
            let mut text = Vec::new();
            entry.take(LARGEST_INDEX).read_to_end(&mut text)?;
            return checked(serde_json::from_slice(&text).context("the backup's index is damaged")?, &found);
        }
        ensure!(
            entry.header().entry_type().is_file() && is_ours(&path),
            "this is no backup of pdpp: it holds '{path}'"
        );
        let mut hashing = Hashing { inner: &mut entry, hasher: Sha256::new(), bytes: 0 };
        match into {
            None => io::copy(&mut hashing, &mut io::sink()),
            Some(folder) => io::copy(&mut hashing, &mut create(&folder.join(&path))?),
        }
        .with_context(|| format!("'{path}' cannot be unpacked"))?;
        let part = (hashing.bytes, hex(&hashing.hasher.finalize()));
        ensure!(found.insert(path.clone(), part).is_none(), "the backup holds '{path}' twice");
    }
    bail!("the backup has no end: it is cut off, or it is no backup of pdpp")
}

fn checked(index: Index, found: &BTreeMap<String, (u64, String)>) -> anyhow::Result<Index> {
    ensure!(index.version <= VERSION, "the backup was made by a newer pdpp; use that one");
    ensure!(index.parts.len() == found.len(), "the backup does not hold what its index says");
    for part in &index.parts {
        let whole =
            found.get(&part.path).is_some_and(|(size, sha256)| *size == part.size && *sha256 == part.sha256);
        ensure!(whole, "'{}' in the backup is damaged", part.path);
    }
    for name in pdpp_server::DATABASES {
        ensure!(found.contains_key(name), "the backup holds no {name}");
    }
    Ok(index)
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Bytes that are hashed while they pass.
struct Hashing<R> {
    inner: R,
    hasher: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
