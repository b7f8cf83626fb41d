//! One credential file: read with care, renewed in place.

use std::io;
use std::path::{Path, PathBuf};

use pdpp_wire::Instant;
use serde_json::Value;

use super::private;
use crate::{Bearer, CredentialError, ProviderUrl};

/// The members that may say whose token it is.
const KINDS: [&str; 4] = ["pdpp_token_kind", "token_kind", "kind", "role"];

/// A file that was read and may be used, whether or not its access token is still fresh.
pub(super) struct CredentialFile {
    pub(super) path: PathBuf,
    /// The whole document, so that a renewal keeps what it does not know.
    document: Value,
    pub(super) access_token: Bearer,
    pub(super) expires_at: Option<Instant>,
    /// When whoever connected wanted it to end, renewed or not.
    pub(super) ends_at: Option<Instant>,
    pub(super) renewal: Option<Renewal>,
}

/// What it takes to ask for a newer access token of the same grant.
#[derive(Clone)]
pub(super) struct Renewal {
    pub(super) token_endpoint: String,
    pub(super) client_id: Option<String>,
    pub(super) refresh_token: Bearer,
}

/// What the token endpoint gave.
pub(super) struct Renewed {
    pub(super) access_token: Bearer,
    pub(super) expires_at: Option<Instant>,
    pub(super) refresh_token: Option<Bearer>,
}

impl CredentialFile {
    /// Reads a server's file; nothing when there is none here, or when it is another server's.
    pub(super) fn read(path: &Path, provider_url: &ProviderUrl) -> Result<Option<Self>, CredentialError> {
        let invalid = |problem: &str| CredentialError::Invalid {
            provider_url: provider_url.to_string(),
            path: path.to_owned(),
            problem: problem.to_owned(),
        };
        let text = match private::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(invalid(&format!("it cannot be read ({error})"))),
        };
        // What a parser complains about may quote the file, and the file holds a token.
        let document: Value = serde_json::from_slice(&text).map_err(|_| invalid("it is not JSON"))?;
        if let Some(own) = document.get("provider_url").and_then(Value::as_str)
            && ProviderUrl::parse(own).as_ref() != Ok(provider_url)
        {
            return Ok(None);
        }
        if is_owners(&document) {
            let (provider_url, path) = (provider_url.to_string(), path.to_owned());
            return Err(CredentialError::OwnerRefused { provider_url, path });
        }
        let member = |name: &str| text_at(&document, &["credential", name]);
        let access_token = member("access_token").ok_or_else(|| invalid("it holds no access token"))?;
        let renewal = member("refresh_token").zip(member("token_endpoint")).map(|(token, endpoint)| {
            let client_id = member("client_id").or_else(|| text_at(&document, &["client", "client_id"]));
            Renewal {
                token_endpoint: endpoint.to_owned(),
                client_id: client_id.map(str::to_owned),
                refresh_token: Bearer::new(token),
            }
        });
        Ok(Some(Self {
            path: path.to_owned(),
            access_token: Bearer::new(access_token),
            expires_at: member("expires_at").and_then(Instant::parse),
            ends_at: member("ends_at").and_then(Instant::parse),
            renewal,
            document,
        }))
    }

    /// The access token can no longer be used.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.has_ended(now) || self.expires_at.is_some_and(|at| at <= now)
    }

    /// It can no longer be renewed either.
    pub(super) fn has_ended(&self, now: Instant) -> bool {
        self.ends_at.is_some_and(|at| at <= now)
    }

    /// Takes the newer tokens in and keeps them, all or nothing: a crash leaves the old file or the new one.
    pub(super) fn renew(&mut self, renewed: Renewed) -> io::Result<()> {
        let credential = &mut self.document["credential"];
        credential["access_token"] = renewed.access_token.expose().into();
        credential["expires_at"] = renewed.expires_at.map(Instant::to_rfc3339).into();
        if let Some(token) = &renewed.refresh_token {
            credential["refresh_token"] = token.expose().into();
        }
        self.access_token = renewed.access_token;
        self.expires_at = renewed.expires_at;
        if let (Some(renewal), Some(token)) = (&mut self.renewal, renewed.refresh_token) {
            renewal.refresh_token = token;
        }
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        private::write(&self.path, &self.document)
    }

    /// What the document says at this path.
    pub(super) fn text(&self, path: &[&str]) -> Option<&str> {
        text_at(&self.document, path)
    }
}

/// The server a file says it is for.
pub(super) fn provider_of(path: &Path) -> Option<ProviderUrl> {
    let document: Value = serde_json::from_slice(&private::read(path).ok()?).ok()?;
    ProviderUrl::parse(text_at(&document, &["provider_url"])?).ok()
}

/// Whether the document, or the credential in it, says that the token is an owner's.
pub(crate) fn is_owners(document: &Value) -> bool {
    let says_owner = |value: &Value| {
        KINDS
            .iter()
            .filter_map(|name| value.get(name)?.as_str())
            .any(|kind| kind.eq_ignore_ascii_case("owner"))
    };
    says_owner(document) || document.get("credential").is_some_and(says_owner)
}

fn text_at<'v>(document: &'v Value, path: &[&str]) -> Option<&'v str> {
    let value = path.iter().try_fold(document, |value, name| value.get(name))?;
    value.as_str().map(str::trim).filter(|text| !text.is_empty())
}
