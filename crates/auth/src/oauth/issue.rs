//! Tokens for an approved request: minted when it is redeemed, and not before.

use pdpp_access::Secret;
use pdpp_store::{Flow, NewFamily, NewToken, Redeemed, Redemption, RequestState, StagedRequest, TokenKind};
use pdpp_wire::{AccessMode, Grant, Instant, SubjectId, TokenId};
use serde_json::{Map, Value, json};

use super::ask::Ask;
use super::{AuthorizationServer, DATA_ACCESS, OAuthFault, handles};
use crate::grants::{id_of, last_end};
use crate::ids::mint_token_id;

/// How long an access token beside a refresh token lives, in seconds.
pub(super) const ACCESS_SECONDS: i64 = 600;
/// How long an owner's access token lives, in seconds.
pub(super) const OWNER_ACCESS_SECONDS: i64 = 3_600;
/// How long a client may refresh when its grants never end, in seconds: a year.
const FAMILY_SECONDS: i64 = 365 * 86_400;
/// How long an owner's credential may be refreshed, in seconds: 90 days.
const OWNER_FAMILY_SECONDS: i64 = 90 * 86_400;

/// Tokens as they are handed over, once.
#[derive(Clone, Debug)]
pub struct TokenAnswer {
    /// The access token.
    pub access_token: Secret,
    /// Its public name.
    pub token_id: TokenId,
    /// Seconds until it ends.
    pub expires_in: Option<i64>,
    /// The refresh token.
    pub refresh_token: Option<Secret>,
    /// Whose data.
    pub subject_id: SubjectId,
    /// What it opens; empty for an owner token.
    pub grants: Vec<Grant>,
}

impl TokenAnswer {
    /// The answer of the token endpoint.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("access_token".to_owned(), self.access_token.reveal().into());
        body.insert("token_type".to_owned(), "Bearer".into());
        if let Some(seconds) = self.expires_in {
            body.insert("expires_in".to_owned(), seconds.into());
        }
        if let Some(refresh) = &self.refresh_token {
            body.insert("refresh_token".to_owned(), refresh.reveal().into());
        }
        name_grants(&mut body, &self.grants);
        if !self.grants.is_empty() {
            let details = self.grants.iter().map(granted_detail).collect();
            body.insert("authorization_details".to_owned(), Value::Array(details));
        }
        body
    }
}

/// `grant_id` when there is one, else `grant_ids`.
pub(super) fn name_grants(body: &mut Map<String, Value>, grants: &[Grant]) {
    match grants {
        [] => {}
        [one] => drop(body.insert("grant_id".to_owned(), json!(one.grant_id))),
        many => {
            let ids: Vec<_> = many.iter().map(|grant| &grant.grant_id).collect();
            body.insert("grant_ids".to_owned(), json!(ids));
        }
    }
}

/// What was granted, in the shape it was asked in.
pub(super) fn granted_detail(grant: &Grant) -> Value {
    let mut detail = json!({
        "type": DATA_ACCESS,
        "grant_id": grant.grant_id,
        "source": grant.source,
        "purpose_code": grant.purpose_code,
        "access_mode": grant.access_mode,
        "streams": grant.streams,
    });
    for (name, value) in [
        ("purpose_description", json!(grant.purpose_description)),
        ("selection_preset", json!(grant.selection_preset)),
        ("retention", json!(grant.retention)),
        ("expires_at", json!(grant.expires_at)),
    ] {
        if !value.is_null() {
            detail[name] = value;
        }
    }
    detail
}

