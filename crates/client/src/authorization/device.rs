//! The device flow (RFC 8628): the owner approves in some browser, this machine asks until that is done.

use std::fmt;
use std::time::Duration;

use pdpp_wire::Instant;
use serde_json::Value;

use super::{ClientRegistration, ConnectError, Grant, ServerMetadata, web};
use crate::{Bearer, ProviderUrl};

pub(super) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// How long to wait between two polls when the server does not say.
const INTERVAL: u64 = 5;
/// How much longer after being told to slow down.
const SLOWER: Duration = Duration::from_secs(5);

/// A device that has begun to wait.
pub struct DeviceRequest {
    device_code: Bearer,
    /// What the owner types.
    pub user_code: String,
    /// Where the owner types it.
    pub verification_uri: String,
    /// The same, with the code already in it.
    pub verification_uri_complete: Option<String>,
    /// How long the owner has.
    pub expires_in: Duration,
    interval: Duration,
}

impl fmt::Debug for DeviceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceRequest")
            .field("verification_uri", &self.verification_uri)
            .finish_non_exhaustive()
    }
}

/// What a poll brought.
#[derive(Debug)]
pub enum Polled {
    /// The owner has not decided.
    Waiting,
    /// The owner approved.
    Done(Box<Grant>),
}

impl DeviceRequest {
    /// Starts to wait. The resource is always named: without it some servers would hand out an owner's token.
    pub async fn start(
        server: &ServerMetadata,
        client: &ClientRegistration,
        provider_url: &ProviderUrl,
        details: Option<&Value>,
    ) -> Result<Self, ConnectError> {
        let missing = || ConnectError::NotSupported(format!("{} has no device flow", server.issuer));
        let endpoint = server.device_endpoint.as_deref().ok_or_else(missing)?;
        let (resource, details) = (provider_url.join("/mcp"), details.map(Value::to_string));
        let mut form = vec![("client_id", client.client_id.as_str()), ("resource", &resource)];
        form.extend(details.as_deref().map(|details| ("authorization_details", details)));
        let answer = web::post(endpoint, &form).await?.success()?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let part = |name: &str| {
            text(name).ok_or_else(|| ConnectError::Contract(format!("the device answer has no {name}")))
        };
        let seconds = |name: &str, usual: u64| answer.get(name).and_then(Value::as_u64).unwrap_or(usual);
        Ok(Self {
            device_code: Bearer::new(part("device_code")?),
            user_code: part("user_code")?,
            verification_uri: part("verification_uri")?,
            verification_uri_complete: text("verification_uri_complete"),
            expires_in: Duration::from_secs(seconds("expires_in", 300).min(3_600)),
            // Seconds, as the standard says; never faster than one.
            interval: Duration::from_secs(seconds("interval", INTERVAL).clamp(1, 60)),
        })
    }

    /// How long to wait before the next poll.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Asks once.
    pub async fn poll(
        &mut self,
        server: &ServerMetadata,
        client: &ClientRegistration,
        now: Instant,
    ) -> Result<Polled, ConnectError> {
        let form = [
            ("grant_type", DEVICE_GRANT),
            ("device_code", self.device_code.expose()),
            ("client_id", &client.client_id),
        ];
        let answer = match web::post(&server.token_endpoint, &form).await?.success() {
            Ok(answer) => answer,
            Err(ConnectError::Refused { code, message }) => {
                return match code.as_str() {
                    "authorization_pending" => Ok(Polled::Waiting),
                    "slow_down" => {
                        self.interval += SLOWER;
                        Ok(Polled::Waiting)
                    }
                    "access_denied" => Err(ConnectError::Denied),
                    "expired_token" => Err(ConnectError::Expired),
                    _ => Err(ConnectError::Refused { code, message }),
                };
            }
            Err(error) => return Err(error),
        };
        Ok(Polled::Done(Box::new(Grant::read(&answer, now)?)))
    }
}
