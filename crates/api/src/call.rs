//! One request as a handler sees it: checked parameters, links, and a body still to be read.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use pdpp_wire::{Code, Links, PageLinks};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::ApiError;
use crate::query::QueryString;

/// What may stand in a query value without escape.
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// One request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) path: Vec<(String, String)>,
    pub(crate) query: QueryString,
    /// Behind a lock only so that a call may be shared between threads; a body itself may not.
    pub(crate) body: Mutex<Body>,
}

impl Call {
    /// A path parameter; the table of routes says which exist.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Links of a body without pages.
    pub(crate) fn links(&self) -> Links {
        Links { this: self.own_url() }
    }

    /// Links of a page; the next one has the same query with another cursor, and nothing that
    /// would start the listing over.
    pub(crate) fn page_links(&self, next_cursor: Option<&str>) -> PageLinks {
        PageLinks { this: self.own_url(), next: next_cursor.map(|cursor| self.url_with_cursor(cursor)) }
    }

    /// The request path, without the query.
    pub(crate) fn own_path(&self) -> String {
        self.uri.path().to_owned()
    }

    fn own_url(&self) -> String {
        self.uri.path_and_query().map_or_else(|| self.own_path(), ToString::to_string)
    }

    fn url_with_cursor(&self, cursor: &str) -> String {
        let replaced = |part: &&str| {
            let key = part.split_once('=').map_or(*part, |(key, _)| key);
            !matches!(key, "cursor" | "changes_since" | "")
        };
        let mut kept: Vec<Cow<'_, str>> =
            self.uri.query().unwrap_or("").split('&').filter(replaced).map(Cow::from).collect();
        kept.push(format!("cursor={}", utf8_percent_encode(cursor, QUERY_VALUE)).into());
        format!("{}?{}", self.uri.path(), kept.join("&"))
    }

    /// The body, once; afterwards it is empty.
    pub(crate) fn take_body(&self) -> Body {
        std::mem::take(&mut *self.body.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The whole body, if it is of this media type and within the bound.
    pub(crate) async fn bytes(&self, media_type: &str, max: usize) -> Result<Vec<u8>, ApiError> {
        require_media_type(&self.headers, &[media_type])?;
        match Limited::new(self.take_body(), max).collect().await {
            Ok(collected) => Ok(collected.to_bytes().to_vec()),
            Err(error) if error.is::<LengthLimitError>() => Err(too_large(max)),
            Err(error) => Err(cut_short(error)),
        }
    }
}

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    let mut response = Response::new(serde_json::to_vec(body).map_err(ApiError::internal)?.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Refuses a body of another media type. A body without any is taken for the first expected one.
pub(crate) fn require_media_type(headers: &HeaderMap, expected: &[&str]) -> Result<(), ApiError> {
    let Some(given) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let essence = given.to_str().unwrap_or("").split(';').next().unwrap_or("").trim();
    if expected.iter().any(|expected| essence.eq_ignore_ascii_case(expected)) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::UnsupportedMediaType,
        format!("Send the body as `Content-Type: {}`.", expected.join("` or `")),
    ))
}

/// The body is larger than the bound.
pub(crate) fn too_large(max: usize) -> ApiError {
    ApiError::new(Code::ResourceLimit, format!("The body is larger than {max} bytes; send less at once."))
}

/// The connection ended before the body did.
pub(crate) fn cut_short(error: impl std::fmt::Display) -> ApiError {
    tracing::debug!(%error, "request body ended early");
    ApiError::new(Code::InvalidRequest, "The body ended before it was complete; send it again.")
}
