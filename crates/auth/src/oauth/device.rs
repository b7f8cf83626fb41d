//! Devices without a browser (RFC 8628): one profile for a grant, one for an owner's own credential.

use pdpp_access::Secret;
use pdpp_store::{Flow, RequestHandle, RequestState};
use pdpp_wire::{ApprovalId, OAuthCode};
use serde_json::Value;

use super::ask::Ask;
use super::callbacks::parse_hosts;
use super::detail::parse_details;
use super::stage::{REQUEST_SECONDS, encode};
use super::{AuthorizationServer, OAuthFault, TokenAnswer, handles};

/// A device that has begun to wait.
#[derive(Clone, Debug)]
pub struct DeviceStarted {
    /// What the device polls with.
    pub device_code: Secret,
    /// What the owner types.
    pub user_code: String,
    /// Where the owner types it.
    pub verification_uri: String,
    /// The same, with the code or the request already named.
    pub verification_uri_complete: String,
    /// For how long, in seconds.
    pub expires_in: i64,
    /// Seconds between two polls.
    pub interval: u32,
    /// Its public name.
    pub approval_id: ApprovalId,
}

impl AuthorizationServer {
    /// Starts to wait. Without resource and details, the device wants an owner's credential.
    pub async fn start_device(
        &self,
        client_id: &str,
        resources: &[String],
        details: Option<&Value>,
        event_callback_hosts: Option<&str>,
    ) -> Result<DeviceStarted, OAuthFault> {
        let client = self.starting_client(client_id).await?;
        let owner = resources.is_empty() && details.is_none();
        let details = match details {
            Some(value) => parse_details(value)?,
            None => Vec::new(),
        };
        self.check_details(&details).await?;
        let resource = self.bound_resource(resources)?;
        let event_callback_hosts = parse_hosts(event_callback_hosts)?;
        if owner && !event_callback_hosts.is_empty() {
            return Err(OAuthFault::invalid(
                "`event_callback_hosts` belongs to a grant; name what is asked.",
            ));
        }
        let device_code = handles::secret(self.entropy(), "dc_");
        let user_code = handles::user_code(self.entropy());
        let typed = handles::typed_user_code(&user_code).expect("a minted code can be typed");
        let ask = Ask { details, resource, event_callback_hosts, ..Ask::default() };
        let flow = if owner { Flow::OwnerDevice } else { Flow::Device };
        let mut request = self.new_request(flow, &client.client_id, &ask);
        request.device_code = Some(device_code.hash());
        request.user_code = Some(typed.hash());
        let (approval_id, interval) = (request.approval_id.clone(), request.interval);
        self.stage(request).await?;
        let page = format!("{}/device", self.issuer());
        Ok(DeviceStarted {
            device_code,
            verification_uri_complete: format!("{page}?user_code={}", encode(&user_code)),
            verification_uri: page,
            user_code,
            expires_in: REQUEST_SECONDS,
            interval,
            approval_id,
        })
    }

    /// Polls with a device code; it gives tokens once.
    pub async fn redeem_device(
        &self,
        device_code: &Secret,
        client_id: &str,
        resources: &[String],
    ) -> Result<TokenAnswer, OAuthFault> {
        self.known_client(client_id).await?;
        self.bound_resource(resources)?;
        let unknown = || OAuthFault::grant("The device code is unknown, or was not given to this client.");
        let handle = RequestHandle::DeviceCode(device_code.hash());
        let polled = self.store().poll_request(&handle, self.now()).await?.ok_or_else(unknown)?;
        if polled.request.client_id.as_str() != client_id {
            return Err(unknown());
        }
        let now = self.now();
        match &polled.request.state {
            RequestState::Approved { redeemed_at: Some(_), .. } => {
                Err(OAuthFault::grant("The device code was used before."))
            }
            RequestState::Approved { redeem_until, .. } if *redeem_until > now => {
                self.issue_for(&polled.request).await
            }
            RequestState::Denied => {
                Err(OAuthFault::refused(OAuthCode::AccessDenied, "The owner denied the request."))
            }
            RequestState::Pending if polled.request.expires_at > now => Err(if polled.too_soon {
                let message = format!("Wait {} seconds between two requests.", polled.interval);
                OAuthFault::refused(OAuthCode::SlowDown, message)
            } else {
                OAuthFault::refused(OAuthCode::AuthorizationPending, "The owner has not decided yet.")
            }),
            _ => Err(OAuthFault::refused(OAuthCode::ExpiredToken, "The device code has expired.")),
        }
    }
}
