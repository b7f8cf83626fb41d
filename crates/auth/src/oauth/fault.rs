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
            Self::Denied(_) => OAuthCode::InvalidRequest,
            Self::TooOften(_) => OAuthCode::SlowDown,
            Self::Store(_) => OAuthCode::ServerError,
        }
    }

    /// The code the ledger and the protocol's own envelope carry.
    pub fn code(&self) -> Code {
        match self {
            Self::Denied(denial) => denial.code,
            Self::TooOften(_) => Code::RateLimitExceeded,
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
