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

/// Where `pdpp serve` listens when nobody says otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:7663";

impl CacheArgs {
    /// The server that is meant: the one given, the one of the environment, the only one there is a credential for, or
    /// the one on this machine.
    pub(crate) fn provider(&self, given: Option<&str>) -> Result<ProviderUrl, String> {
        let said = given.map(str::to_owned).or_else(|| variable("PDPP_PROVIDER_URL"));
        if let Some(text) = said {
            return ProviderUrl::parse(&text).map_err(|error| error.to_string());
        }
        let usual = ProviderUrl::parse(DEFAULT_URL).map_err(|error| error.to_string())?;
        // A token of the environment says nothing about whose it is; the cache would be guessing.
        if variable(CLIENT_TOKEN).is_some() {
            return Ok(usual);
        }
        let mut connected = self.roots().connected();
        match connected.len() {
            0 => Ok(usual),
            1 => Ok(connected.remove(0)),
            _ if connected.contains(&usual) => Ok(usual),
            _ => {
                let names: Vec<String> = connected.iter().map(ToString::to_string).collect();
                Err(format!("you are connected to several servers; say which: {}", names.join(", ")))
            }
        }
    }

    /// The credential for a server. A directory that was named is the only one looked in.
    pub(crate) fn find(&self, provider_url: &ProviderUrl) -> Result<Found, CredentialError> {
        if let Some(token) = variable(CLIENT_TOKEN) {
            let bearer = Arc::new(FixedBearer(Bearer::new(token)));
            return Ok(Found { bearer, place: CLIENT_TOKEN.to_owned() });
        }
        let kept = self.open(provider_url)?;
        let place = kept.path().display().to_string();
        Ok(Found { bearer: Arc::new(kept), place })
    }

    /// The kept credential for a server, whatever the environment says.
    pub(crate) fn open(&self, provider_url: &ProviderUrl) -> Result<CachedCredential, CredentialError> {
        let now: Now = Arc::new(|| SystemClock.now());
        CachedCredential::open(provider_url, &self.roots(), now)
    }

    /// Where credentials are looked for; the first is where they are written.
    pub(crate) fn roots(&self) -> CacheRoots {
        let here = PathBuf::from(".pdpp");
        let own = ProjectDirs::from("", "", "pdpp").map(|dirs| dirs.config_dir().to_owned());
        match (self.given(), own) {
            (Some(root), _) => CacheRoots::only(root.clone()),
            (None, Some(own)) => CacheRoots::with_fallback(own, here),
            (None, None) => CacheRoots::only(here),
        }
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
