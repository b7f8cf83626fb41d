//! What a resource server answered: a status, a few headers, and bytes.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_RANGE, CONTENT_TYPE, RETRY_AFTER};

/// An answer, whatever its status.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The server's own id of the request.
    pub request_id: Option<String>,
    /// The media type, without its parameters.
    pub media_type: Option<String>,
    /// Which bytes these are, when only some were asked for.
    pub content_range: Option<String>,
    /// How long to wait before trying again.
    pub retry_after_seconds: Option<u64>,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Bytes) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let media_type = text(CONTENT_TYPE.as_str())
            .map(|value| value.split(';').next().unwrap_or("").trim().to_ascii_lowercase());
        Self {
            status,
            request_id: text("request-id").or_else(|| text("x-request-id")),
            media_type: media_type.filter(|value| !value.is_empty()),
            content_range: text(CONTENT_RANGE.as_str()),
            retry_after_seconds: text(RETRY_AFTER.as_str()).and_then(|value| value.trim().parse().ok()),
            body,
        }
    }

    /// Whether the server did what it was asked.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
