//! Grants: made from what the owner chose, listed, revoked, and given further tokens.

use pdpp_access::{ActiveGrant, Denial, GrantStanding, GrantTerms, Secret, resolve_selection};
use pdpp_store::{IssueOutcome, NewToken, StoredGrant, TokenKind};
use pdpp_wire::{ClientId, Code, Grant, GrantId, Instant, SelectionRequest, SubjectId, TokenId};

use crate::ids::{mint_grant_id, mint_token_id};
use crate::{AuthFault, LocalAuthority};

/// How long a grant lasts when nobody says otherwise: 30 days.
pub const DEFAULT_GRANT_SECONDS: i64 = 30 * 24 * 60 * 60;

/// What the owner wants to grant.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantOrder {
    /// Who may read.
    pub client_id: ClientId,
    /// What; one grant each.
    pub selections: Vec<SelectionRequest>,
    /// Until when; `None` means until revoked.
    pub expires_at: Option<Instant>,
}

/// Another token for grants that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOrder {
    /// For these grants of one client.
    pub grant_ids: Vec<GrantId>,
    /// Until when, at most; the grants' own end comes first.
    pub expires_at: Option<Instant>,
}

/// Grants with the one token that opens them.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The grants, in the order of the selections.
    pub grants: Vec<Grant>,
    /// The token: shown once, kept only as a hash.
    pub access_token: Secret,
    /// Its public name.
    pub token_id: TokenId,
    /// When the token ends.
    pub expires_at: Option<Instant>,
}

/// What became of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// Revoked now.
    Now,
    /// It had been revoked before.
    Before(Instant),
}

/// Where a grant stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// It can be used.
    Active,
    /// Its time is over.
    Expired,
    /// The owner took it back.
    Revoked,
    /// The stored document cannot be understood.
    Invalid,
}

/// Where a stored grant stands at a moment.
pub fn state_of_grant(stored: &StoredGrant, now: Instant) -> GrantState {
    match ActiveGrant::try_new(&stored.standing, now) {
        Ok(_) => GrantState::Active,
        Err(denial) => match denial.code {
            Code::GrantRevoked => GrantState::Revoked,
            Code::GrantExpired => GrantState::Expired,
            _ => GrantState::Invalid,
        },
    }
}

impl LocalAuthority {
    /// Resolves each selection to a grant and issues one token for all of them, or nothing.
    pub async fn create_grants(
        &self,
        subject_id: &SubjectId,
        order: GrantOrder,
    ) -> Result<Issued, AuthFault> {
        let grants = self.preview_grants(subject_id, &order).await?;
        let (access_token, token) =
            self.new_token(subject_id, order.client_id, grants.iter().map(id_of), order.expires_at);
        self.store.issue(&grants, &token).await?;
        Ok(Issued { grants, access_token, token_id: token.token_id, expires_at: token.expires_at })
    }

    /// The grants an order would make, without making them: so that the owner can see what they open.
    pub async fn preview_grants(
        &self,
        subject_id: &SubjectId,
        order: &GrantOrder,
    ) -> Result<Vec<Grant>, AuthFault> {
        let now = self.clock.now();
        check_order(order, now)?;
        let grants = self.resolve(subject_id, order, now).await?;
        refuse_overlaps(&grants, now)?;
        Ok(grants)
    }

    /// Issues another token. A single-use grant gave its only one when it was made.
    pub async fn reissue_token(
        &self,
        subject_id: &SubjectId,
        order: TokenOrder,
    ) -> Result<Issued, AuthFault> {
        let now = self.clock.now();
        let mut grants = Vec::with_capacity(order.grant_ids.len());
        for grant_id in &order.grant_ids {
            grants.push(self.active_grant(subject_id, grant_id, now).await?);
        }
        let client_id = one_client(&grants)?;
        refuse_overlaps(&grants, now)?;
        let expires_at = [order.expires_at, last_end(&grants)].into_iter().flatten().min();
        if expires_at.is_some_and(|at| at <= now) {
            return Err(AuthFault::denied(Code::InvalidArgument, "The token would end before it begins."));
        }
        let (access_token, token) =
            self.new_token(subject_id, client_id, grants.iter().map(id_of), expires_at);
        match self.store.issue_token(&token).await? {
            IssueOutcome::Issued => {
                Ok(Issued { grants, access_token, token_id: token.token_id, expires_at: token.expires_at })
            }
            IssueOutcome::Consumed => Err(AuthFault::denied(
                Code::GrantConsumed,
                "A single-use grant gives one token, and has given it.",
            )),
            IssueOutcome::UnknownGrant => Err(unknown_grant()),
        }
    }

