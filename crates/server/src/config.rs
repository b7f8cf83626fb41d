//! Settings: one optional file in the data directory, flags and variables above it, defaults below.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use pdpp_access::Secret;
use pdpp_store_postgres::DatabaseUrlError;
use pdpp_wire::SubjectId;
use serde::{Deserialize, Deserializer};

use crate::peer::Network;

/// Keys whose lines are never shown.
const SECRET_KEYS: [&str; 2] = ["introspection_secret", "database_url"];

/// The optional configuration file in the data directory.
pub const CONFIG_FILE: &str = "pdpp.toml";

/// What the file may say. Every key is also a flag of `pdpp serve` and a `PDPP_*` variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// Where the server listens.
    pub listen: Option<SocketAddr>,
    /// The address clients use.
    pub public_url: Option<String>,
    /// Further host names the server answers for.
    #[serde(default)]
    pub allow_host: Vec<String>,
    /// What the owner calls this server.
    pub resource_name: Option<String>,
    /// Where Prometheus metrics are served.
    pub metrics_listen: Option<SocketAddr>,
    /// How log lines look.
    pub log_format: Option<LogFormat>,
    /// What is logged.
    pub log_level: Option<String>,
    /// How long a read may take, in seconds.
    pub read_deadline: Option<u64>,
    /// Requests served at the same time.
    pub concurrent_requests: Option<usize>,
    /// Requests one client's token may make in a minute.
    pub requests_per_minute: Option<u32>,
    /// Proxies whose forwarded headers count.
    #[serde(default)]
    pub trusted_proxy: Vec<Network>,
    /// How long the disclosure ledger is kept, in days.
    pub ledger_days: Option<u32>,
    /// Whether events may be sent to receivers on this machine, for development.
    pub allow_loopback_callbacks: Option<bool>,
    /// The name a separate resource server introspects tokens with.
    pub introspection_id: Option<String>,
    /// Its secret; without one, introspection is open to nobody.
    #[serde(default, deserialize_with = "secret")]
    pub introspection_secret: Option<Secret>,
    /// Whose data local commands work on.
    pub subject: Option<SubjectId>,
    /// The database the data is in, instead of the data directory.
    #[serde(default, deserialize_with = "secret")]
    pub database_url: Option<Secret>,
    /// A file that holds the database's address, so that it stands nowhere else.
    pub database_url_file: Option<PathBuf>,
    /// Where a database's attachments are kept.
    pub blobs_url: Option<String>,
    /// The address of the object store.
    pub blobs_endpoint: Option<String>,
    /// The region of the object store.
    pub blobs_region: Option<String>,
    /// The key that webhook secrets are sealed under, the same on every node.
    pub secrets_key_file: Option<PathBuf>,
    /// How much of this machine's disk search indexes may take, in bytes.
    pub search_cache_bytes: Option<u64>,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// What `serve` runs with, every choice made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeConfig {
    /// Where the server listens.
    pub listen: SocketAddr,
    /// The address clients use, without a trailing slash.
    pub public_url: Option<String>,
    /// Further host names the server answers for.
    pub allow_host: Vec<String>,
    /// What the owner calls this server.
    pub resource_name: String,
    /// Where Prometheus metrics are served, if anywhere.
    pub metrics_listen: Option<SocketAddr>,
    /// How long a read may take, in seconds.
    pub read_deadline: u64,
    /// Requests served at the same time.
    pub concurrent_requests: usize,
    /// Requests one client's token may make in a minute; 0 means any number.
    pub requests_per_minute: u32,
    /// Proxies whose forwarded headers count.
    pub trusted_proxy: Vec<Network>,
    /// How long the disclosure ledger is kept, in days.
    pub ledger_days: u32,
    /// Whether events may be sent to receivers on this machine.
    pub allow_loopback_callbacks: bool,
    /// Name and secret of a separate resource server; random, and so useless, when nothing is said.
    pub introspection: Option<(String, Secret)>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there but cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file says something we do not understand.
    #[error("{path} is not valid: {problem}")]
    Invalid {
        /// Which file.
        path: String,
        /// What is wrong, with its place.
        problem: String,
    },
    /// The public URL cannot be used.
    #[error(
        "--public-url {0}: give the address clients use, such as https://data.example.org; plain http only reaches this machine itself"
    )]
    PublicUrl(String),
    /// The database cannot be used.
    #[error("--database-url: {0}")]
    Database(#[from] DatabaseUrlError),
    /// The database is named twice.
    #[error("--database-url and --database-url-file name the database twice; give one of them")]
    TwoDatabases,
    /// Said of a store that has its attachments with it.
    #[error(
        "--blobs-url, --blobs-endpoint and --blobs-region go with --database-url: a data directory keeps its \
         attachments itself"
    )]
    BlobsWithoutDatabase,
    /// Said of a directory.
    #[error("--blobs-endpoint and --blobs-region go with --blobs-url s3://BUCKET/PREFIX")]
    EndpointWithoutBucket,
}

