//! Whoever a token stands for, and the port through which tokens are recognised.

use async_trait::async_trait;
use pdpp_wire::{ClientId, Code, GrantId, SubjectId, TokenId};

use crate::{ActiveGrant, Denial, Secret};

/// Who is asking. Token syntax never decides this; only the authority does.
#[derive(Clone, Debug)]
pub enum Principal {
    /// The data subject: no grant, everything of one subject.
    Owner(OwnerPrincipal),
    /// An application, bound to one or more active grants.
    Client(ClientPrincipal),
}

/// The data subject.
#[derive(Clone, Debug)]
pub struct OwnerPrincipal {
    /// Whose data.
    pub subject_id: SubjectId,
    /// The token's public name, for the ledger.
    pub token_id: Option<TokenId>,
}

/// An application with the grants its token carries.
#[derive(Clone, Debug)]
pub struct ClientPrincipal {
    subject_id: SubjectId,
    client_id: ClientId,
    token_id: Option<TokenId>,
    grants: Vec<ActiveGrant>,
}

impl ClientPrincipal {
    /// A client needs at least one active grant, all of its own subject.
    pub fn try_new(
        subject_id: SubjectId,
        client_id: ClientId,
        token_id: Option<TokenId>,
        grants: Vec<ActiveGrant>,
    ) -> Result<Self, Denial> {
        let own = |grant: &ActiveGrant| {
            grant.document().subject.id == subject_id && grant.document().client.client_id == client_id
        };
        let apart = grants
            .iter()
            .enumerate()
            .all(|(i, grant)| grants[..i].iter().all(|other| !grant.overlaps(other)));
        if grants.is_empty() || !grants.iter().all(own) || !apart {
            return Err(Denial::new(Code::GrantInvalid, "The token's grants do not belong together."));
        }
        Ok(Self { subject_id, client_id, token_id, grants })
    }

    /// Whose data.
    pub fn subject_id(&self) -> &SubjectId {
        &self.subject_id
    }

    /// The client.
    pub fn client_id(&self) -> &ClientId {
        &self.client_id
    }

    /// The token's public name.
    pub fn token_id(&self) -> Option<&TokenId> {
        self.token_id.as_ref()
    }

    /// The active grants, in the token's order.
    pub fn grants(&self) -> &[ActiveGrant] {
        &self.grants
    }
}

impl Principal {
    /// Whose data.
    pub fn subject_id(&self) -> &SubjectId {
        match self {
            Self::Owner(owner) => &owner.subject_id,
            Self::Client(client) => &client.subject_id,
        }
    }

    /// The token's public name.
    pub fn token_id(&self) -> Option<&TokenId> {
        match self {
            Self::Owner(owner) => owner.token_id.as_ref(),
            Self::Client(client) => client.token_id.as_ref(),
        }
    }

    /// The client, unless it is the owner.
    pub fn client_id(&self) -> Option<&ClientId> {
        match self {
            Self::Owner(_) => None,
            Self::Client(client) => Some(&client.client_id),
        }
    }

    /// The grants, sorted by id; empty for the owner.
    pub fn grant_ids(&self) -> Vec<GrantId> {
        let Self::Client(client) = self else {
            return Vec::new();
        };
        let mut ids: Vec<_> = client.grants.iter().map(|grant| grant.id().clone()).collect();
        ids.sort();
        ids
    }
}

/// Recognises tokens. The local authorization server is one answer, introspection another.
#[async_trait]
pub trait TokenAuthority: Send + Sync {
    /// Whose token this is, as of now: a revocation bites on the next call.
    async fn introspect(&self, token: &Secret) -> Result<Principal, AuthError>;
}

/// Whom a token once stood for: enough to tell the owner who was turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// Whose data.
    pub subject_id: SubjectId,
    /// Which client; none for an owner token.
    pub client_id: Option<ClientId>,
    /// Which token; none for a caller in the same process.
    pub token_id: Option<TokenId>,
    /// Which grants.
    pub grant_ids: Vec<GrantId>,
}

/// Why a token stands for nobody.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// An unknown token.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// A token we know that opens nothing any more: expired, revoked, or left without a grant.
    #[error("{1}")]
    TurnedAway(Box<Bearer>, Denial),
    /// The authority itself failed.
    #[error("the token authority failed")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
