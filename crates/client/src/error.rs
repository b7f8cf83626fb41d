//! Why there is no answer.

use crate::CredentialError;

/// A call that brought no answer. A refusal by the server is an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// Nobody answers there, or the connection broke.
    #[error("the resource server cannot be reached: {0}")]
    Unreachable(String),
    /// The deadline passed.
    #[error("the resource server did not answer within {seconds} seconds")]
    TimedOut {
        /// The deadline.
        seconds: u64,
    },
    /// The answer is larger than is taken.
    #[error("the answer is larger than {max_bytes} bytes")]
    TooLarge {
        /// The bound.
        max_bytes: usize,
    },
    /// There is no credential to send.
    #[error(transparent)]
    NoCredential(#[from] CredentialError),
    /// The request cannot be written as HTTP.
    #[error("the request cannot be sent: {0}")]
    Malformed(String),
}
