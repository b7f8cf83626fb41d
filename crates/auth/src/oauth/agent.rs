//! An agent that pushed a request and waits for its outcome.
//!
//! It shows the request's own handle, which is in no address the owner or anyone else is shown, and the client id the
//! request was pushed with; only the first one may wait.

use pdpp_access::Secret;
use pdpp_store::{AgentAttached, Flow, RequestHandle, RequestState};
use pdpp_wire::{ApprovalId, ClientId, OAuthCode};

use super::stage::REQUEST_SECONDS;
use super::{AuthorizationServer, OAuthFault, PENDING, TokenAnswer, handles};

/// An agent that has begun to wait.
#[derive(Clone, Debug)]
pub struct AgentStarted {
    /// Its public name.
    pub id: String,
    /// What it polls with.
    pub polling_code: Secret,
    /// Where the owner decides.
    pub approval_url: String,
    /// For how long, in seconds.
    pub expires_in: i64,
    /// Seconds between two polls.
    pub interval: u32,
    /// The request's public name.
    pub approval_id: ApprovalId,
    /// Who waits.
    pub client_id: ClientId,
}

/// What a poll gives.
#[derive(Clone, Debug)]
pub enum AgentOutcome {
    /// Nothing yet; wait so many seconds.
    Pending(u32),
    /// Tokens, once.
    Issued(Box<TokenAnswer>, ClientId),
}

impl AuthorizationServer {
    /// Lets the requester of pushed JSON wait.
    pub async fn start_agent(&self, request_uri: &str, client_id: &str) -> Result<AgentStarted, OAuthFault> {
        let refused =
            || OAuthFault::invalid("The request is unknown, has ended, or someone waits for it already.");
        let handle = request_uri.strip_prefix(PENDING).ok_or_else(refused)?;
        let found =
            self.store().find_request(&RequestHandle::Pushed(Secret::presented(handle).hash())).await?;
        let request = found.filter(|request| request.flow == Flow::Exchange).ok_or_else(refused)?;
        if request.client_id.as_str() != client_id {
            return Err(refused());
        }
        let (id, code) = (handles::agent_id(self.entropy()), handles::secret(self.entropy(), "agc_poll_"));
        let now = self.now();
        let attached = self.store().attach_agent(&request.approval_id, &id, &code.hash(), now).await?;
        if attached == AgentAttached::Refused {
            return Err(refused());
        }
        Ok(AgentStarted {
            approval_url: format!("{}/consent?approval_id={}", self.issuer(), request.approval_id),
            expires_in: (request.expires_at.unix_seconds() - now.unix_seconds()).clamp(0, REQUEST_SECONDS),
            interval: 2,
            approval_id: request.approval_id,
            client_id: request.client_id,
            polling_code: code,
            id,
        })
    }

    /// Polls for the outcome; it gives tokens once.
    pub async fn redeem_agent(&self, id: &str, polling_code: &Secret) -> Result<AgentOutcome, OAuthFault> {
        let unknown = || OAuthFault::grant("The polling code is unknown, or belongs to another attempt.");
        let handle = RequestHandle::Polling(polling_code.hash());
        let polled = self.store().poll_request(&handle, self.now()).await?.ok_or_else(unknown)?;
        if polled.request.agent_id.as_deref() != Some(id) {
            return Err(unknown());
        }
        let now = self.now();
        match &polled.request.state {
            RequestState::Approved { redeemed_at: Some(_), .. } => {
                Err(OAuthFault::grant("The outcome was fetched before."))
            }
            RequestState::Approved { redeem_until, .. } if *redeem_until > now => {
                let answer = self.issue_for(&polled.request).await?;
                Ok(AgentOutcome::Issued(Box::new(answer), polled.request.client_id))
            }
            RequestState::Denied => {
                Err(OAuthFault::refused(OAuthCode::AccessDenied, "The owner denied the request."))
            }
            RequestState::Pending if polled.request.expires_at > now => {
                Ok(AgentOutcome::Pending(polled.interval))
            }
            _ => Err(OAuthFault::refused(OAuthCode::ExpiredToken, "The attempt has expired.")),
        }
    }
}
