//! Who a client id stands for: part of this program, registered here, or described at its own address.
//!
//! A metadata document is fetched through [`MetadataDocuments`], whose implementation guards where the server may
//! connect to. What was read is kept, so that a change of what matters ends the client's access also when the server
//! was restarted in between, and so that refreshing needs no fetch.

use async_trait::async_trait;
use pdpp_store::{ClientPut, ClientSource, RegisteredClient};
use pdpp_wire::{ClientId, Instant, OAuthCode};
use serde_json::{Map, Value};

use super::metadata::{CODE, DEVICE, REFRESH};
use super::registration::{read, stored};
use super::{AuthorizationServer, ClientMetadata, OAuthFault, RedirectUri};

/// The command line of this program, known everywhere.
pub(crate) const CLI: &str = "pdpp_cli";

/// A fetched metadata document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its members.
    pub members: Map<String, Value>,
}

/// Fetches client metadata documents: bounded, guarded, cached, without following redirects.
#[async_trait]
pub trait MetadataDocuments: Send + Sync {
    /// The document at this https address, or why there is none, in a sentence.
    async fn fetch(&self, url: &str) -> Result<Document, String>;

    /// Whether documents are fetched at all, and so whether the metadata may say that they are.
    fn is_open(&self) -> bool {
        true
    }
}

/// Fetches nothing: clients described at their own address are then not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDocuments;

#[async_trait]
impl MetadataDocuments for NoDocuments {
    async fn fetch(&self, _url: &str) -> Result<Document, String> {
        Err("This server fetches no client metadata documents.".to_owned())
    }

    fn is_open(&self) -> bool {
        false
    }
}

/// A client as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownClient {
    /// Its id.
    pub client_id: ClientId,
    /// How it became known.
    pub source: ClientSource,
    /// What it says about itself.
    pub metadata: ClientMetadata,
    /// When it was first seen; never for part of this program.
    pub first_seen: Option<Instant>,
}

impl KnownClient {
    /// The web origin that stands for the client, if its id proves one.
    pub fn verified_origin(&self) -> Option<String> {
        match self.source {
            ClientSource::MetadataDocument => {
                Some(self.client_id.as_str().split('/').take(3).collect::<Vec<_>>().join("/"))
            }
            _ => None,
        }
    }
}

impl AuthorizationServer {
    /// Who starts a request. A described client is looked up at its address each time (the fetcher caches).
    pub(super) async fn starting_client(&self, client_id: &str) -> Result<KnownClient, OAuthFault> {
        if client_id.starts_with("https://") {
            return self.described(client_id).await;
        }
        self.known_client(client_id).await
    }

    /// Whether a web page of this origin belongs to the client: it is where the owner's answer was sent, or where the
    /// client's own description lies.
    pub async fn is_page_of(&self, client_id: &ClientId, origin: &str) -> bool {
        let Ok(client) = self.known_client(client_id.as_str()).await else { return false };
        let described_at = client.verified_origin().map(|own| format!("{own}/"));
        let asked = format!("{origin}/");
        let Ok(asked) = RedirectUri::parse(&asked) else { return false };
        let mut own = client.metadata.redirect_uris.iter().chain(&described_at);
        own.any(|uri| RedirectUri::parse(uri).is_ok_and(|uri| uri.origin() == asked.origin()))
    }

    /// Who comes back: only what is kept counts.
    pub(super) async fn known_client(&self, client_id: &str) -> Result<KnownClient, OAuthFault> {
        let unknown = || OAuthFault::refused(OAuthCode::InvalidClient, "The client is not known here.");
        let id = ClientId::parse(client_id).map_err(|_| unknown())?;
        if client_id == CLI {
            return Ok(command_line(id));
        }
        let client = self.store().find_client(&id).await?.ok_or_else(unknown)?;
        let metadata = read(&client)?;
        Ok(KnownClient {
            client_id: id,
            source: client.source,
            metadata,
            first_seen: Some(client.first_seen),
        })
    }

    async fn described(&self, url: &str) -> Result<KnownClient, OAuthFault> {
        let refused = |message: &str| OAuthFault::refused(OAuthCode::InvalidClient, message);
        let id = ClientId::parse(url).map_err(|_| refused("The client id is not usable."))?;
        check_address(url).map_err(refused)?;
        let document = self.documents.fetch(url).await.map_err(|problem| refused(&problem))?;
        if document.members.get("client_id").and_then(Value::as_str) != Some(url) {
            return Err(refused("The metadata document is that of another client."));
        }
        let mut members = document.members;
        members.shift_remove("client_id");
        let metadata = ClientMetadata::parse(&members)?;
        let own = RedirectUri::parse(url).map_err(refused)?;
        let foreign = |uri: &String| {
            !RedirectUri::parse(uri).is_ok_and(|uri| uri.origin() == own.origin() || uri.is_loopback())
        };
        if metadata.redirect_uris.iter().any(foreign) {
            return Err(refused("A redirect URI of the metadata document leads to another origin."));
        }
        let now = self.now();
        let client = RegisteredClient {
            client_id: id.clone(),
            source: ClientSource::MetadataDocument,
            metadata: stored(&metadata),
            security_hash: metadata.security_hash(),
            first_seen: now,
            subject_id: None,
            registration_token: None,
        };
        if self.store().put_client(&client, now).await? == ClientPut::Changed {
            self.note(
                "",
                "client.metadata_changed",
                super::Entry { client_id: Some(id.clone()), ..super::Entry::default() },
            )
            .await?;
        }
        self.known_client(id.as_str()).await
    }
}

/// The rules for a client id that is an address.
fn check_address(url: &str) -> Result<(), &'static str> {
    RedirectUri::parse(url).map_err(|_| "The client id is not a plain https address.")?;
    let path = url.splitn(4, '/').nth(3).unwrap_or("");
    let path = path.split('?').next().unwrap_or("");
    let dots = |segment: &str| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    };
    if path.is_empty() || path.split('/').any(dots) {
        return Err("The client id needs a path of its own, without dot segments.");
    }
    Ok(())
}

fn command_line(client_id: ClientId) -> KnownClient {
    let metadata = ClientMetadata {
        client_name: Some("PDPP command line".to_owned()),
        redirect_uris: vec!["http://127.0.0.1/callback".to_owned(), "http://localhost/callback".to_owned()],
        grant_types: [CODE, REFRESH, DEVICE].map(str::to_owned).to_vec(),
        application_type: "native".to_owned(),
        ..ClientMetadata::default()
    };
    KnownClient { client_id, source: ClientSource::PreRegistered, metadata, first_seen: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_id_that_is_an_address_has_a_path_and_no_tricks() {
        for good in ["https://app.test/client.json", "https://app.test/a/b?c=1"] {
            assert_eq!(check_address(good), Ok(()), "{good}");
        }
        for bad in [
            "https://app.test",
            "https://app.test/",
            "https://app.test/a/../b",
            "https://app.test/%2E%2e/b",
            "https://u@app.test/a",
            "https://app.test/a#b",
            "http://app.test/a",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }
}
