//! Where credentials are kept: one file per server.
//!
//! The name holds the host, for people, and a digest of the whole address, because two servers may share a host.
//! An older name without the digest is still read, if the file says that it is for this address.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::ProviderUrl;

/// Nobody is connected to more servers than this.
const MOST_FILES: usize = 1_000;

/// The directories to look in, in order; the first is where `pdpp connect` writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheRoots {
    root: PathBuf,
    fallback: Option<PathBuf>,
}

impl CacheRoots {
    /// One directory and no other.
    pub fn only(root: PathBuf) -> Self {
        Self { root, fallback: None }
    }

    /// A directory, and another that is read when the first has nothing.
    pub fn with_fallback(root: PathBuf, fallback: PathBuf) -> Self {
        Self { root, fallback: Some(fallback) }
    }

    /// The file of a server.
    pub fn file(&self, provider_url: &ProviderUrl) -> PathBuf {
        current(&self.root, provider_url)
    }

    /// The directory that is written to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The servers there is a credential file for, in the order of their names. Files that do not say whose they are,
    /// and files nobody can read, are left out.
    pub fn connected(&self) -> Vec<ProviderUrl> {
        let mut found = BTreeSet::new();
        for root in [Some(&self.root), self.fallback.as_ref()].into_iter().flatten() {
            let Ok(entries) = std::fs::read_dir(root.join("clients")) else { continue };
            for entry in entries.flatten().take(MOST_FILES) {
                let path = entry.path();
                if path.extension().is_some_and(|ending| ending == "json") {
                    found.extend(super::file::provider_of(&path).map(|url| url.to_string()));
                }
            }
        }
        found.iter().filter_map(|url| ProviderUrl::parse(url).ok()).collect()
    }

    /// Every place a server's credential may be in, the best first.
    pub(super) fn candidates(&self, provider_url: &ProviderUrl) -> Vec<PathBuf> {
        let roots = [Some(&self.root), self.fallback.as_ref()];
        let both = |root: &PathBuf| [current(root, provider_url), older(root, provider_url)];
        roots.into_iter().flatten().flat_map(both).collect()
    }
}

fn current(root: &Path, provider_url: &ProviderUrl) -> PathBuf {
    let mut name = host_key(provider_url);
    name.push('-');
    for byte in &Sha256::digest(provider_url.as_str())[..8] {
        write!(name, "{byte:02x}").expect("writing to a string cannot fail");
    }
    root.join("clients").join(name + ".json")
}

fn older(root: &Path, provider_url: &ProviderUrl) -> PathBuf {
    root.join("clients").join(host_key(provider_url) + ".json")
}

fn host_key(provider_url: &ProviderUrl) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    provider_url.host_and_port().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_two_names_in_each_directory() {
        let roots = CacheRoots::with_fallback("/c".into(), "/w/.pdpp".into());
        let url = ProviderUrl::parse("http://localhost:7663/").unwrap();
        let found: Vec<String> =
            roots.candidates(&url).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], "/c/clients/localhost_7663.json");
        assert_eq!(found[3], "/w/.pdpp/clients/localhost_7663.json");
        assert_eq!(roots.file(&url).display().to_string(), found[0]);
        let name =
            found[0].strip_prefix("/c/clients/localhost_7663-").unwrap().strip_suffix(".json").unwrap();
        assert!(name.len() == 16 && name.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
    }

    #[test]
    fn two_servers_on_one_host_have_two_files() {
        let roots = CacheRoots::only("/c".into());
        let file = |url| roots.file(&ProviderUrl::parse(url).unwrap());
        assert_ne!(file("https://a.example/x"), file("https://a.example/y"));
        assert_eq!(file("a.example"), file("https://A.example:443/"));
    }
}
