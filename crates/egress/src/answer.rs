//! What a stranger's server answered.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// An answer, with whatever status. A redirect is an answer too: it is never followed.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, or its start.
    pub body: Bytes,
    /// Whether the body goes on.
    pub extent: Extent,
}

/// How much of a body is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The start; the rest was not read.
    Cut,
}
