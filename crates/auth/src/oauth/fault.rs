//! Why the authorization server did not do what it was asked.

use pdpp_access::Denial;
use pdpp_store::StoreError;
use pdpp_wire::{Code, OAuthCode};

use crate::AuthFault;

/// A refusal in the words of OAuth, a refusal in the words of the protocol, or breakage below.
#[derive(Debug, thiserror::Error)]
pub enum OAuthFault {
    /// The client did something OAuth has a word for.
    #[error("{code}: {message}")]
    Refused {
        /// The word.
        code: OAuthCode,
        /// What is wrong, in a sentence.
        message: String,
    },
    /// The caller asked for what the protocol refuses.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// Too often; come back after so many seconds.
    #[error("too often; try again in {0} seconds")]
    TooOften(i64),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OAuthFault {
    /// A refusal in the words of OAuth.
    pub fn refused(code: OAuthCode, message: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into() }
    }

    /// A refusal in the words of the protocol.
    pub fn denied(code: Code, message: impl Into<String>) -> Self {
        Self::Denied(Denial::new(code, message))
    }

    /// A parameter that cannot be used.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::refused(OAuthCode::InvalidRequest, message)
    }

    /// What keeps tokens failed. The store's own error is told as it is when anything else meets it.
    pub(crate) fn unavailable(cause: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self::Store(match cause.downcast::<StoreError>() {
            Ok(error) => *error,
            Err(cause) => StoreError::Backend(cause),
        })
    }

    /// A code or token that cannot be used; which of the reasons it is stays here.
    pub(crate) fn grant(message: impl Into<String>) -> Self {
        Self::refused(OAuthCode::InvalidGrant, message)
    }

    /// The word an OAuth client reads.
    pub fn oauth_code(&self) -> OAuthCode {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Denied(denial) if denial.code == Code::InvalidAuthorizationDetails => {
                OAuthCode::InvalidAuthorizationDetails
            }
            Self::Denied(denial) if denial.code == Code::DeadlineExceeded => {
                OAuthCode::TemporarilyUnavailable
            }
            Self::Denied(_) => OAuthCode::InvalidRequest,
            Self::TooOften(_) => OAuthCode::SlowDown,
            Self::Store(StoreError::Busy(_) | StoreError::Unreachable(_)) => {
                OAuthCode::TemporarilyUnavailable
            }
            Self::Store(_) => OAuthCode::ServerError,
        }
    }

    /// The code the ledger and the protocol's own envelope carry.
    pub fn code(&self) -> Code {
        match self {
            Self::Denied(denial) => denial.code,
            Self::TooOften(_) => Code::RateLimitExceeded,
            Self::Store(StoreError::Busy(_)) => Code::ConnectorInstanceBusy,
            Self::Store(StoreError::Unreachable(_)) => Code::StoreUnavailable,
            Self::Store(_) => Code::ApiError,
            Self::Refused { code, .. } => match code {
                OAuthCode::InvalidAuthorizationDetails => Code::InvalidAuthorizationDetails,
                OAuthCode::AccessDenied => Code::PermissionError,
                OAuthCode::InvalidGrant | OAuthCode::InvalidToken | OAuthCode::ExpiredToken => {
                    Code::AuthenticationError
                }
                OAuthCode::InvalidClient => Code::InvalidClient,
                OAuthCode::InvalidClientMetadata | OAuthCode::InvalidRedirectUri => {
                    Code::InvalidClientMetadata
                }
                OAuthCode::SlowDown | OAuthCode::TemporarilyUnavailable => Code::RateLimitExceeded,
                OAuthCode::ServerError => Code::ApiError,
                _ => Code::InvalidRequest,
            },
        }
    }

    /// What to tell the caller; never what broke below.
    pub fn message(&self) -> String {
        match self {
            Self::Refused { message, .. } => message.clone(),
            Self::Denied(denial) => denial.message.clone(),
            Self::TooOften(seconds) => format!("Too many requests; try again in {seconds} seconds."),
            Self::Store(StoreError::Busy(_)) => {
                "The data is being changed right now; try again shortly.".to_owned()
            }
            Self::Store(StoreError::Unreachable(_)) => {
                "The data cannot be reached right now; try again shortly.".to_owned()
            }
            Self::Store(_) => "Something failed inside the server.".to_owned(),
        }
    }
}

impl From<AuthFault> for OAuthFault {
    fn from(fault: AuthFault) -> Self {
        match fault {
            AuthFault::Denied(denial) => Self::Denied(denial),
            AuthFault::Store(error) => Self::Store(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: &OAuthFault, expected: &str) {
        let (oauth, code) = (fault.oauth_code(), fault.code());
        let told = format!("{} {}, {} {}", oauth.status(), oauth.as_str(), code.status(), code.as_str());
        assert_eq!(told, expected);
    }

    #[test]
    fn what_passes_by_itself_is_told_apart_from_what_is_broken() {
        let cause = || Box::<dyn std::error::Error + Send + Sync>::from("below");
        let unavailable = "503 temporarily_unavailable";
        let busy = OAuthFault::Store(StoreError::Busy(cause()));
        check(&busy, &format!("{unavailable}, 503 connector_instance_busy"));
        // As the authority hands it on.
        let lost = OAuthFault::unavailable(Box::new(StoreError::Unreachable(cause())));
        check(&lost, &format!("{unavailable}, 503 store_unavailable"));
        check(&OAuthFault::unavailable(cause()), "500 server_error, 500 api_error");
        let late = OAuthFault::denied(Code::DeadlineExceeded, "The request took too long.");
        check(&late, &format!("{unavailable}, 504 deadline_exceeded"));
    }
}
