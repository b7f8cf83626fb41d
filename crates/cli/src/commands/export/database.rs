//! An export as tables in one `SQLite` file.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use pdpp_server::TableFile;
use serde_json::{Map, Value};

use super::{Chosen, Counts, Export, blob_id_of, blobs};
use crate::exit::Usage;
use crate::terminal;

/// Larger attachments do not go into a cell of a table.
const LARGEST: u64 = 256 << 20;

/// Writes beside the file's place, and gives it its name when it is whole.
pub(super) async fn write(
    export: &Export<'_>,
    path: &Path,
    chosen: &[Chosen<'_>],
) -> anyhow::Result<Vec<Counts>> {
    if path.exists() {
        return Err(Usage(format!("{} is there already; choose another name", path.display())).into());
    }
    let whole = std::path::absolute(path)?;
    let folder = whole.parent().unwrap_or(Path::new("/"));
    let cannot = || format!("cannot write in {}; choose a place that can be written", folder.display());
    let aside = tempfile::Builder::new().prefix(".pdpp-export-").tempdir_in(folder).with_context(cannot)?;
    let made = aside.path().join("export.sqlite");
    let mut file = TableFile::create(&made)?;
    let mut all = Vec::new();
    for chosen in chosen {
        all.push(connection(export, &mut file, *chosen).await?);
    }
    file.finish()?;
    std::fs::File::open(&made)?.sync_all()?;
    std::fs::rename(&made, &whole).with_context(cannot)?;
    Ok(all)
}

async fn connection(
    export: &Export<'_>,
    file: &mut TableFile,
    (source, connection): Chosen<'_>,
) -> anyhow::Result<Counts> {
    let mut counts = Counts::default();
    let mut blob_ids = BTreeSet::new();
    let named =
        (source.key().as_str(), connection.connection_id.as_str(), connection.display_name.as_deref());
    for stream in source.manifest.streams() {
        let table = file.table(named, stream)?;
        counts.records += export
            .stream(connection, stream.name(), &mut |row| {
                blob_ids.extend(blob_id_of(row.data.get()));
                let data: Map<String, Value> = serde_json::from_str(row.data.get())?;
                Ok(file.put(&table, (row.key.as_str(), &row.emitted_at.to_rfc3339()), &data)?)
            })
            .await?;
    }
    for blob_id in blob_ids {
        let (mut bytes, mut kind, mut size) = (Vec::new(), String::new(), 0);
        let is_found = blobs::read(export, connection, &blob_id, &mut |sighting, chunk| {
            kind.clone_from(&sighting.blob.mime_type);
            size = sighting.blob.size_bytes;
            if size <= LARGEST {
                bytes.extend_from_slice(chunk);
            }
            Ok(())
        })
        .await?;
        if !is_found {
            continue;
        }
        if size > LARGEST {
            terminal::note(&format!("{blob_id} is left out: {size} bytes are too many for a table"));
            continue;
        }
        file.put_blob(&blob_id, &kind, &bytes)?;
        counts.blobs += 1;
    }
    Ok(counts)
}
