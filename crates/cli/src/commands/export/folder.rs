//! The folder an export is written to: private from the start, complete only with its index file.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pdpp_access::{Connection, Source};
use pdpp_store::RecordRow;
use pdpp_wire::StreamName;
use serde_json::{Value, json, value::RawValue};

use crate::exit::Usage;

/// The folder.
#[derive(Debug)]
pub(super) struct ExportFolder {
    root: PathBuf,
    connections: Vec<Value>,
}

impl ExportFolder {
    /// A new or empty folder.
    pub(super) fn create(root: &Path) -> anyhow::Result<Self> {
        create_private_folder(root)
            .with_context(|| format!("cannot make {}; choose a place that can be written", root.display()))?;
        if fs::read_dir(root)?.next().is_some() {
            return Err(Usage(format!("{} is not empty; name a new folder", root.display())).into());
        }
        Ok(Self { root: root.to_owned(), connections: Vec::new() })
    }

    /// Where one connection's records go.
    pub(super) fn connection(&mut self, source: &Source, connection: &Connection) -> anyhow::Result<Lines> {
        let name = format!("{}-{}", source.key(), self.connections.len() + 1);
        let folder = self.root.join(&name);
        create_private_folder(&folder)?;
        let manifest = serde_json::to_vec_pretty(source.manifest.document())?;
        create(&folder.join("manifest.json"))?.write_all(&manifest)?;
        self.connections.push(json!({
            "folder": name, "connector_key": source.key(), "display_name": connection.display_name,
        }));
        let file = BufWriter::with_capacity(1 << 20, create(&folder.join("records.jsonl"))?);
        Ok(Lines { folder, file, blob_ids: BTreeSet::new() })
    }

    /// Writes the index last: without it nothing takes the folder for a whole export.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let index = json!({"version": 1, "connections": self.connections});
        let mut file = create(&self.root.join("pdpp-export.json"))?;
        file.write_all(&serde_json::to_vec_pretty(&index)?)?;
        file.sync_all()?;
        Ok(())
    }
}

/// One connection's records while they are written.
#[derive(Debug)]
pub(super) struct Lines {
    folder: PathBuf,
    file: BufWriter<File>,
    /// Attachments that the records refer to.
    pub(super) blob_ids: BTreeSet<String>,
}

#[derive(serde::Serialize)]
struct Envelope<'a> {
    stream: &'a StreamName,
    key: &'a str,
    data: &'a RawValue,
    emitted_at: String,
}

impl Lines {
    pub(super) fn write(&mut self, stream: &StreamName, row: &RecordRow) -> anyhow::Result<()> {
        let text = row.data.get();
        let data: &RawValue = serde_json::from_str(text)?;
        self.blob_ids.extend(super::blob_id_of(text));
        let emitted_at = row.emitted_at.to_rfc3339();
        let envelope = Envelope { stream, key: row.key.as_str(), data, emitted_at };
        serde_json::to_writer(&mut self.file, &envelope)?;
        self.file.write_all(b"\n")?;
        Ok(())
    }

    /// A new file for an attachment.
    pub(super) fn blob(&self, blob_id: &str) -> io::Result<File> {
        let folder = self.folder.join("blobs");
        create_private_folder(&folder)?;
        create(&folder.join(blob_id))
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(())
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
