//! The hosts an owner lets a client's events be sent to, as they are written and kept.

use crate::{EgressUrl, Literals, Loopback, UrlPolicy};

/// Why a text is no host to allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFault;

/// Reads `HOST` or `HOST:PORT` as an owner writes it, and gives its normal form.
pub fn parse_callback_host(text: &str) -> Result<String, HostFault> {
    let policy = UrlPolicy { loopback: Loopback::Allowed, literals: Literals::Refused };
    if text.contains(['/', '?', '#', '@']) {
        return Err(HostFault);
    }
    // A port that is usual for the scheme is not written, and this machine is called without encryption.
    let scheme = |scheme: &str| EgressUrl::parse(&format!("{scheme}://{text}/"), policy).ok();
    let local = ["localhost", "127.0.0.1", "[::1]"];
    let is_local = local
        .iter()
        .any(|host| text.strip_prefix(host).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')));
    let url = if is_local { scheme("http") } else { scheme("https") };
    url.map(|url| url.host_and_port()).ok_or(HostFault)
}

/// The host of an address that a client registered, in the same form. An address on this machine has none: any program
/// here could listen there.
pub fn registered_host(address: &str) -> Option<String> {
    EgressUrl::parse(address, UrlPolicy::default()).ok().map(|url| url.host_and_port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_allows_a_host_with_or_without_its_port() {
        for (written, meant) in [
            ("hooks.example.org", Some("hooks.example.org")),
            ("Hooks.Example.ORG:443", Some("hooks.example.org")),
            ("hooks.example.org:8443", Some("hooks.example.org:8443")),
            ("localhost:9000", Some("localhost:9000")),
            ("127.0.0.1:80", Some("127.0.0.1")),
            ("[::1]:9000", Some("[::1]:9000")),
            ("https://hooks.example.org", None),
            ("hooks.example.org/path", None),
            ("user@hooks.example.org", None),
            ("10.0.0.1", None),
            ("hooks", None),
            ("", None),
        ] {
            assert_eq!(parse_callback_host(written).ok().as_deref(), meant, "{written}");
        }
    }
}
