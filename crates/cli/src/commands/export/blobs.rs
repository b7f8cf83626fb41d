//! The attachments of an export, found and read as the owner's own plan allows.

use futures_util::StreamExt as _;
use pdpp_access::{Authorizer, BlobRequest, Connection};
use pdpp_store::BlobSighting;

use super::Export;

/// Gives the bytes of an attachment piece by piece, at least once; false when they were never uploaded.
pub(super) async fn read(
    export: &Export<'_>,
    connection: &Connection,
    blob_id: &str,
    take: &mut dyn FnMut(&BlobSighting, &[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let request = BlobRequest {
        blob_id: blob_id.to_owned(),
        connection_id: Some(connection.connection_id.to_string()),
        connector_id: None,
    };
    let plan = Authorizer::new(&export.owner(), export.catalogue).blob(&request)?;
    let store = export.personal.store();
    let Some(sighting) = store.find_blob(&plan).await?.into_iter().next() else {
        return Ok(false);
    };
    take(&sighting, &[])?;
    let mut body = store.read_blob(&sighting, 0..sighting.blob.size_bytes).await?;
    while let Some(chunk) = body.next().await {
        take(&sighting, &chunk?)?;
    }
    Ok(true)
}
