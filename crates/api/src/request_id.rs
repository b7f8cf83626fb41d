//! The request id: the caller's own if it is sane, else ours, on every answer.

use http::{HeaderMap, HeaderValue};
use pdpp_access::{Entropy, random_hex};
use pdpp_wire::{REQUEST_ID_HEADER, X_REQUEST_ID_HEADER};

/// Longest id that is echoed.
const MAX_BYTES: usize = 128;

/// The id of one request.
#[derive(Clone, Debug)]
pub struct RequestId(String);

impl RequestId {
    pub(crate) fn of(headers: &HeaderMap, entropy: &dyn Entropy) -> Self {
        let given = headers.get(REQUEST_ID_HEADER).and_then(|value| value.to_str().ok());
        match given.filter(|id| is_sane(id)) {
            Some(id) => Self(id.to_owned()),
            None => Self(format!("req_{}", random_hex(entropy, 8))),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn write_to(&self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.0) {
            headers.insert(REQUEST_ID_HEADER, value.clone());
            headers.insert(X_REQUEST_ID_HEADER, value);
        }
    }
}

fn is_sane(id: &str) -> bool {
    (1..=MAX_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}