impl AuthorizationServer {
    /// Gives an approved request its tokens.
    pub(super) async fn issue_for(&self, request: &StagedRequest) -> Result<TokenAnswer, OAuthFault> {
        let RequestState::Approved { subject_id, grant_ids, .. } = &request.state else {
            return Err(OAuthFault::grant("The request was not approved."));
        };
        let grants = self.documents_of(subject_id, grant_ids).await?;
        let ask = Ask::read(request)?;
        let now = self.now();
        let kind = match request.flow {
            Flow::OwnerDevice => TokenKind::Owner,
            _ => TokenKind::Client {
                client_id: request.client_id.clone(),
                grant_ids: grants.iter().map(id_of).collect(),
            },
        };
        let refreshable = grants.iter().all(|grant| grant.access_mode == AccessMode::Continuous);
        let family_ends = match kind {
            TokenKind::Owner => now.plus_seconds(OWNER_FAMILY_SECONDS),
            TokenKind::Client { .. } => {
                let most = now.plus_seconds(FAMILY_SECONDS);
                last_end(&grants).map_or(most, |end| end.min(most))
            }
        };
        let mut raw = [0; 32];
        self.entropy().fill(&mut raw);
        let first = handles::refresh_token(&raw);
        let family = refreshable.then(|| NewFamily {
            family_id: handles::family_id(self.entropy()),
            subject_id: subject_id.clone(),
            client_id: request.client_id.clone(),
            kind: kind.clone(),
            resource: Some(ask.resource.clone()),
            first: first.hash(),
            created_at: now,
            expires_at: family_ends,
        });
        let ends = if refreshable { Some(access_end(&kind, now, family_ends)) } else { last_end(&grants) };
        let (access_token, token) = self.access_token(NewToken {
            hash: first.hash(),
            token_id: mint_token_id(self.entropy()),
            subject_id: subject_id.clone(),
            kind,
            issued_at: now,
            expires_at: ends,
            resource: Some(ask.resource),
            family_id: family.as_ref().map(|family| family.family_id.clone()),
        });
        let token_id = token.token_id.clone();
        let refresh_token = family.is_some().then_some(first);
        let redemption = Redemption { approval_id: request.approval_id.clone(), token, family, at: now };
        match self.store().redeem_request(&redemption).await? {
            Redeemed::Issued => {}
            Redeemed::Already => {
                // Two who prove to be the same client at the same moment: one of them is a thief.
                if request.flow == Flow::Code {
                    self.store().end_redeemed(&request.approval_id, now).await?;
                }
                return Err(OAuthFault::grant("The code was used before."));
            }
            Redeemed::NotRedeemable => return Err(OAuthFault::grant("The code has expired.")),
            Redeemed::GrantEnded => return Err(OAuthFault::grant("The owner has taken the grant back.")),
        }
        let expires_in = ends.map(|at| at.unix_seconds() - now.unix_seconds());
        let subject_id = subject_id.clone();
        Ok(TokenAnswer { access_token, token_id, expires_in, refresh_token, subject_id, grants })
    }

    /// Gives a token its secret.
    pub(super) fn access_token(&self, token: NewToken) -> (Secret, NewToken) {
        let secret = Secret::mint(self.entropy());
        let token = NewToken { hash: secret.hash(), ..token };
        (secret, token)
    }

    async fn documents_of(
        &self,
        subject_id: &SubjectId,
        grant_ids: &[pdpp_wire::GrantId],
    ) -> Result<Vec<Grant>, OAuthFault> {
        let ended = || OAuthFault::grant("The grant is gone.");
        let mut grants = Vec::with_capacity(grant_ids.len());
        for id in grant_ids {
            let standing = self.store().find_standing(subject_id, id).await?.ok_or_else(ended)?;
            grants.push(Grant::parse(&standing.document).map_err(|_| ended())?);
        }
        Ok(grants)
    }
}

/// When an access token beside a refresh token ends.
pub(super) fn access_end(kind: &TokenKind, now: Instant, family_ends: Instant) -> Instant {
    let seconds = match kind {
        TokenKind::Owner => OWNER_ACCESS_SECONDS,
        TokenKind::Client { .. } => ACCESS_SECONDS,
    };
    now.plus_seconds(seconds).min(family_ends)
}
