//! Asking an owner for access, as the client of any authorization server of the protocol.
//!
//! The steps, each a call: [`discover`] finds the server that guards a resource, [`register`] introduces this client,
//! [`CodeRequest`] sends the owner's browser there and [`DeviceRequest`] waits without one, and either ends in a
//! [`Grant`]. [`revoke`] gives it back. Addresses must be encrypted or this machine's own, no redirect is followed, no
//! answer may be long, and no message holds a token.

mod code;
mod details;
mod device;
mod discovery;
mod registration;
pub(crate) mod web;

use pdpp_wire::Instant;
use serde_json::Value;

pub use code::{CodeRequest, Returned};
pub use details::{DetailAsk, StreamAsk, details};
pub use device::{DeviceRequest, Polled};
pub use discovery::{ServerMetadata, discover, revocation_endpoint};
pub use registration::{ClientRegistration, register};

use crate::credential::is_owners;
use crate::{Bearer, ProviderUrlError};
use web::Posted;

/// Why there is no access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The address itself is wrong.
    #[error(transparent)]
    Address(#[from] ProviderUrlError),
    /// Nobody answers.
    #[error("{0} cannot be reached: {1}")]
    Unreachable(String, String),
    /// A document is missing, or is not what it should be.
    #[error("{0}")]
    Metadata(String),
    /// The server cannot do what this needs.
    #[error("{0}")]
    NotSupported(String),
    /// The server refused a step.
    #[error("{code}: {message}")]
    Refused {
        /// The server's code.
        code: String,
        /// Its words.
        message: String,
    },
    /// What came back is not an answer to what was asked.
    #[error("{0}")]
    Contract(String),
    /// The owner said no.
    #[error("the owner denied the request")]
    Denied,
    /// The owner said nothing.
    #[error("nobody approved the request in time; start again")]
    Expired,
}

impl ConnectError {
    /// The code people can look up.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) => "invalid_provider_url",
            Self::Unreachable(..) | Self::Metadata(_) => "metadata_failure",
            Self::NotSupported(_) => "connect_not_supported",
            Self::Refused { .. } => "connect_request_failed",
            Self::Contract(_) => "connect_contract_invalid",
            Self::Denied => "approval_denied",
            Self::Expired => "approval_expired",
        }
    }
}

/// What the owner gave.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token to read with.
    pub access_token: Bearer,
    /// When it ends.
    pub expires_at: Option<Instant>,
    /// The token that gets newer ones.
    pub refresh_token: Option<Bearer>,
    /// The grant, when there is one.
    pub grant_id: Option<String>,
}

impl Grant {
    /// Reads what the token endpoint answered.
    fn read(answer: &Value, now: Instant) -> Result<Self, ConnectError> {
        let contract = |text: &str| ConnectError::Contract(text.to_owned());
        if is_owners(answer) {
            return Err(contract("the server answered with an owner's token, and only a scoped one is kept"));
        }
        let text = |name: &str| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if !text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer")) {
            return Err(contract("the server answered with a token that is no bearer token"));
        }
        let access_token =
            text("access_token").ok_or_else(|| contract("the server's answer holds no access token"))?;
        let lasts = answer.get("expires_in").and_then(Value::as_i64);
        Ok(Self {
            access_token: Bearer::new(access_token),
            expires_at: lasts.map(|seconds| now.plus_seconds(seconds)),
            refresh_token: text("refresh_token").map(Bearer::new),
            grant_id: text("grant_id").map(str::to_owned),
        })
    }
}

/// Ends a token at its server (RFC 7009).
pub async fn revoke(endpoint: &str, token: &Bearer, client_id: Option<&str>) -> Result<(), ConnectError> {
    let mut form = vec![("token", token.expose())];
    form.extend(client_id.map(|id| ("client_id", id)));
    web::post(endpoint, &form).await?.success().map(|_| ())
}

impl Posted {
    /// The answer's document, or the refusal it is.
    fn success(self) -> Result<Value, ConnectError> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        Err(self.refusal())
    }

    fn refusal(&self) -> ConnectError {
        let text = |pointer: &str| self.body.pointer(pointer).and_then(Value::as_str);
        let code = text("/error/code").or_else(|| text("/error"));
        let message = text("/error/message").or_else(|| text("/error_description"));
        ConnectError::Refused {
            code: code.map_or_else(|| format!("http_{}", self.status), str::to_owned),
            message: message.unwrap_or("the server refused").to_owned(),
        }
    }
}
