//! `GET /v1/blobs/{blob_id}`: the bytes behind a visible record's `blob_ref`, whole or one range.

use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use pdpp_access::{Authorizer, BlobRequest};
use pdpp_store::BlobSighting;
use pdpp_wire::{AvailableConnection, Code};

use crate::authority::Reader;
use crate::byte_range::{Asked, asked_range};
use crate::call::Call;
use crate::disclosure::{Disclosed, Shown};
use crate::rendering::real_label;
use crate::route::{AnswerDoc, Content, Parameter, Route, Shape, handler};
use crate::selector::{SELECTORS, Selected};
use crate::{ApiError, ApiState};

const BYTE_HEADERS: &[(&str, &str)] = &[
    ("ETag", "Names the content."),
    ("Accept-Ranges", "`bytes`."),
    ("Cache-Control", "`private, no-store`."),
    ("Content-Disposition", "`attachment`, unless the type is one browsers show safely."),
    ("X-Content-Type-Options", "`nosniff`."),
    ("PDPP-Warning", "What the reader should know, when there is something."),
];

pub(crate) const ROUTE: Route = Route {
    path: "/v1/blobs/{blob_id}",
    operation: "readBlob",
    action: "blob",
    summary: "Read a blob that a visible record refers to; one byte range may be asked for.",
    parameters: &[&[Parameter::path("blob_id", Shape::Text, "From a record's `blob_ref`.")], SELECTORS],
    answers: &[
        AnswerDoc { status: 200, description: "The bytes.", content: Content::Bytes, headers: BYTE_HEADERS },
        AnswerDoc {
            status: 206,
            description: "The asked range.",
            content: Content::Bytes,
            headers: BYTE_HEADERS,
        },
        AnswerDoc::empty(304, "The caller already has these bytes."),
    ],
    errors: &[&[
        Code::InvalidArgument,
        Code::ConnectorInstanceInactive,
        Code::ConnectorInstanceConnectorMismatch,
        Code::NotFound,
        Code::BlobNotFound,
        Code::ConnectionNotFound,
        Code::ConnectorInstanceNotFound,
        Code::AmbiguousConnection,
        Code::InvalidRange,
    ]],
    handler: handler!(Reader, read),
    test: "blobs::a_range_answers_206_and_a_range_outside_416",
    ..super::streams::ROUTE
};

/// Types a browser may show without running anything.
const SHOWN_INLINE: &[&str] = &[
    "application/pdf",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "image/x-icon",
];

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let selected = Selected::read(&call)?;
    let request = BlobRequest {
        blob_id: call.segment("blob_id").to_owned(),
        connection_id: selected.connection_id.clone(),
        connector_id: selected.connector_id.clone(),
    };
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plan = Authorizer::new(&principal, &catalogue).blob(&request)?;
    let sighting = only_sighting(state.store.find_blob(&plan).await?)?;
    let shown =
        Shown::record(&sighting.stream, &sighting.connection_id, &sighting.record_key).fields(["blob_ref"]);
    let mut response = respond(&state, &call, &sighting).await?;
    if !selected.warnings.is_empty() {
        let warning = HeaderValue::from_static("deprecated_alias_used: connector_instance_id");
        response.headers_mut().insert(HeaderName::from_static("pdpp-warning"), warning);
    }
    Ok(Disclosed::new(response, shown))
}

fn only_sighting(mut sightings: Vec<BlobSighting>) -> Result<BlobSighting, ApiError> {
    match sightings.len() {
        0 => Err(ApiError::new(Code::BlobNotFound, "No visible record refers to this blob.")),
        1 => Ok(sightings.swap_remove(0)),
        _ => {
            let offered = sightings.iter().map(|sighting| AvailableConnection {
                connection_id: sighting.connection_id.clone(),
                connector_key: None,
                stream: None,
                display_name: real_label(
                    sighting.display_name.as_deref(),
                    &[sighting.connection_id.as_str()],
                ),
            });
            let message = "The blob is present under more than one connection. Retry with `connection_id`.";
            Err(ApiError::new(Code::AmbiguousConnection, message).choose_from(offered.collect()))
        }
    }
}

async fn respond(state: &ApiState, call: &Call, sighting: &BlobSighting) -> Result<Response, ApiError> {
    let blob = &sighting.blob;
    let etag = format!("\"{}\"", blob.blob_id.sha256_hex());
    if names_etag(&call.headers, &etag) {
        return Ok(finished(StatusCode::NOT_MODIFIED, Body::empty(), &blob.mime_type, &etag));
    }
    let same = call.headers.get(IF_RANGE).is_none_or(|given| given.as_bytes() == etag.as_bytes());
    let asked = call.headers.get(RANGE).filter(|_| same).and_then(|range| range.to_str().ok());
    let (status, range) = match asked_range(asked, blob.size_bytes) {
        Asked::Whole => (StatusCode::OK, 0..blob.size_bytes),
        Asked::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        Asked::Outside => return Err(outside(blob.size_bytes)),
    };
    let body = if call.method == Method::HEAD {
        Body::empty()
    } else {
        Body::from_stream(state.store.read_blob(sighting, range.clone()).await?)
    };
    let mut response = finished(status, body, &blob.mime_type, &etag);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
    if status == StatusCode::PARTIAL_CONTENT {
        headers.insert(CONTENT_RANGE, content_range(&range, blob.size_bytes)?);
    }
    Ok(response)
}

fn finished(status: StatusCode, body: Body, mime_type: &str, etag: &str) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let octets = HeaderValue::from_static("application/octet-stream");
    if status != StatusCode::NOT_MODIFIED {
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(mime_type).unwrap_or(octets));
    }
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let essence = mime_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    if !SHOWN_INLINE.contains(&essence.as_str()) {
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    response
}

fn names_etag(headers: &HeaderMap, etag: &str) -> bool {
    let given = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

fn content_range(range: &Range<u64>, size: u64) -> Result<HeaderValue, ApiError> {
    let text = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
    HeaderValue::try_from(text).map_err(ApiError::internal)
}

fn outside(size: u64) -> ApiError {
    let error = ApiError::new(Code::InvalidRange, format!("The range lies outside the blob's {size} bytes."));
    match HeaderValue::try_from(format!("bytes */{size}")) {
        Ok(value) => error.header(CONTENT_RANGE, value),
        Err(_) => error,
    }
}
