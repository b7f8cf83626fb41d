//! Dynamic registration (RFC 7591), and the address a registration is managed at (RFC 7592).

use pdpp_access::Secret;
use pdpp_store::{ClientSource, RegisteredClient, StoreError};
use pdpp_wire::{ClientId, Code, Instant, OAuthCode, SubjectId};
use serde_json::{Map, Value};

use super::{AuthorizationServer, ClientMetadata, OAuthFault, handles};

/// A client that has just registered.
#[derive(Clone, Debug)]
pub struct Registered {
    /// Its id.
    pub client_id: ClientId,
    /// When.
    pub issued_at: Instant,
    /// What was accepted.
    pub metadata: ClientMetadata,
    /// What manages the registration: shown once, kept only as a hash.
    pub registration_token: Secret,
}

impl AuthorizationServer {
    /// Registers a client that describes itself; `subject_id` is the owner who is signed in, if one is.
    pub async fn register(
        &self,
        members: &Map<String, Value>,
        subject_id: Option<&SubjectId>,
    ) -> Result<Registered, OAuthFault> {
        if !self.settings.dynamic_registration {
            return Err(OAuthFault::denied(Code::NotFound, "Clients cannot register themselves here."));
        }
        let metadata = ClientMetadata::parse(members)?;
        let (now, token) = (self.now(), handles::secret(self.entropy(), "reg_"));
        let client_id = handles::dynamic_client_id(self.entropy());
        let client = RegisteredClient {
            client_id: client_id.clone(),
            source: ClientSource::Dynamic,
            metadata: stored(&metadata),
            security_hash: metadata.security_hash(),
            first_seen: now,
            subject_id: subject_id.cloned(),
            registration_token: Some(token.hash()),
        };
        self.store().put_client(&client, now).await?;
        Ok(Registered { client_id, issued_at: now, metadata, registration_token: token })
    }

    /// What a client registered, for whoever holds its registration token.
    pub async fn registration(
        &self,
        client_id: &str,
        token: &Secret,
    ) -> Result<(RegisteredClient, ClientMetadata), OAuthFault> {
        let refused =
            || OAuthFault::refused(OAuthCode::InvalidToken, "The registration token does not serve.");
        let client_id = ClientId::parse(client_id).map_err(|_| refused())?;
        let client = self.store().find_client(&client_id).await?.ok_or_else(refused)?;
        if client.registration_token != Some(token.hash()) {
            return Err(refused());
        }
        let metadata = read(&client)?;
        Ok((client, metadata))
    }

    /// Removes a client and ends all its access: for the client itself, by its registration token.
    pub async fn unregister(&self, client_id: &str, token: &Secret) -> Result<(), OAuthFault> {
        let (client, _) = self.registration(client_id, token).await?;
        self.store().remove_client(&client.client_id, self.now()).await?;
        Ok(())
    }
}

pub(super) fn stored(metadata: &ClientMetadata) -> String {
    serde_json::to_string(metadata).expect("metadata is plain data")
}

pub(super) fn read(client: &RegisteredClient) -> Result<ClientMetadata, OAuthFault> {
    let damaged = |_| StoreError::Damaged("a client's metadata cannot be read".to_owned());
    Ok(serde_json::from_str(&client.metadata).map_err(damaged)?)
}
