//! A client's identifier that is the address of its document.
//!
//! Identifiers are compared as texts, so a client must have one spelling: the normal form of its URL.

use std::fmt;

use crate::{EgressUrl, UrlFault, UrlPolicy};

/// The address of a document, and with it the name of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdUrl(EgressUrl);

impl ClientIdUrl {
    /// Whether an identifier means an address at all, rather than a client that was registered.
    pub fn is_meant(client_id: &str) -> bool {
        ["https://", "http://"].iter().any(|scheme| client_id.starts_with(scheme))
    }

    /// Reads an identifier.
    pub fn parse(client_id: &str, policy: UrlPolicy) -> Result<Self, UrlFault> {
        let url = EgressUrl::parse(client_id, policy)?;
        // Parsers take dot segments away, so they are looked for in the text itself.
        let rest = client_id.split_once("://").map_or("", |(_, rest)| rest);
        let rest = rest.split('?').next().unwrap_or("");
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        if path.is_empty() {
            return Err(UrlFault::RootPath);
        }
        if path.split('/').any(is_dot_segment) {
            return Err(UrlFault::DotSegments);
        }
        if url.normal_form() != client_id {
            return Err(UrlFault::NotCanonical);
        }
        Ok(Self(url))
    }

    /// The identifier.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The address.
    pub fn url(&self) -> &EgressUrl {
        &self.0
    }
}

fn is_dot_segment(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

impl fmt::Display for ClientIdUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(client_id: &str, fault: UrlFault) {
        assert_eq!(ClientIdUrl::parse(client_id, UrlPolicy::default()).err(), Some(fault), "{client_id}");
    }

    #[test]
    fn an_identifier_in_normal_form_is_taken() {
        for text in [
            "https://app.example/client.json",
            "https://app.example:8443/a/b?version=2",
            "https://app.example/a..b/.well-known/client",
            "https://xn--mnchen-3ya.example/client",
        ] {
            assert_eq!(ClientIdUrl::parse(text, UrlPolicy::default()).unwrap().as_str(), text);
        }
    }

    #[test]
    fn an_identifier_without_a_path_is_refused() {
        refused("https://app.example", UrlFault::RootPath);
        refused("https://app.example/", UrlFault::RootPath);
        refused("https://app.example/?client=1", UrlFault::RootPath);
        refused("https://app.example?a/b", UrlFault::RootPath);
    }

    #[test]
    fn dot_segments_are_refused_however_they_are_written() {
        for path in ["./a", "a/../b", "a/..", "%2e/a", "a/%2E%2e/b", "a/.%2e", "a/%2e."] {
            refused(&format!("https://app.example/{path}"), UrlFault::DotSegments);
        }
    }

    #[test]
    fn a_second_spelling_is_refused() {
        for text in [
            "https://App.example/c",
            "HTTPS://app.example/c",
            "https://app.example:443/c",
            "https://app.example/ü",
            "https://münchen.example/c",
            "https://%61pp.example/c",
        ] {
            refused(text, UrlFault::NotCanonical);
        }
    }

    #[test]
    fn what_no_address_may_have_no_identifier_may_have() {
        refused("https://user@app.example/c", UrlFault::UserInfo);
        refused("https://app.example/c#f", UrlFault::Fragment);
        refused("http://app.example/c", UrlFault::Scheme);
        refused("https://192.0.2.1/c", UrlFault::IpLiteral);
    }
}
