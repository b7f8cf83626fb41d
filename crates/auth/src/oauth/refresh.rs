//! Refresh tokens: each is used once and leaves a successor.
//!
//! The successor is derived from the presented token, so an answer that was lost on the way can be given again for
//! half a minute, as long as nobody has used the successor. Any other reuse means that two parties hold the same
//! token; which of them is the thief cannot be told, so the family ends with its access tokens.

use pdpp_access::{ActiveGrant, Secret};
use pdpp_store::{Family, NewToken, PresentedRefresh, Rotated, Rotation, TokenKind};
use pdpp_wire::Grant;

use super::issue::access_end;
use super::{AuthorizationServer, OAuthFault, TokenAnswer};
use crate::grants::last_end;
use crate::ids::mint_token_id;

/// For how long a lost answer is given again, in seconds.
const GRACE_SECONDS: i64 = 30;
/// How often a refresh that was overtaken looks again.
const ATTEMPTS: usize = 4;

impl AuthorizationServer {
    /// Redeems a refresh token.
    pub async fn refresh(
        &self,
        presented: &Secret,
        client_id: &str,
        resources: &[String],
    ) -> Result<TokenAnswer, OAuthFault> {
        self.known_client(client_id).await?;
        self.bound_resource(resources)?;
        for _ in 0..ATTEMPTS {
            if let Some(answer) = self.try_refresh(presented, client_id).await? {
                return Ok(answer);
            }
        }
        Err(OAuthFault::grant("The refresh token is being used by several at once."))
    }

    async fn try_refresh(
        &self,
        presented: &Secret,
        client_id: &str,
    ) -> Result<Option<TokenAnswer>, OAuthFault> {
        let unknown = || OAuthFault::grant("The refresh token is unknown, or was not given to this client.");
        let found = self.store().find_refresh(&presented.hash()).await?.ok_or_else(unknown)?;
        let PresentedRefresh { family, generation } = found;
        if family.client_id.as_str() != client_id {
            return Err(unknown());
        }
        let now = self.now();
        if family.revoked_at.is_some() || family.expires_at <= now {
            return Err(OAuthFault::grant("The refresh token has ended; ask the owner for fresh consent."));
        }
        let current = generation == family.generation;
        let lost_answer = generation + 1 == family.generation
            && now <= family.rotated_at.plus_seconds(GRACE_SECONDS)
            && now >= family.rotated_at;
        if !current && !lost_answer {
            self.store().revoke_family(&family.family_id, now).await?;
            return Err(OAuthFault::grant("The refresh token was used before, so all its line has ended."));
        }
        let Some(grants) = self.living_grants(&family) else {
            self.store().revoke_family(&family.family_id, now).await?;
            return Err(OAuthFault::grant("The grant has ended; ask the owner for fresh consent."));
        };
        let successor = self.successor(presented, generation + 1);
        let (rotation, answer) = self.rotation(&family, grants, &successor, current);
        match self.store().rotate_refresh(&rotation).await? {
            Rotated::Done => Ok(Some(answer)),
            Rotated::Overtaken => Ok(None),
            Rotated::Ended => Err(OAuthFault::grant("The refresh token has ended.")),
        }
    }

    fn rotation(
        &self,
        family: &Family,
        grants: Vec<Grant>,
        successor: &Secret,
        current: bool,
    ) -> (Rotation, TokenAnswer) {
        let now = self.now();
        let mut ends = access_end(&family.kind, now, family.expires_at);
        if let (TokenKind::Client { .. }, Some(last)) = (&family.kind, last_end(&grants)) {
            ends = ends.min(last);
        }
        let (access_token, token) = self.access_token(NewToken {
            hash: successor.hash(),
            token_id: mint_token_id(self.entropy()),
            subject_id: family.subject_id.clone(),
            kind: family.kind.clone(),
            issued_at: now,
            expires_at: Some(ends),
            resource: family.resource.clone(),
            family_id: Some(family.family_id.clone()),
        });
        let answer = TokenAnswer {
            access_token,
            token_id: token.token_id.clone(),
            expires_in: Some(ends.unix_seconds() - now.unix_seconds()),
            refresh_token: Some(successor.clone()),
            subject_id: family.subject_id.clone(),
            grants,
        };
        let rotation = Rotation {
            family_id: family.family_id.clone(),
            seen_generation: family.generation,
            successor: current.then(|| successor.hash()),
            token,
            at: now,
        };
        (rotation, answer)
    }

    /// The family's grants that are active now; `None` when it needs one and has none.
    fn living_grants(&self, family: &Family) -> Option<Vec<Grant>> {
        let now = self.now();
        let active = family.grants.iter().filter_map(|standing| ActiveGrant::try_new(standing, now).ok());
        let grants: Vec<Grant> = active.map(|grant| grant.document().clone()).collect();
        (family.kind == TokenKind::Owner || !grants.is_empty()).then_some(grants)
    }
}
