//! Resources: the same reads, for hosts that follow `pdpp://` URIs. No content is reachable only this way.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pdpp_client::Request;
use pdpp_evidence::{BlobHandle, FieldWindowHandle, HandleError, RecordHandle, safe_name};
use pdpp_wire::Code;
use rmcp::ErrorData;
use rmcp::model::{MetaObject, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::Adapter;
use crate::bounded;
use crate::failure::Failure;
use crate::field_window::{Selector, read};
use crate::shown::Shown;
use crate::text::append;
use crate::tokens;
use crate::tools::fetch_blob::{self, ByteRange, Place};

/// The templates, in their stable order: URI, name, title, media type.
const TEMPLATES: [(&str, &str, &str, &str); 4] = [
    ("pdpp://stream/{name}", "pdpp-stream", "PDPP stream metadata", "application/json"),
    ("pdpp://record/{handle}", "pdpp-record", "PDPP record", "application/json"),
    ("pdpp://field-window/{handle}", "pdpp-field-window", "PDPP record field window", "text/plain"),
    ("pdpp://blob/{handle}", "pdpp-blob", "PDPP blob", "application/octet-stream"),
];

/// What a document may cost, written without spaces: a result's worth, less what is listed about cuts.
const DOCUMENT_TOKENS: usize = tokens::RESULT - 3_000;

/// The key under which a part says where in its blob it lies.
const RANGE: &str = "dev.pdpp/range";

/// The longest error that is repeated as data, in characters.
const MAX_ERROR_CHARS: usize = 4_000;

/// The templates as clients list them.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |(uri, name, title, media_type): (&str, &str, &str, &str)| {
        ResourceTemplate::new(uri, name).with_title(title).with_mime_type(media_type)
    };
    TEMPLATES.into_iter().map(template).collect()
}

/// Reads a resource. The URI is matched as it was written, before any library folds its dots.
pub(crate) async fn read_resource(adapter: &Adapter, uri: &str) -> Result<ResourceContents, ErrorData> {
    if let Some(handle) = FieldWindowHandle::parse(uri) {
        let selector =
            Selector::from_handle(handle.map_err(malformed)?).map_err(|failure| protocol_error(&failure))?;
        let window = read(adapter, &selector).await.map_err(|failure| protocol_error(&failure))?;
        let replaced = pdpp_evidence::neutralise(window.text()).replaced;
        return Ok(ResourceContents::text(window.rendered(replaced), uri).with_mime_type("text/plain"));
    }
    if let Some(handle) = BlobHandle::parse(uri) {
        return read_blob(adapter, uri, &handle.map_err(malformed)?).await;
    }
    let mut record = None;
    let request = if let Some(name) = uri.strip_prefix("pdpp://stream/") {
        let name = pdpp_evidence::percent_decode(name).ok_or(HandleError::Malformed).map_err(malformed)?;
        safe_name("stream", &name).map_err(malformed)?;
        Request::get(["v1", "streams", &name])
    } else if uri.starts_with("pdpp://record/") {
        let handle = record.insert(RecordHandle::parse(uri).map_err(malformed)?);
        Request::get(["v1", "streams", &handle.stream, "records", &handle.record_id])
            .maybe("connection_id", handle.connection_id.as_deref())
    } else {
        let known: Vec<&str> = TEMPLATES.iter().map(|(uri, ..)| *uri).collect();
        let message = format!("There is no such resource; URIs look like {}.", known.join(", "));
        return Err(ErrorData::resource_not_found(message, None));
    };
    let reply = adapter.json(&request).await.map_err(|failure| protocol_error(&failure))?;
    let text = document(reply.body, record.as_ref());
    Ok(ResourceContents::text(text, uri).with_mime_type("application/json"))
}

