//! Why a call brought no answer: one text for strangers, another for the log.

use std::fmt;

use crate::{Stage, UrlFault};

/// A call without an answer. Whatever status a server answers with is an answer.
///
/// Printing it gives the public text. [`EgressError::internal`] may name addresses of the owner's network and is
/// for the log.
#[derive(Clone, PartialEq, Eq)]
pub struct EgressError {
    fault: EgressFault,
    detail: String,
}

/// What went wrong.
///
/// Whether a name exists in the owner's network is nobody's business, so a host without an address, with too many
/// and with a forbidden one print the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressFault {
    /// The settings of this server do not take the address.
    #[error("{0}")]
    Url(UrlFault),
    /// The host could not be looked up, or has no address.
    #[error("the host has no address that this server may call")]
    NoAddress,
    /// The host has more addresses than are tried.
    #[error("the host has no address that this server may call")]
    TooManyAddresses,
    /// At least one address of the host is not globally reachable.
    #[error("the host has no address that this server may call")]
    ForbiddenAddress,
    /// No address of the host takes connections.
    #[error("the host does not take connections")]
    Unreachable,
    /// No agreement on encryption: above all, a certificate that does not prove the host.
    #[error("no trusted encrypted connection to the host could be made")]
    Untrusted,
    /// A deadline passed.
    #[error("the host did not answer in time ({0})")]
    TimedOut(Stage),
    /// The connection broke, or what came is not HTTP.
    #[error("the host did not give a complete HTTP answer")]
    Broken,
    /// The head of the answer is larger than is taken.
    #[error("the head of the answer is too large")]
    HeadTooLarge,
    /// The body of the answer is larger than is taken.
    #[error("the answer is larger than {max_bytes} bytes")]
    BodyTooLarge {
        /// The bound.
        max_bytes: usize,
    },
}

impl EgressFault {
    pub(crate) fn because(self, detail: impl fmt::Display) -> EgressError {
        EgressError { fault: self, detail: detail.to_string() }
    }
}

impl EgressError {
    /// What went wrong, for callers that act on it.
    pub fn fault(&self) -> EgressFault {
        self.fault
    }

    /// What the log should say. It may name resolved addresses; a stranger must never see it.
    pub fn internal(&self) -> String {
        format!("{:?}: {}", self.fault, self.detail)
    }
}

impl std::error::Error for EgressError {}

impl fmt::Display for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

/// Without the detail: errors are printed with `{:?}` in more places than one remembers.
impl fmt::Debug for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressError").field("fault", &self.fault).finish_non_exhaustive()
    }
}
