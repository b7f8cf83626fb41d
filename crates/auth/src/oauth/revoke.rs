//! The end of tokens (RFC 7009) and of grants.

use pdpp_access::Secret;
use pdpp_store::{StoredToken, TokenKind};
use pdpp_wire::{ClientId, Code, GrantId, SubjectId, TokenId};

use super::{AuthorizationServer, OAuthFault};
use crate::Revocation;

/// What was ended, for the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) subject_id: Option<SubjectId>,
    pub(crate) client_id: Option<ClientId>,
    pub(crate) grant_ids: Vec<GrantId>,
    pub(crate) token_id: Option<TokenId>,
}

impl AuthorizationServer {
    /// Ends a token for the client it was given to. A refresh token ends its whole line; what nobody knows has ended
    /// already, so that nothing can be learnt here.
    pub(crate) async fn revoke_token(
        &self,
        token: &Secret,
        client_id: &str,
    ) -> Result<Option<Ended>, OAuthFault> {
        self.known_client(client_id).await?;
        let foreign = || OAuthFault::grant("The token was given to another client.");
        let (hash, now) = (token.hash(), self.now());
        if let Some(found) = self.store().find_refresh(&hash).await? {
            if found.family.client_id.as_str() != client_id {
                return Err(foreign());
            }
            self.store().revoke_family(&found.family.family_id, now).await?;
            let grant_ids = grants_of(&found.family.kind);
            let (subject_id, client_id) = (Some(found.family.subject_id), Some(found.family.client_id));
            return Ok(Some(Ended { subject_id, client_id, grant_ids, token_id: None }));
        }
        let Some(found) = self.store().find_token(&hash).await? else {
            return Ok(None);
        };
        if let TokenKind::Client { client_id: own, .. } = &found.kind
            && own.as_str() != client_id
        {
            return Err(foreign());
        }
        self.store().revoke_token(&hash, now).await?;
        Ok(Some(ended(&found)))
    }

    /// Ends a grant, for the owner or for a client that it was given to: a client may give up what it has, also when
    /// the grant has ended meanwhile.
    pub(crate) async fn revoke_grant(
        &self,
        bearer: &Secret,
        grant_id: &str,
    ) -> Result<(Revocation, Ended), OAuthFault> {
        let unknown =
            || OAuthFault::denied(Code::AuthenticationError, "The bearer token does not serve here.");
        let token = self.store().find_token(&bearer.hash()).await?.ok_or_else(unknown)?;
        if token.revoked_at.is_some() || token.expires_at.is_some_and(|at| at <= self.now()) {
            return Err(unknown());
        }
        let nobodys = || OAuthFault::denied(Code::NotFound, "There is no such grant.");
        let grant_id = GrantId::parse(grant_id).map_err(|_| nobodys())?;
        if token.kind != TokenKind::Owner && !grants_of(&token.kind).contains(&grant_id) {
            return Err(OAuthFault::denied(
                Code::PermissionError,
                "The token does not stand for this grant.",
            ));
        }
        let revocation = self.authority.revoke(&token.subject_id, &grant_id).await?;
        Ok((revocation, Ended { grant_ids: vec![grant_id], ..ended(&token) }))
    }
}

fn ended(token: &StoredToken) -> Ended {
    let client_id = match &token.kind {
        TokenKind::Owner => None,
        TokenKind::Client { client_id, .. } => Some(client_id.clone()),
    };
    Ended {
        subject_id: Some(token.subject_id.clone()),
        client_id,
        grant_ids: grants_of(&token.kind),
        token_id: Some(token.token_id.clone()),
    }
}

fn grants_of(kind: &TokenKind) -> Vec<GrantId> {
    match kind {
        TokenKind::Owner => Vec::new(),
        TokenKind::Client { grant_ids, .. } => grant_ids.clone(),
    }
}