impl ConfigFile {
    /// Reads the file of a data directory; absent means empty.
    pub fn read(data: &Path) -> Result<Self, ConfigError> {
        let path = data.join(CONFIG_FILE);
        let shown = path.display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| ConfigError::Invalid {
                path: shown,
                problem: without_secrets(&error, &text),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Unreadable { path: shown, source }),
        }
    }

    /// What is said here wins over what the other says.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        // Whoever names a database in one way means no other that is named in another.
        let (database_url, database_url_file) = match (self.database_url, self.database_url_file) {
            (None, None) => (other.database_url, other.database_url_file),
            named => named,
        };
        Self {
            listen: self.listen.or(other.listen),
            public_url: self.public_url.or(other.public_url),
            allow_host: if self.allow_host.is_empty() { other.allow_host } else { self.allow_host },
            resource_name: self.resource_name.or(other.resource_name),
            metrics_listen: self.metrics_listen.or(other.metrics_listen),
            log_format: self.log_format.or(other.log_format),
            log_level: self.log_level.or(other.log_level),
            read_deadline: self.read_deadline.or(other.read_deadline),
            concurrent_requests: self.concurrent_requests.or(other.concurrent_requests),
            requests_per_minute: self.requests_per_minute.or(other.requests_per_minute),
            trusted_proxy: if self.trusted_proxy.is_empty() {
                other.trusted_proxy
            } else {
                self.trusted_proxy
            },
            ledger_days: self.ledger_days.or(other.ledger_days),
            allow_loopback_callbacks: self.allow_loopback_callbacks.or(other.allow_loopback_callbacks),
            introspection_id: self.introspection_id.or(other.introspection_id),
            introspection_secret: self.introspection_secret.or(other.introspection_secret),
            subject: self.subject.or(other.subject),
            database_url,
            database_url_file,
            blobs_url: self.blobs_url.or(other.blobs_url),
            blobs_endpoint: self.blobs_endpoint.or(other.blobs_endpoint),
            blobs_region: self.blobs_region.or(other.blobs_region),
            secrets_key_file: self.secrets_key_file.or(other.secrets_key_file),
            search_cache_bytes: self.search_cache_bytes.or(other.search_cache_bytes),
        }
    }

    /// Fills in the defaults and checks what can be checked alone.
    pub fn resolve(self) -> Result<ServeConfig, ConfigError> {
        let public_url = self.public_url.map(|url| checked_url(&url)).transpose()?;
        Ok(ServeConfig {
            listen: self.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 7663))),
            public_url,
            allow_host: self.allow_host,
            resource_name: self.resource_name.unwrap_or_else(|| "My Data".to_owned()),
            metrics_listen: self.metrics_listen,
            read_deadline: self.read_deadline.unwrap_or(30).clamp(1, 3600),
            concurrent_requests: self.concurrent_requests.unwrap_or(256).clamp(1, 65_536),
            requests_per_minute: self.requests_per_minute.unwrap_or(6_000),
            trusted_proxy: self.trusted_proxy,
            ledger_days: self.ledger_days.unwrap_or(400),
            allow_loopback_callbacks: self.allow_loopback_callbacks.unwrap_or(false),
            introspection: self.introspection_secret.map(|secret| {
                let name = self.introspection_id.unwrap_or_else(|| "resource-server".to_owned());
                (name, secret)
            }),
        })
    }
}