    /// Takes a grant back from now on.
    pub async fn revoke(&self, subject_id: &SubjectId, grant_id: &GrantId) -> Result<Revocation, AuthFault> {
        let before = self.store.revoke_grant(subject_id, grant_id, self.clock.now()).await?;
        let before = before.ok_or_else(unknown_grant)?;
        Ok(before.standing.revoked_at.map_or(Revocation::Now, Revocation::Before))
    }

    /// All grants, newest first.
    pub async fn list(&self, subject_id: &SubjectId) -> Result<Vec<StoredGrant>, AuthFault> {
        Ok(self.store.list_grants(subject_id).await?)
    }

    /// One grant.
    pub async fn find(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
    ) -> Result<Option<StoredGrant>, AuthFault> {
        Ok(self.store.find_grant(subject_id, grant_id).await?)
    }

    async fn resolve(
        &self,
        subject_id: &SubjectId,
        order: &GrantOrder,
        now: Instant,
    ) -> Result<Vec<Grant>, AuthFault> {
        let catalogue = self.store.catalogue(subject_id).await?;
        let mut grants = Vec::with_capacity(order.selections.len());
        for selection in &order.selections {
            let Some(source) = catalogue.find_source_by_uri(&selection.source.id) else {
                return Err(refused(format!("The source '{}' is not declared here.", selection.source.id)));
            };
            let terms = GrantTerms {
                grant_id: mint_grant_id(&*self.entropy),
                subject_id: subject_id.clone(),
                client_id: order.client_id.clone(),
                issued_at: now,
                expires_at: order.expires_at,
            };
            grants.push(resolve_selection(source, selection, &terms)?);
        }
        Ok(grants)
    }

    async fn active_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
        now: Instant,
    ) -> Result<Grant, AuthFault> {
        let standing = self.store.find_standing(subject_id, grant_id).await?.ok_or_else(unknown_grant)?;
        Ok(ActiveGrant::try_new(&standing, now)?.document().clone())
    }

    fn new_token(
        &self,
        subject_id: &SubjectId,
        client_id: ClientId,
        grant_ids: impl Iterator<Item = GrantId>,
        expires_at: Option<Instant>,
    ) -> (Secret, NewToken) {
        let secret = Secret::mint(&*self.entropy);
        let token = NewToken {
            hash: secret.hash(),
            token_id: mint_token_id(&*self.entropy),
            subject_id: subject_id.clone(),
            kind: TokenKind::Client { client_id, grant_ids: grant_ids.collect() },
            issued_at: self.clock.now(),
            expires_at,
            resource: None,
            family_id: None,
        };
        (secret, token)
    }
}

fn check_order(order: &GrantOrder, now: Instant) -> Result<(), AuthFault> {
    let Some(first) = order.selections.first() else {
        return Err(refused("Name at least one stream."));
    };
    if order.selections.iter().any(|selection| selection.access_mode != first.access_mode) {
        return Err(refused("Single-use and continuous grants cannot share a token."));
    }
    match order.expires_at {
        Some(at) if at <= now => {
            Err(AuthFault::denied(Code::InvalidArgument, "The grant would end before it begins."))
        }
        _ => Ok(()),
    }
}

/// Two grants in one token must never cover the same stream of the same connection: which of the
/// two consents would a record be read under?
pub(crate) fn refuse_overlaps(grants: &[Grant], now: Instant) -> Result<(), AuthFault> {
    let active = grants.iter().map(|grant| ActiveGrant::try_new(&standing(grant), now));
    let active = active.collect::<Result<Vec<_>, _>>()?;
    for (index, grant) in active.iter().enumerate() {
        if active[..index].iter().any(|other| grant.overlaps(other)) {
            return Err(refused("A stream of a connection is selected twice."));
        }
    }
    Ok(())
}

fn standing(grant: &Grant) -> GrantStanding {
    GrantStanding { document: serde_json::to_string(grant).expect("grants are plain data"), revoked_at: None }
}

fn one_client(grants: &[Grant]) -> Result<ClientId, AuthFault> {
    let client = |grant: &Grant| grant.client.client_id.clone();
    match grants.first().map(client) {
        Some(first) if grants.iter().all(|grant| client(grant) == first) => Ok(first),
        Some(_) => Err(refused("The grants belong to different clients.")),
        None => Err(refused("Name at least one grant.")),
    }
}

/// When the last of the grants ends; `None` when one of them never does.
pub(crate) fn last_end(grants: &[Grant]) -> Option<Instant> {
    let ends = grants.iter().map(|grant| grant.expires_at.as_deref().and_then(Instant::parse));
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

pub(crate) fn id_of(grant: &Grant) -> GrantId {
    grant.grant_id.clone()
}

fn unknown_grant() -> AuthFault {
    Denial::new(Code::NotFound, "There is no such grant.").into()
}

fn refused(message: impl Into<String>) -> AuthFault {
    AuthFault::denied(Code::InvalidAuthorizationDetails, message)
}
