//! The address of a resource server, normalised so that one server has one name.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

/// `http` or `https`, host, and perhaps a path; no user, query, fragment or trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderUrl(String);

/// Why a text is no address of a resource server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderUrlError {
    /// Not an address at all.
    #[error("`{0}` is not a valid http or https URL")]
    Invalid(String),
    /// Plain text over a network.
    #[error("`{0}` would send the token unencrypted; use https, or http on this machine only")]
    Unencrypted(String),
}

impl ProviderUrl {
    /// Reads an address; `https://` is assumed where no scheme is given.
    pub fn parse(text: &str) -> Result<Self, ProviderUrlError> {
        let invalid = || ProviderUrlError::Invalid(text.to_owned());
        let text = text.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let whole = whole.split(['?', '#']).next().unwrap_or("");
        let uri: Uri = whole.parse().map_err(|_| invalid())?;
        let scheme =
            uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme)).ok_or_else(invalid)?;
        let authority =
            uri.authority().filter(|authority| !authority.host().is_empty()).ok_or_else(invalid)?;
        if scheme == "http" && !is_loopback(authority.host()) {
            return Err(ProviderUrlError::Unencrypted(text.to_owned()));
        }
        let host = authority.host().to_ascii_lowercase();
        let usual = if scheme == "https" { 443 } else { 80 };
        let port = authority.port_u16().filter(|port| *port != usual);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self(format!("{scheme}://{host}{port}{}", uri.path().trim_end_matches('/'))))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is this machine's own.
    pub fn is_loopback(&self) -> bool {
        self.0.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(is_loopback))
    }

    /// An address below it.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// The address of a well-known document: its name stands between the host and the path.
    pub fn well_known(&self, name: &str) -> String {
        let rest = self.0.find("://").map_or(0, |at| at + 3);
        let (origin, path) = match self.0[rest..].find('/') {
            Some(at) => self.0.split_at(rest + at),
            None => (self.0.as_str(), ""),
        };
        format!("{origin}/.well-known/{name}{path}")
    }

    /// The host with its port, if one is given.
    pub fn host_and_port(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        rest.split('/').next().unwrap_or("")
    }
}

impl fmt::Display for ProviderUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_has_one_name() {
        for (text, expected) in [
            ("data.example.org", "https://data.example.org"),
            ("https://Data.Example.org/", "https://data.example.org"),
            ("https://user:pw@data.example.org:8443/a/b/?x=1#y", "https://data.example.org:8443/a/b"),
            ("https://data.example.org:443/", "https://data.example.org"),
            ("http://localhost:80", "http://localhost"),
            ("http://127.0.0.1:7663/", "http://127.0.0.1:7663"),
            ("http://localhost:7663", "http://localhost:7663"),
            ("http://[::1]:7663", "http://[::1]:7663"),
        ] {
            assert_eq!(ProviderUrl::parse(text).map(|url| url.0).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn well_known_documents_stand_before_the_path() {
        for (text, expected) in [
            ("https://a.example", "https://a.example/.well-known/x"),
            ("https://a.example/t/1", "https://a.example/.well-known/x/t/1"),
            ("http://localhost:1/t", "http://localhost:1/.well-known/x/t"),
        ] {
            assert_eq!(ProviderUrl::parse(text).map(|url| url.well_known("x")).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "ftp://a.example", "https://", "not a url", "http://a.example"] {
            assert!(ProviderUrl::parse(text).is_err(), "{text}");
        }
    }
}
