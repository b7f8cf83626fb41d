//! A bearer from a credential file: read once, read again when the server refuses it, renewed when it can be.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use pdpp_wire::Instant;
use tokio::sync::Mutex;

use super::file::CredentialFile;
use super::place::CacheRoots;
use super::refresh::refresh;
use crate::{Bearer, BearerSource, ClientError, CredentialError, ProviderUrl};

/// What is handed to another program should last so many seconds.
const A_WHILE: i64 = 60;

/// What time it is; passed in, like everywhere.
pub type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

/// The credential of one server. Another process may renew the same file at any time.
pub struct CachedCredential {
    path: PathBuf,
    kept: Arc<Shared>,
}

struct Shared {
    provider_url: ProviderUrl,
    now: Now,
    /// Held while the token is renewed, so that calls side by side renew it once.
    file: Mutex<CredentialFile>,
}

impl fmt::Debug for CachedCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedCredential").field("path", &self.path).finish_non_exhaustive()
    }
}

impl CachedCredential {
    /// Finds a server's credential. The first file that is there decides; one that is expired is taken if it can
    /// be renewed.
    pub fn open(provider_url: &ProviderUrl, roots: &CacheRoots, now: Now) -> Result<Self, CredentialError> {
        for path in roots.candidates(provider_url) {
            let Some(file) = CredentialFile::read(&path, provider_url)? else { continue };
            if file.has_ended(now()) || (file.is_expired(now()) && file.renewal.is_none()) {
                return Err(expired(&file, provider_url));
            }
            let file = Mutex::new(file);
            return Ok(Self {
                path,
                kept: Arc::new(Shared { provider_url: provider_url.clone(), now, file }),
            });
        }
        let looked_in = roots.file(provider_url);
        Err(CredentialError::NotConnected { provider_url: provider_url.to_string(), looked_in })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A bearer that lasts a while: one that is about to end is renewed first, where that is possible.
    pub async fn fresh_bearer(&self) -> Result<Bearer, CredentialError> {
        let (bearer, ending) = {
            let file = self.kept.file.lock().await;
            let soon = (self.kept.now)().plus_seconds(A_WHILE);
            (file.access_token.clone(), file.is_expired(soon) && file.renewal.is_some())
        };
        if ending { self.newer_than(bearer).await } else { Ok(bearer) }
    }

    /// Renews in a task of its own: a caller that gives up must not lose the tokens that are on their way.
    async fn newer_than(&self, refused: Bearer) -> Result<Bearer, CredentialError> {
        let kept = Arc::clone(&self.kept);
        let renewal = tokio::spawn(async move { kept.newer_than(&refused).await }).await;
        renewal.unwrap_or_else(|_| {
            let problem = "renewing it failed".to_owned();
            let provider_url = self.kept.provider_url.to_string();
            Err(CredentialError::Invalid { provider_url, path: self.path.clone(), problem })
        })
    }
}

impl Shared {
    /// A token of the same file that is not `refused`: one that another call or another process got, else a
    /// renewed one.
    async fn newer_than(&self, refused: &Bearer) -> Result<Bearer, CredentialError> {
        let mut file = self.file.lock().await;
        if let Some(bearer) = self.usable(&file, refused) {
            return Ok(bearer);
        }
        self.read_again(&mut file)?;
        if let Some(bearer) = self.usable(&file, refused) {
            return Ok(bearer);
        }
        let problem = match self.renew(&mut file).await {
            Ok(bearer) => return Ok(bearer),
            Err(problem) => problem,
        };
        // Another process may have used the same refresh token a moment earlier.
        self.read_again(&mut file)?;
        if let Some(bearer) = self.usable(&file, refused) {
            return Ok(bearer);
        }
        match problem {
            Some(problem) => {
                Err(self.invalid(&file, format!("the token endpoint did not renew it: {problem}")))
            }
            None if file.is_expired((self.now)()) => Err(expired(&file, &self.provider_url)),
            None => Err(self.invalid(&file, "the server refuses it and there is no newer one".to_owned())),
        }
    }

    fn usable(&self, file: &CredentialFile, refused: &Bearer) -> Option<Bearer> {
        let newer = file.access_token != *refused && !file.is_expired((self.now)());
        newer.then(|| file.access_token.clone())
    }

    /// Reads the same file again. A file that is gone was taken away on purpose.
    fn read_again(&self, file: &mut CredentialFile) -> Result<(), CredentialError> {
        *file = CredentialFile::read(&file.path, &self.provider_url)?.ok_or_else(|| {
            let provider_url = self.provider_url.to_string();
            CredentialError::NotConnected { provider_url, looked_in: file.path.clone() }
        })?;
        Ok(())
    }

    /// The renewed token, or why there is none; no reason means that there is nothing to renew with.
    async fn renew(&self, file: &mut CredentialFile) -> Result<Bearer, Option<String>> {
        let renewal = file.renewal.clone().filter(|_| !file.has_ended((self.now)())).ok_or(None)?;
        let renewed = refresh(&renewal, (self.now)()).await.map_err(Some)?;
        if let Err(error) = file.renew(renewed) {
            // The token still works for this process; the next one will have to connect again.
            tracing::warn!(%error, path = %file.path.display(), "the renewed credential could not be kept");
        }
        Ok(file.access_token.clone())
    }

    fn invalid(&self, file: &CredentialFile, problem: String) -> CredentialError {
        CredentialError::Invalid {
            provider_url: self.provider_url.to_string(),
            path: file.path.clone(),
            problem,
        }
    }
}

fn expired(file: &CredentialFile, provider_url: &ProviderUrl) -> CredentialError {
    let ends = [file.expires_at, file.ends_at].into_iter().flatten().min();
    let expired_at = ends.map(Instant::to_rfc3339).unwrap_or_default();
    CredentialError::Expired { provider_url: provider_url.to_string(), path: file.path.clone(), expired_at }
}

#[async_trait]
impl BearerSource for CachedCredential {
    async fn bearer(&self) -> Result<Bearer, ClientError> {
        let stale = {
            let file = self.kept.file.lock().await;
            if !file.is_expired((self.kept.now)()) {
                return Ok(file.access_token.clone());
            }
            file.access_token.clone()
        };
        Ok(self.newer_than(stale).await?)
    }

    async fn renewed(&self, refused: &Bearer) -> Option<Bearer> {
        let newer = self.newer_than(refused.clone()).await;
        newer.inspect_err(|error| tracing::debug!(%error, "there is no newer credential")).ok()
    }
}
