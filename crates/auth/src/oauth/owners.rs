//! Whose server this is: one owner's, as a personal one is, or several owners'.
//!
//! A stranger's request says nothing about whom it is for. Where there is one owner it is for that one; where there are
//! several it is for whoever opens it first, and until then it is in nobody's list and nobody's ledger.

use std::collections::BTreeSet;

use pdpp_store::{RegisteredClient, StagedRequest};
use pdpp_wire::{ClientId, Grant, SubjectId};

use super::registration::read;
use super::{AuthorizationServer, ClientMetadata, OAuthFault};

/// In whose ledger stands what nobody signed for, where there are several owners. It is no owner: it has no passphrase,
/// and nobody may be given its name.
pub const NOBODY: &str = "nobody";

impl AuthorizationServer {
    /// The only owner; none where there are several.
    pub async fn sole_owner(&self) -> Result<Option<SubjectId>, OAuthFault> {
        let mut owners = self.store().list_subjects(None, 2).await?;
        Ok(match owners.len() {
            0 => Some(self.settings.subject_id.clone()),
            1 => owners.pop(),
            _ => None,
        })
    }

    /// In whose ledger stands what nobody signed for.
    pub(super) async fn answerable(&self) -> Result<SubjectId, OAuthFault> {
        let nobody = || SubjectId::parse(NOBODY).expect("a plain id");
        Ok(self.sole_owner().await?.unwrap_or_else(nobody))
    }

    /// Every request that waits for this owner's decision, oldest first.
    pub async fn waiting_requests(&self, owner: &SubjectId) -> Result<Vec<StagedRequest>, OAuthFault> {
        Ok(match self.sole_owner().await? {
            Some(_) => self.store().list_requests(self.now()).await?,
            None => self.store().list_addressed(owner, self.now()).await?,
        })
    }

    /// The clients an owner may be told of: all that are kept, or those this one of several owners has dealt with.
    pub async fn clients(
        &self,
        owner: &SubjectId,
    ) -> Result<Vec<(RegisteredClient, ClientMetadata)>, OAuthFault> {
        let known = match self.sole_owner().await? {
            Some(_) => self.store().list_clients().await?,
            None => self.clients_of(owner).await?,
        };
        known.into_iter().map(|client| read(&client).map(|metadata| (client, metadata))).collect()
    }

    async fn clients_of(&self, owner: &SubjectId) -> Result<Vec<RegisteredClient>, OAuthFault> {
        let asked = self.store().list_addressed(owner, self.now()).await?;
        let mut ids: BTreeSet<ClientId> = asked.into_iter().map(|request| request.client_id).collect();
        for stored in self.store().list_grants(owner).await? {
            ids.extend(Grant::parse(&stored.standing.document).ok().map(|grant| grant.client.client_id));
        }
        let mut known = Vec::new();
        for id in ids {
            known.extend(self.store().find_client(&id).await?);
        }
        Ok(known)
    }

    /// Ends all access of a client to an owner's data, whoever registered it; where that owner is the only one, the
    /// client is forgotten too. Says whether there was anything to end.
    pub async fn forget_client(&self, owner: &SubjectId, client_id: &ClientId) -> Result<bool, OAuthFault> {
        let mut known = match self.sole_owner().await? {
            Some(_) => self.store().remove_client(client_id, self.now()).await?,
            None => false,
        };
        // A client the owner named on the command line is known by its grants alone.
        for stored in self.store().list_grants(owner).await? {
            let document = Grant::parse(&stored.standing.document);
            if document.is_ok_and(|document| document.client.client_id == *client_id) {
                self.authority.revoke(owner, &stored.grant_id).await?;
                known = true;
            }
        }
        for allowed in self.store().list_callbacks(owner).await? {
            if allowed.client_id == *client_id {
                self.store().forbid_callback(owner, client_id, &allowed.host, self.now()).await?;
                known = true;
            }
        }
        Ok(known)
    }
}
