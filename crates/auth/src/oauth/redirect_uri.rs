//! Redirect URIs: which may be registered, and which of them a request means.
//!
//! They are compared as text, so that no two parsers can disagree. The one exception is the port of a loopback
//! address, which a native application learns only when it starts (RFC 8252, section 7.3).

use std::net::IpAddr;

/// Longest redirect URI, in bytes.
const MAX_BYTES: usize = 2_048;

/// Schemes a browser must never be sent to.
const DANGEROUS: [&str; 12] = [
    "about",
    "blob",
    "chrome",
    "data",
    "file",
    "filesystem",
    "ftp",
    "javascript",
    "mailto",
    "vbscript",
    "view-source",
    "ws",
];

/// A redirect URI taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedirectUri<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<&'a str>,
    /// Path and query.
    rest: &'a str,
}

impl<'a> RedirectUri<'a> {
    /// Takes a URI apart, if it is one a browser may be sent to. Its letters stay as they are.
    pub(crate) fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.is_empty() || text.len() > MAX_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("is empty, too long, or holds characters that must be percent-encoded");
        }
        if text.contains(['#', '\\', '"', '<', '>', '^', '`', '{', '|', '}']) {
            return Err("holds a fragment or a character that must be percent-encoded");
        }
        let (scheme, after) = text.split_once(':').ok_or("has no scheme")?;
        let lower = scheme.to_ascii_lowercase();
        let spelled = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
        if !spelled || DANGEROUS.contains(&lower.as_str()) || lower.starts_with("ws") {
            return Err("has a scheme no redirect may use");
        }
        if lower != scheme {
            return Err("has a scheme in capital letters");
        }
        if !matches!(scheme, "http" | "https") {
            return Self::private(scheme, after);
        }
        let after = after.strip_prefix("//").ok_or("has no host")?;
        let end = after.find(['/', '?']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        let (host, port) = split_port(authority)?;
        let this = Self { scheme, host, port, rest };
        if scheme == "http" && !this.is_loopback() {
            return Err("must be https, or http on this machine's own address");
        }
        Ok(this)
    }

    /// An application's own scheme, as `com.example.app:/callback` or `app://callback`.
    fn private(scheme: &'a str, after: &'a str) -> Result<Self, &'static str> {
        if scheme.len() < 2 || !after.starts_with('/') || after.contains('@') {
            return Err("is not a web address or an application's own");
        }
        Ok(Self { scheme, host: "", port: None, rest: after })
    }

    /// Whether it leads to the machine the browser runs on.
    pub(crate) fn is_loopback(&self) -> bool {
        let address = self.host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// Whether it leads into an application: by its own scheme, or on this machine.
    pub(crate) fn is_native(&self) -> bool {
        self.scheme != "https"
    }

    /// Where it leads, for the owner to read.
    pub(crate) fn place(&self) -> String {
        match (self.host, self.port) {
            ("", _) => format!("the application behind {}:", self.scheme),
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        }
    }

    /// The scheme and the host with its port.
    pub(crate) fn origin(&self) -> (&str, &str, Option<&str>) {
        (self.scheme, self.host, self.port)
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    if authority.contains('@') {
        return Err("holds a user name or password");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let named = !host.is_empty()
        && host.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'));
    let sane = match bracketed {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => named,
    };
    let whole = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0) && !port.starts_with(['+', '0']);
    if !sane || port.is_some_and(|port| !whole(port)) {
        return Err("has a host or port that is not plain");
    }
    Ok((host, port))
}

/// Whether a request's redirect URI is one of the registered ones.
pub(crate) fn is_registered(registered: &[String], asked: &str) -> bool {
    let Ok(parsed) = RedirectUri::parse(asked) else {
        return false;
    };
    registered.iter().any(|known| {
        known == asked
            || (parsed.scheme == "http"
                && RedirectUri::parse(known).is_ok_and(|known| {
                    known.scheme == "http"
                        && known.is_loopback()
                        && (known.host, known.rest) == (parsed.host, parsed.rest)
                }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_a_browser_may_be_sent_to_are_taken() {
        for good in [
            "https://app.test/cb",
            "https://app.test:8443/cb?x=1",
            "http://localhost:3000/cb",
            "http://127.0.0.1/cb",
            "http://[::1]:8080/cb",
            "com.example.app:/cb",
            "cursor://anysphere.retrieval/cb",
        ] {
            assert!(RedirectUri::parse(good).is_ok(), "{good}: {:?}", RedirectUri::parse(good));
        }
        for bad in [
            "",
            "/cb",
            "app.test/cb",
            "http://app.test/cb",
            "HTTPS://app.test/cb",
            "https://App.test/cb",
            "https://user@app.test/cb",
            "https://app.test@evil.test/cb",
            "https://app.test\\@evil.test/cb",
            "https://app.test/cb#x",
            "https://app.test:0/cb",
            "https://app.test:99999/cb",
            "https:///cb",
            "https:app.test",
            "https://app.test/c b",
            "https://äpp.test/cb",
            "javascript:/alert(1)",
            "data:/text",
            "file:///etc/passwd",
            "x:/cb",
            "http://localhost.evil.test/cb",
            "http://127.0.0.1.evil.test/cb",
        ] {
            assert!(RedirectUri::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_redirect_uri_matches_letter_by_letter_but_for_a_loopback_port() {
        let registered =
            ["https://app.test/cb", "http://127.0.0.1:7000/cb", "http://localhost/x?y=1"].map(str::to_owned);
        for good in [
            "https://app.test/cb",
            "http://127.0.0.1:9999/cb",
            "http://127.0.0.1/cb",
            "http://localhost:1/x?y=1",
        ] {
            assert!(is_registered(&registered, good), "{good}");
        }
        for bad in [
            "https://app.test/cb/",
            "https://app.test/CB",
            "https://app.test:443/cb",
            "https://app.test/cb?x=1",
            "https://app.test/cb#f",
            "https://app.test/./cb",
            "https://app.test/%63b",
            "http://app.test/cb",
            "http://localhost:7000/cb",
            "http://127.0.0.1:7000/cb2",
            "http://u@127.0.0.1:7000/cb",
            "http://localhost/x?y=2",
            "https://127.0.0.1:7000/cb",
        ] {
            assert!(!is_registered(&registered, bad), "{bad}");
        }
    }
}
