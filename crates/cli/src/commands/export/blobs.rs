//! The attachments of an export, found and read as the owner's own plan allows.

use std::io::Write as _;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use pdpp_access::{Authorizer, BlobRequest, Connection};

use super::folder::Lines;
use super::{Export, owner};

/// Writes every attachment the records refer to; says how many.
pub(super) async fn write(
    export: &Export<'_>,
    lines: &Lines,
    connection: &Connection,
) -> anyhow::Result<u64> {
    let store = export.personal.store();
    let mut count = 0;
    for blob_id in &lines.blob_ids {
        let request = BlobRequest {
            blob_id: blob_id.clone(),
            connection_id: Some(connection.connection_id.to_string()),
            connector_id: None,
        };
        let plan = Authorizer::new(&owner(), export.catalogue).blob(&request)?;
        let Some(sighting) = store.find_blob(&plan).await?.into_iter().next() else {
            // The record names bytes that were never uploaded for it.
            continue;
        };
        let mut file = lines.blob(blob_id).with_context(|| format!("cannot write attachment {blob_id}"))?;
        let mut body = store.read_blob(&sighting, 0..sighting.blob.size_bytes).await?;
        while let Some(chunk) = body.next().await {
            file.write_all(&chunk?)?;
        }
        file.sync_all()?;
        count += 1;
    }
    Ok(count)
}
