//! The credential of commands that are clients of a server: a token in the environment, else the cache.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use directories::ProjectDirs;
use pdpp_access::Clock as _;
use pdpp_client::{
    Bearer, BearerSource, CacheRoots, CachedCredential, CredentialError, FixedBearer, Now, ProviderUrl,
};
use pdpp_server::SystemClock;

/// The variable that holds a client token.
pub(crate) const CLIENT_TOKEN: &str = "PDPP_CLIENT_TOKEN";

/// Where credentials are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct CacheArgs {
    /// Where `pdpp connect` keeps credentials [default: the platform's configuration directory, then ./.pdpp]
    #[arg(long, value_name = "DIR", env = "PDPP_CACHE_ROOT")]
    cache_root: Option<PathBuf>,
}

/// A bearer, and in words where it came from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) bearer: Arc<dyn BearerSource>,
    pub(crate) place: String,
}

impl CacheArgs {
    /// The credential for a server. A directory that was named is the only one looked in.
    pub(crate) fn find(&self, provider_url: &ProviderUrl) -> Result<Found, CredentialError> {
        if let Some(token) = variable(CLIENT_TOKEN) {
            let bearer = Arc::new(FixedBearer(Bearer::new(token)));
            return Ok(Found { bearer, place: CLIENT_TOKEN.to_owned() });
        }
        let here = PathBuf::from(".pdpp");
        let own = ProjectDirs::from("", "", "pdpp").map(|dirs| dirs.config_dir().to_owned());
        let roots = match (self.given(), own) {
            (Some(root), _) => CacheRoots::only(root.clone()),
            (None, Some(own)) => CacheRoots::with_fallback(own, here),
            (None, None) => CacheRoots::only(here),
        };
        let now: Now = Arc::new(|| SystemClock.now());
        let kept = CachedCredential::open(provider_url, &roots, now)?;
        let place = kept.path().display().to_string();
        Ok(Found { bearer: Arc::new(kept), place })
    }

    /// The directory that was named, if one was.
    pub(crate) fn given(&self) -> Option<&PathBuf> {
        self.cache_root.as_ref().filter(|root| !root.as_os_str().is_empty())
    }
}

/// A variable of the environment that says something.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