/// What is wrong with the file, with the line it is in unless that line may hold a secret.
fn without_secrets(error: &toml::de::Error, text: &str) -> String {
    let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(text);
    let (number, start) = (before.matches('\n').count(), before.rfind('\n').map_or(0, |at| at + 1));
    // A value that is not closed runs on to the next line, so the one before is looked at too.
    let from = text[..start].trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
    let around: Vec<&str> = text[from..].lines().take(3).collect();
    if around.iter().any(|line| SECRET_KEYS.iter().any(|key| line.contains(key))) {
        let message = error.message().lines().next().unwrap_or_default();
        return format!("line {}: {}", number + 1, message.split('"').next().unwrap_or_default().trim());
    }
    error.to_string().trim().to_owned()
}

/// Taken into a type that never prints itself.
fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(Secret::presented))
}

fn checked_url(url: &str) -> Result<String, ConfigError> {
    let trimmed = url.trim_end_matches('/');
    let plain = |rest: &str| !rest.is_empty() && !rest.contains(['?', '#', '@', ' ', '"']);
    let encrypted = trimmed.strip_prefix("https://").is_some_and(plain);
    let local = trimmed.strip_prefix("http://").is_some_and(|rest| plain(rest) && is_loopback(rest));
    if encrypted || local { Ok(trimmed.to_owned()) } else { Err(ConfigError::PublicUrl(url.to_owned())) }
}

/// Whether an authority and path name this machine itself: codes and tokens cross no other wire in the clear.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    port.bytes().all(|byte| byte.is_ascii_digit())
        && (host == "localhost" || address.is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ConfigFile, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(CONFIG_FILE), text).unwrap();
        ConfigFile::read(dir.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let file = parse("listen = \"127.0.0.1:9000\"\nresource_name = \"Ana's data\"").unwrap();
        let flags = ConfigFile { listen: Some("127.0.0.1:9001".parse().unwrap()), ..ConfigFile::default() };
        let config = flags.over(file).resolve().unwrap();
        assert_eq!(config.listen.port(), 9001);
        assert_eq!(config.resource_name, "Ana's data");
        assert_eq!(config.ledger_days, 400);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let problem = parse("lisen = \"127.0.0.1:9000\"").unwrap_err();
        assert!(problem.contains("unknown field `lisen`"), "{problem}");
    }

    #[test]
    fn a_mistake_beside_a_secret_is_told_without_it() {
        for text in [
            "database_url = \"postgres://ana:hunter2@db.test/pdpp",
            "database_url = \"postgres://ana:hunter2@db.test/pdpp\nlisten = \"127.0.0.1:1\"",
            "database_url = [\"postgres://ana:hunter2@db.test/pdpp\"]",
            "introspection_secret = \"hunter2",
            "database_url = postgres://ana:hunter2@db.test/pdpp",
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.contains("line ") && !problem.contains("hunter2"), "{problem}");
        }
        let secret = parse("database_url = \"postgres://ana:hunter2@db.test/pdpp\"").unwrap();
        assert!(!format!("{secret:?}").contains("hunter2"));
    }

    #[test]
    fn a_public_url_must_be_one() {
        for bad in ["data.example.org", "ftp://x", "https://", "https://a@b", "https://x?q"] {
            let file = ConfigFile { public_url: Some(bad.to_owned()), ..ConfigFile::default() };
            assert!(file.resolve().is_err(), "{bad}");
        }
        let file = ConfigFile { public_url: Some("https://x.org/".into()), ..ConfigFile::default() };
        assert_eq!(file.resolve().unwrap().public_url.as_deref(), Some("https://x.org"));
    }

    /// RFC 9700, 2.6: no authorization response crosses a network in the clear; and 9.2-16: nobody else is served
    /// unless asked to.
    #[test]
    fn a_public_address_is_encrypted_and_the_default_is_this_machine_alone() {
        let of =
            |url: &str| ConfigFile { public_url: Some(url.to_owned()), ..ConfigFile::default() }.resolve();
        for good in
            ["https://data.example.org", "http://127.0.0.1:7663", "http://localhost", "http://[::1]:80/x"]
        {
            assert!(of(good).is_ok(), "{good}");
        }
        for bad in [
            "http://data.example.org",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "http://192.168.1.5:7663",
            "http://[::2]",
            "ftp://127.0.0.1",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
        assert!(ConfigFile::default().resolve().unwrap().listen.ip().is_loopback());
    }
}
