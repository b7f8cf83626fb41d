//! Bytes on their way out.

use std::ops::Range;

use futures_util::TryStreamExt as _;
use pdpp_objects::{ObjectName, Objects, Stored, UploadId};
use pdpp_store::{BlobBody, StoreError, StoredBlob};

use super::of_objects;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;

/// Where a blob's bytes lie now. A blob that went after it was sighted has none.
pub(crate) async fn place(session: &Session, blob: &StoredBlob) -> Outcome<Stored> {
    let sql = "SELECT upload, size_bytes FROM blobs WHERE subject_id = $1 AND blob_id = $2";
    let names = (blob.subject_id.as_str(), blob.blob_id.as_str());
    let Some(row) = session.query_opt(sql, &[&names.0, &names.1]).await? else {
        return Err(Fault::damaged("a blob's bytes are missing"));
    };
    let upload = UploadId::parse(row.get(0)).ok_or_else(|| Fault::damaged("a blob's upload"))?;
    let name = ObjectName::new(blob.subject_id.clone(), blob.blob_id.clone(), upload);
    Ok(Stored { name, size_bytes: unsigned(row.get(1))? })
}

pub(crate) async fn body(
    objects: &Objects,
    place: &Stored,
    range: Range<u64>,
) -> Result<BlobBody, StoreError> {
    let body = objects.read(place, range).await.map_err(of_objects)?;
    Ok(Box::pin(body.map_err(of_objects)))
}
