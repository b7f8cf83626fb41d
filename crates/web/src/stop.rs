//! Why a page was not shown or a form not done.

use bytes::Bytes;
use http::Response;
use pdpp_auth::{AuthFault, OAuthFault};
use pdpp_store::StoreError;

/// A refusal, or another answer than the one asked for.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Another answer, such as the way to the login page.
    Answer(Response<Bytes>),
    /// A refusal that has a page of its own, such as the form shown again.
    Refused {
        /// What goes into the ledger.
        fault: OAuthFault,
        /// What is shown.
        response: Response<Bytes>,
    },
    /// A refusal with the usual page.
    Fault(OAuthFault),
}

impl From<OAuthFault> for Stop {
    fn from(fault: OAuthFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<AuthFault> for Stop {
    fn from(fault: AuthFault) -> Self {
        Self::Fault(fault.into())
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Fault(error.into())
    }
}