/// A document as text. One that is too large is cut where its strings are long, and lists the calls that read on.
fn document(body: Value, record: Option<&RecordHandle>) -> String {
    let mut shown = Shown { value: body, replaced: 0, binary: Vec::new() };
    shown.redact();
    let cuts = bounded::fit_row(&mut shown.value, DOCUMENT_TOKENS, record);
    shown.neutralise();
    if let Value::Object(members) = &mut shown.value {
        bounded::report(cuts, members);
    }
    serde_json::to_string_pretty(&shown.value).unwrap_or_default()
}

/// A blob is given whole, or as the part its URI names; where the part lies stands beside it.
async fn read_blob(adapter: &Adapter, uri: &str, blob: &BlobHandle) -> Result<ResourceContents, ErrorData> {
    let refused = |failure: Failure| protocol_error(&failure);
    let asked = blob.range.as_deref().map(ByteRange::parse).transpose().map_err(refused)?;
    let range = asked.unwrap_or(ByteRange::first(fetch_blob::MAX_BYTES));
    let answer = fetch_blob::ask(adapter, blob, &range).await.map_err(refused)?;
    let place = Place::of(range, &answer);
    let (start, total) = (place.start, place.known_total());
    let given = fetch_blob::skipped(range, &answer);
    let most = usize::try_from(range.end - range.start).map_or(usize::MAX, |last| last.saturating_add(1));
    let bytes = &given[..given.len().min(most)];
    let media_type = answer.media_type.as_deref().unwrap_or("application/octet-stream");
    let contents = ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(media_type);
    if asked.is_none() {
        let whole = start == 0 && total == Some(bytes.len() as u64);
        return if whole { Ok(contents) } else { Err(refused(too_large(adapter, blob, place.total))) };
    }
    if bytes.is_empty() {
        let message = format!("The blob has {} bytes; the range lies outside of it.", place.total);
        return Err(refused(Failure::adapter(Code::InvalidRange, message).param("range")));
    }
    let part = json!({"start": start, "end": start + bytes.len() as u64, "total_bytes": total});
    let meta = serde_json::from_value::<MetaObject>(json!({ RANGE: part })).unwrap_or_default();
    Ok(contents.with_meta(meta))
}

/// A blob that does not fit, and how its parts are read.
fn too_large(adapter: &Adapter, blob: &BlobHandle, total: u64) -> Failure {
    let most = fetch_blob::MAX_BYTES;
    let first = BlobHandle { range: Some(ByteRange::first(most).header()), ..blob.clone() }.uri();
    let mut message =
        format!("The blob has at least {total} bytes; a read gives at most {most}. Read the part {first}");
    let mut args = json!({"blob_id": blob.blob_id, "range": "bytes=0-4095"});
    if let Some(connection) = &blob.connection_id {
        args["connection_id"] = connection.as_str().into();
    }
    if adapter.lists(fetch_blob::SPEC.name) {
        append(&mut message, format_args!(" or call fetch_blob args={args}"));
    }
    Failure::adapter(Code::ResponseTooLarge, message).with("total_bytes", total).with("first_part", first)
}

fn malformed(error: HandleError) -> ErrorData {
    let text = match error {
        HandleError::InvalidCharacters(_) => format!("{error}; the URI is malformed"),
        _ => format!("malformed resource URI: {error}"),
    };
    ErrorData::invalid_params(text, None)
}

/// A failed read is a protocol error with the server's own envelope, never content that looks like success.
fn protocol_error(failure: &Failure) -> ErrorData {
    let error = failure.shown(MAX_ERROR_CHARS);
    let message =
        error.get("message").and_then(Value::as_str).unwrap_or("The resource cannot be read.").to_owned();
    let data = json!({"error": error, "http_status": failure.http_status});
    match failure.http_status {
        Some(404) => ErrorData::resource_not_found(message, Some(data)),
        None if failure.code().starts_with("invalid_") => ErrorData::invalid_params(message, Some(data)),
        _ => ErrorData::internal_error(message, Some(data)),
    }
}
