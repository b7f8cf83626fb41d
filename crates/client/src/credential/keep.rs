//! Keeping what the owner approved, and giving it up again.

use std::fs;
use std::io;
use std::path::PathBuf;

use pdpp_wire::Instant;
use serde_json::{Value, json};

use super::file::CredentialFile;
use super::place::CacheRoots;
use super::private;
use crate::authorization::{ClientRegistration, Grant, ServerMetadata};
use crate::{Bearer, CredentialError, ProviderUrl};

/// Writes the credential file of a server, in place of any older one. After `ends_at` it is not used any more, however
/// long the server would have it.
pub fn keep(
    roots: &CacheRoots,
    provider_url: &ProviderUrl,
    (server, client): (&ServerMetadata, &ClientRegistration),
    grant: &Grant,
    ends_at: Option<Instant>,
    now: Instant,
) -> io::Result<PathBuf> {
    private::prepare(roots.root())?;
    let mut credential = json!({
        "access_token": grant.access_token.expose(),
        "token_type": "Bearer",
        "token_endpoint": server.token_endpoint,
        "client_id": client.client_id,
        "scope": "pdpp:read",
    });
    let optional = [
        ("expires_at", grant.expires_at.map(Instant::to_rfc3339)),
        ("refresh_token", grant.refresh_token.as_ref().map(|token| token.expose().to_owned())),
        ("revocation_endpoint", server.revocation_endpoint.clone()),
        ("grant_id", grant.grant_id.clone()),
        ("ends_at", ends_at.map(Instant::to_rfc3339)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            credential[name] = value.into();
        }
    }
    let document = json!({
        "provider_url": provider_url.as_str(),
        "authorization_server": server.issuer,
        "scope": "pdpp:read",
        "client": {
            "client_id": client.client_id, "client_name": client.client_name, "token_endpoint_auth_method": "none",
        },
        "credential": credential,
        "created_at": now.to_rfc3339(),
    });
    let path = roots.file(provider_url);
    private::write(&path, &document)?;
    Ok(path)
}

/// The client an earlier connection registered with this authorization server. A file that cannot be used says
/// nothing.
pub fn known_client(
    roots: &CacheRoots,
    provider_url: &ProviderUrl,
    issuer: &str,
) -> Option<ClientRegistration> {
    let text = private::read(&roots.file(provider_url)).ok()?;
    let document: Value = serde_json::from_slice(&text).ok()?;
    let member = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    if member("/authorization_server")? != issuer {
        return None;
    }
    Some(ClientRegistration {
        client_id: member("/client/client_id")?,
        client_name: member("/client/client_name").unwrap_or_default(),
    })
}

/// What it takes to end a kept credential at its server.
pub struct Kept {
    /// Who it was given to.
    pub client_id: Option<String>,
    /// Who gave it.
    pub authorization_server: Option<String>,
    /// Where it is ended.
    pub revocation_endpoint: Option<String>,
    /// The token that ends all of it, or the access token where there is no other.
    pub token: Bearer,
    /// When it ends by itself.
    pub expires_at: Option<Instant>,
    /// Every file that holds it.
    pub files: Vec<PathBuf>,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Kept {
    /// Finds a server's credential, also one that has expired.
    pub fn find(roots: &CacheRoots, provider_url: &ProviderUrl) -> Result<Self, CredentialError> {
        let mut found: Option<Self> = None;
        for path in roots.candidates(provider_url) {
            let Some(file) = CredentialFile::read(&path, provider_url)? else { continue };
            let text = |path: &[&str]| file.text(path).map(str::to_owned);
            let kept = found.get_or_insert_with(|| Self {
                client_id: text(&["credential", "client_id"]).or_else(|| text(&["client", "client_id"])),
                authorization_server: text(&["authorization_server"]),
                revocation_endpoint: text(&["credential", "revocation_endpoint"]),
                token: text(&["credential", "refresh_token"])
                    .map_or_else(|| file.access_token.clone(), Bearer::new),
                expires_at: file.expires_at,
                files: Vec::new(),
            });
            kept.files.push(path);
        }
        found.ok_or_else(|| CredentialError::NotConnected {
            provider_url: provider_url.to_string(),
            looked_in: roots.file(provider_url),
        })
    }
}

/// Removes the files of a credential.
pub fn forget(kept: &Kept) -> io::Result<()> {
    kept.files.iter().try_for_each(|path| match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    })
}
