//! Where the database is, parsed from a URL; its password is never shown.

use std::fmt;
use std::str::FromStr as _;

use tokio_postgres::config::{Host, SslMode};

/// Where the database is and who we are there. Shown, it is without password and parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    config: tokio_postgres::Config,
    trust: Trust,
    shown: String,
}

/// Which certificates the server may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Those of the system's authorities.
    System,
    /// Those of the authorities in this file.
    File(String),
}

/// Why a URL names no database we can use.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DatabaseUrlError {
    /// Another kind of database, or none.
    #[error("`{0}` names no database this program can use: write postgres://USER:PASSWORD@HOST/DATABASE")]
    Scheme(String),
    /// It cannot be understood. What was written is not repeated, for it may hold a password.
    #[error("the database URL cannot be understood ({0}): write postgres://USER:PASSWORD@HOST/DATABASE")]
    Malformed(String),
}

impl DatabaseUrl {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=require&sslrootcert=FILE`.
    pub fn parse(url: &str) -> Result<Self, DatabaseUrlError> {
        let url = url.trim();
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "postgres" | "postgresql") {
            // What is no scheme may be a password.
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
            let is_scheme = !scheme.is_empty() && scheme.len() <= 32 && scheme.bytes().all(plain);
            return Err(DatabaseUrlError::Scheme(if is_scheme {
                format!("{scheme}://…")
            } else {
                "…".into()
            }));
        }
        let url = format!("{scheme}://{rest}");
        let (plain, trust, verified) = without_tls_words(&url);
        let mut config = tokio_postgres::Config::from_str(&plain)
            .map_err(|error| DatabaseUrlError::Malformed(error.to_string()))?;
        if config.get_hosts().is_empty() {
            return Err(DatabaseUrlError::Malformed("it names no host".into()));
        }
        if verified {
            config.ssl_mode(SslMode::Require);
        } else if config.get_ssl_mode() == SslMode::Prefer && !is_local(&config) {
            // A password must not cross a network in the clear because nobody said anything.
            config.ssl_mode(SslMode::Require);
        }
        config.application_name("pdpp");
        let shown = without_secrets(rest).unwrap_or_else(|| "…".to_owned());
        Ok(Self { config, trust, shown: format!("{scheme}://{shown}") })
    }

    pub(crate) fn config(&self) -> &tokio_postgres::Config {
        &self.config
    }

    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.config.get_ssl_mode() == SslMode::Require
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

/// User, hosts and name, where it is certain which part is which: a password that holds a slash or an at sign, which
/// should have been encoded, makes it uncertain.
fn without_secrets(rest: &str) -> Option<String> {
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (who, hosts) = authority.split_once('@').unwrap_or(("", authority));
    let has_port = |host: &str| {
        let port = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        port.is_none_or(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
    };
    if hosts.contains('@') || tail.contains('@') || !hosts.split(',').all(has_port) {
        return None;
    }
    let user = who.split(':').next().filter(|user| !user.is_empty()).map(|user| format!("{user}@"));
    // Parameters may hold a password too.
    let name = tail.split(['?', '#']).next().unwrap_or_default();
    Some(format!("{}{hosts}{name}", user.unwrap_or_default()))
}

/// Loopback, or a socket in the file system.
fn is_local(config: &tokio_postgres::Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

/// Takes out what libpq knows and the driver does not: the file of authorities, and the modes that verify,
/// which is what `require` means here.
fn without_tls_words(url: &str) -> (String, Trust, bool) {
    let Some((before, query)) = url.split_once('?') else { return (url.to_owned(), Trust::System, false) };
    let (mut trust, mut verified, mut kept) = (Trust::System, false, Vec::new());
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslrootcert", file)) => trust = Trust::File(file.replace("%2F", "/").replace("%2f", "/")),
            Some(("sslmode", "verify-full" | "verify-ca")) => verified = true,
            _ => kept.push(pair),
        }
    }
    let plain = if kept.is_empty() { before.to_owned() } else { format!("{before}?{}", kept.join("&")) };
    (plain, trust, verified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_databases_are_refused_with_the_way_to_write_it_and_nothing_secret() {
        for url in [
            "mysql://ana:hunter2@db.test/pdpp",
            "sqlite:///var/lib/hunter2.db",
            "host=db.test password=hunter2",
            "ana:hunter2@db.test/pdpp",
            "p@ss:hunter2://db.test",
            "postgres://",
            "hunter2",
            "",
        ] {
            let said = DatabaseUrl::parse(url).unwrap_err().to_string();
            assert!(said.contains("postgres://USER") && !said.contains("hunter2"), "{said}");
        }
        assert!(DatabaseUrl::parse("mysql://db.test").unwrap_err().to_string().contains("`mysql://…`"));
    }

    #[test]
    fn both_spellings_of_the_scheme_are_taken() {
        for url in ["postgres://db.test/pdpp", "postgresql://db.test/pdpp"] {
            assert_eq!(DatabaseUrl::parse(url).unwrap().to_string(), url);
        }
        let shouted = DatabaseUrl::parse(" POSTGRES://db.test/pdpp\n").unwrap();
        assert_eq!(shouted.to_string(), "postgres://db.test/pdpp");
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, expected) in [
            ("postgres://ana:hunter2@db.test:5432/pdpp", "postgres://ana@db.test:5432/pdpp"),
            ("postgres://ana:hun@ter2@db.test/pdpp", "postgres://…"),
            ("postgres://one.test:5432,[::1]:5433/pdpp", "postgres://one.test:5432,[::1]:5433/pdpp"),
            ("postgres://:hunter2@db.test/pdpp", "postgres://db.test/pdpp"),
            ("postgres://db.test/pdpp?user=ana&password=hunter2", "postgres://db.test/pdpp"),
            ("postgres:///pdpp?host=/run/postgresql", "postgres:///pdpp"),
        ] {
            let shown = match DatabaseUrl::parse(url) {
                Ok(url) => format!("{url}{url:?}"),
                Err(error) => panic!("{url}: {error}"),
            };
            assert_eq!(shown, format!("{expected}DatabaseUrl({expected})"));
        }
        for url in [
            "postgres://ana:hun/ter2@db.test/pdpp",
            "postgres://ana:hun?ter2@db.test/pdpp",
            "postgres://ana:hunter2",
            "postgres://pdpp:hunter2@db.example:nonsense/archive",
        ] {
            match DatabaseUrl::parse(url) {
                Ok(url) => assert_eq!(url.to_string(), "postgres://…"),
                Err(error) => assert!(!error.to_string().contains("ter2"), "{error}"),
            }
        }
    }

    #[test]
    fn a_server_elsewhere_is_spoken_to_encrypted_unless_told_otherwise() {
        let mode = |url: &str| DatabaseUrl::parse(url).unwrap().is_encrypted();
        assert!(mode("postgres://u:p@db.example/x"));
        assert!(!mode("postgres://u:p@127.0.0.1/x"));
        assert!(!mode("postgres://u:p@db.example/x?sslmode=disable"));
        assert!(mode("postgres://u:p@127.0.0.1/x?sslmode=verify-full&sslrootcert=/etc/ca.pem"));
    }
}
