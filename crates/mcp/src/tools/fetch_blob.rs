//! `fetch_blob`: what a stored blob is, and as much of its bytes as a model can use.
//!
//! Text becomes a window of text, a picture becomes a picture, and of anything else a few kilobytes are given at a
//! time. Base64 is the dearest thing a model can be sent.

mod range;
mod render;

use pdpp_client::{Answer, Request};

pub(crate) use self::range::ByteRange;
pub(crate) use self::render::{Place, skipped};
use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};

/// The most bytes one request asks for.
pub(crate) const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The largest picture that is shown.
const MAX_IMAGE_BYTES: usize = 1024 * 1024;

pub(crate) const SPEC: Spec = Spec {
    name: "fetch_blob",
    title: "Fetch PDPP blob",
    description: "Read-only. GET /v1/blobs/{blob_id} under the scoped bearer: metadata, a window of text blobs, \
                  images up to 1 MiB, at most 4 KiB of other bytes a `range`. A blob_id alone is not access: the \
                  grant must show a record that refers to it. Use connection_id (see connector_key rows in schema) \
                  on ambiguity.",
    params: &[
        Param::required("blob_id", Kind::Name, ""),
        Param::optional("range", Kind::Text, "bytes=START-[END]"),
        Param::optional("connection_id", Kind::Name, ""),
    ],
    output: &[
        "blob",
        "mime_type",
        "size",
        "total_bytes",
        "range",
        "text",
        "bytes_base64",
        "next",
        "provider_url",
        "request_id",
    ],
    effect: Effect::Reads,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let asked = arguments.text("range").map(ByteRange::parse).transpose()?;
    let blob = pdpp_evidence::BlobHandle {
        blob_id: arguments.needed("blob_id").to_owned(),
        connection_id: arguments.text("connection_id").map(str::to_owned),
        range: None,
    };
    // A picture is the largest thing that is shown whole, and it is shown from its first byte.
    let wanted = match asked {
        Some(range) if range.start > 0 => range.at_most(render::TEXT_BYTES),
        range => range.unwrap_or(ByteRange::first(MAX_IMAGE_BYTES)).at_most(MAX_IMAGE_BYTES),
    };
    let answer = ask(&adapter, &blob, &wanted).await?;
    Ok(render::outcome(&adapter, &blob, asked, wanted, &answer))
}

/// Asks for some bytes of a blob; a server that sends more than is taken is cut off.
pub(crate) async fn ask(
    adapter: &Adapter,
    blob: &pdpp_evidence::BlobHandle,
    range: &ByteRange,
) -> Result<Answer, Failure> {
    let whole = Request::get(["v1", "blobs", &blob.blob_id])
        .maybe("connection_id", blob.connection_id.as_deref())
        .max_bytes(MAX_BYTES);
    match adapter.send(&whole.clone().range(range.header())).await {
        // Only a blob without a first byte has none to give: it is empty, and has no range at all.
        Err(failure) if failure.http_status == Some(416) && range.start == 0 => adapter.send(&whole).await,
        answered => answered,
    }
}
