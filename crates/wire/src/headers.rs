//! Header names and the one protocol version this program speaks.

/// The only accepted value of the `PDPP-Version` header.
pub const PDPP_VERSION: &str = "2026-04-06";
/// Names the protocol version, in requests and in every success.
pub const PDPP_VERSION_HEADER: &str = "pdpp-version";
/// The specification's request id header.
pub const REQUEST_ID_HEADER: &str = "request-id";
/// The name existing clients read; always sent beside [`REQUEST_ID_HEADER`] with the same value.
pub const X_REQUEST_ID_HEADER: &str = "x-request-id";
