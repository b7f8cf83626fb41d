//! `POST /v1/blobs`: bytes for a record, streamed to the store and named by their content.

use std::sync::Arc;

use axum::response::Response;
use futures_util::StreamExt as _;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use pdpp_store::BlobBinding;
use pdpp_wire::{BlobObject, BlobReceipt, Code, RecordKey};

use crate::authority::Owner;
use crate::call::{Call, cut_short, json, too_large};
use crate::route::{AnswerDoc, BodyDoc, Pace, Parameter, Route, Shape, Unknown, Verb, handler, schema_of};
use crate::write_target::{WRITE_ERRORS, WRITE_SELECTORS, chosen, declared, named_source, writable};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    method: Verb::Post,
    path: "/v1/blobs",
    operation: "uploadBlob",
    action: "upload_blob",
    summary: "Store bytes for a record. Only a record they were stored for opens them; the same bytes are kept once.",
    parameters: &[
        &[
            Parameter::query("stream", Shape::Text, "The record's stream.").required(),
            Parameter::query("record_key", Shape::Text, "The record's canonical key.").required(),
            Parameter::query("mime_type", Shape::Text, "The media type; overrides `Content-Type`."),
            Parameter::query("json_path", Shape::Text, "Where in the record: `@record`, or a JSON pointer."),
        ],
        WRITE_SELECTORS,
    ],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::Bytes,
    answers: &[AnswerDoc::json(schema_of::<BlobReceipt>, "The stored blob.")],
    errors: &[WRITE_ERRORS, &[Code::QuotaExceeded]],
    handler: handler!(Owner, upload),
    pace: Pace::Upload,
    test: "blobs::uploaded_bytes_are_read_back_by_a_grant_that_shows_the_reference",
};

async fn upload(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    let max = state.settings.limits.body_bytes;
    let announced =
        call.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max as u64) {
        return Err(too_large(max));
    }
    let binding = binding(&state, &owner, &call).await?;
    let mut writer = state.store.write_blob().await?;
    let mut body = call.take_body().into_data_stream();
    let mut taken = 0;
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(cut_short)?;
        taken += chunk.len();
        if taken > max {
            return Err(too_large(max));
        }
        writer.write(chunk).await?;
    }
    let stored = writer.finish(binding).await?;
    json(
        StatusCode::OK,
        &BlobReceipt {
            object: BlobObject::Value,
            sha256: stored.blob_id.sha256_hex().to_owned(),
            blob_id: stored.blob_id,
            size_bytes: stored.size_bytes,
            mime_type: stored.mime_type,
        },
    )
}

async fn binding(state: &ApiState, owner: &Owner, call: &Call) -> Result<BlobBinding, ApiError> {
    let catalogue = state.store.catalogue(owner.subject_id()).await?;
    let source = named_source(call, &catalogue)?;
    let declaration = declared(source, required(call, "stream")?)?;
    let record_key = RecordKey::parse(required(call, "record_key")?)
        .map_err(|fault| refused("record_key", &format!("The {fault}.")))?;
    let (json_path, mime_type) = (json_path(call)?, mime_type(call)?);
    let chosen = chosen(call, &catalogue, source)?;
    Ok(BlobBinding {
        subject_id: owner.subject_id().clone(),
        connection_id: writable(state, owner.subject_id(), source, chosen).await?,
        stream: declaration.name().clone(),
        record_key,
        json_path,
        mime_type,
    })
}

fn required<'c>(call: &'c Call, name: &'static str) -> Result<&'c str, ApiError> {
    call.query.text(name)?.ok_or_else(|| refused(name, &format!("Give `{name}`.")))
}

fn json_path(call: &Call) -> Result<String, ApiError> {
    let path = call.query.text("json_path")?.unwrap_or("@record");
    let pointer = path.starts_with('/') && path.len() <= 1024;
    // In a pointer, `~` is followed by 0 or 1.
    let escapes = path.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if path == "@record" || (pointer && escapes) {
        return Ok(path.to_owned());
    }
    Err(refused("json_path", "`json_path` must be `@record` or a JSON pointer such as `/files/0`."))
}

fn mime_type(call: &Call) -> Result<String, ApiError> {
    let header = call.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = call.query.text("mime_type")?.or(header).unwrap_or("application/octet-stream").trim();
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let essence = given.split(';').next().unwrap_or("").trim();
    let sane = given.len() <= 255 && given.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    match essence.split_once('/') {
        Some((kind, subtype)) if sane && token(kind) && token(subtype) => Ok(given.to_owned()),
        _ => Err(refused("mime_type", "`mime_type` must be a media type such as `image/png`.")),
    }
}

fn refused(name: &str, message: &str) -> ApiError {
    ApiError::new(Code::InvalidRequest, message).param(name)
}
