//! Codes, once each: the authorization code by the client that proves to be the one that asked, the exchange code by
//! whoever the owner gave it to.

use pdpp_access::Secret;
use pdpp_store::{Flow, RequestHandle, RequestState, StagedRequest};
use pdpp_wire::Code;

use super::ask::Ask;
use super::{AuthorizationServer, OAuthFault, TokenAnswer, pkce};

/// What the token endpoint was given with a code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeRedemption<'a> {
    pub(crate) code: &'a Secret,
    pub(crate) client_id: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) verifier: &'a str,
    pub(crate) resources: &'a [String],
}

impl AuthorizationServer {
    /// Redeems an authorization code. Only someone who has the code, the client's id, its redirect URI and its verifier
    /// is believed; if such a one comes a second time, what the first one got ends, because one of them is a thief.
    pub(crate) async fn redeem_code(&self, asked: CodeRedemption<'_>) -> Result<TokenAnswer, OAuthFault> {
        self.known_client(asked.client_id).await?;
        let unknown = || OAuthFault::grant("The code is unknown, or was not given to this client.");
        let request = self.find_code(asked.code, Flow::Code).await?.ok_or_else(unknown)?;
        let ask = Ask::read(&request)?;
        let redirect = ask.redirect.as_ref().ok_or_else(unknown)?;
        if request.client_id.as_str() != asked.client_id || redirect.uri != asked.redirect_uri {
            return Err(unknown());
        }
        if !pkce::verifies(asked.verifier, &redirect.challenge) {
            return Err(OAuthFault::grant("The code verifier is not the one behind the challenge."));
        }
        self.bound_resource(asked.resources)?;
        if let RequestState::Approved { redeemed_at: Some(_), .. } = request.state {
            self.store().end_redeemed(&request.approval_id, self.now()).await?;
            return Err(OAuthFault::grant("The code was used before; what it gave has ended."));
        }
        self.issue_for(&request).await
    }

    /// Redeems an exchange code.
    pub async fn exchange(&self, code: &Secret) -> Result<(StagedRequest, TokenAnswer), OAuthFault> {
        let gone = |message: &str| OAuthFault::denied(Code::InvalidGrant, message);
        let request = self.find_code(code, Flow::Exchange).await?;
        let request = request.ok_or_else(|| OAuthFault::denied(Code::NotFound, "There is no such code."))?;
        match &request.state {
            RequestState::Approved { redeemed_at: None, redeem_until, .. } if *redeem_until > self.now() => {}
            RequestState::Approved { redeemed_at: Some(_), .. } => {
                return Err(gone("The code was used before."));
            }
            _ => return Err(gone("The code has expired.")),
        }
        match self.issue_for(&request).await {
            Ok(answer) => Ok((request, answer)),
            Err(OAuthFault::Refused { message, .. }) => Err(gone(&message)),
            Err(other) => Err(other),
        }
    }

    async fn find_code(&self, code: &Secret, flow: Flow) -> Result<Option<StagedRequest>, OAuthFault> {
        let found = self.store().find_request(&RequestHandle::Code(code.hash())).await?;
        Ok(found.filter(|request| request.flow == flow))
    }
}
