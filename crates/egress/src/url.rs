//! An address as a stranger wrote it, read strictly.
//!
//! Two programs that read one text differently are how a guard is walked around. So whatever URL parsers repair
//! (spaces, backslashes, missing slashes) is refused here, and everything after this is done with the one parsed
//! form. What the host's name resolves to is no question of this file.

use std::fmt;
use std::net::IpAddr;

use rustls::pki_types::{DnsName, ServerName};
use url::{Host, Url};

/// The longest address taken.
pub const MAX_URL_BYTES: usize = 2_048;

/// Whether this machine itself may be called: `localhost`, `127.0.0.1` and `[::1]`, then also over plain http.
/// For development.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loopback {
    /// As for strangers.
    #[default]
    Refused,
    /// As a developer needs it.
    Allowed,
}

/// Whether a host may be written as an IP address. It is checked like a resolved one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Literals {
    /// A host has a name.
    #[default]
    Refused,
    /// A public address will do.
    Allowed,
}

/// Which addresses a deployment takes. The default takes `https` with a full host name, nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlPolicy {
    /// This machine.
    pub loopback: Loopback,
    /// IP addresses instead of names.
    pub literals: Literals,
}

/// Why a text is no address to call. Each text may be shown to whoever wrote the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// More than [`MAX_URL_BYTES`].
    #[error("the URL is longer than {MAX_URL_BYTES} bytes")]
    TooLong,
    /// Not an absolute URL, or one that parsers read differently.
    #[error("the URL is not a valid absolute URL")]
    Malformed,
    /// Another scheme than the policy takes.
    #[error("the URL must start with https://")]
    Scheme,
    /// A user or a password before the host.
    #[error("the URL must not contain user information")]
    UserInfo,
    /// `#` and what follows.
    #[error("the URL must not contain a fragment")]
    Fragment,
    /// Port 0.
    #[error("the URL names a port that cannot be called")]
    Port,
    /// An IP address, in whatever notation.
    #[error("the URL must name its host, not give an IP address")]
    IpLiteral,
    /// This machine, without the switch for development.
    #[error("the URL names this machine, which this server does not call")]
    Loopback,
    /// A name that means something in a local network only, or is no name.
    #[error("the URL's host must be a full domain name")]
    HostName,
    /// A client's identifier that is the root of a site.
    #[error("the URL must have a path")]
    RootPath,
    /// A client's identifier with `.` or `..` in its path.
    #[error("the URL's path must not contain dot segments")]
    DotSegments,
    /// A client's identifier that could be spelled in another way.
    #[error("the URL must be written in its normal form: lower-case host, no default port")]
    NotCanonical,
}

/// An address that may be called if what its host resolves to may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressUrl {
    text: String,
    url: Url,
    reach: Reach,
}

/// What kind of host an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One that must be globally reachable.
    Public,
    /// This machine, under its usual name.
    Loopback,
}

impl EgressUrl {
    /// Reads an address.
    pub fn parse(text: &str, policy: UrlPolicy) -> Result<Self, UrlFault> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlFault::TooLong);
        }
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.contains(odd) {
            return Err(UrlFault::Malformed);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlFault::Malformed)?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Err(UrlFault::Scheme);
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
        if authority.contains('@') {
            return Err(UrlFault::UserInfo);
        }
        if authority.is_empty() {
            return Err(UrlFault::Malformed);
        }
        let url = Url::parse(text).map_err(|_| UrlFault::Malformed)?;
        if url.fragment().is_some() {
            return Err(UrlFault::Fragment);
        }
        if url.port() == Some(0) {
            return Err(UrlFault::Port);
        }
        let reach = reach(&url, authority)?;
        let address = Self { text: text.to_owned(), url, reach };
        address.allowed_by(policy).map(|()| address)
    }

    /// Whether a policy, perhaps another than the address was read under, takes it.
    pub(crate) fn allowed_by(&self, policy: UrlPolicy) -> Result<(), UrlFault> {
        match self.reach {
            Reach::Loopback if policy.loopback == Loopback::Allowed => Ok(()),
            Reach::Loopback => Err(UrlFault::Loopback),
            Reach::Public if !self.is_encrypted() => Err(UrlFault::Scheme),
            Reach::Public if self.literal().is_some() && policy.literals == Literals::Refused => {
                Err(UrlFault::IpLiteral)
            }
            Reach::Public => Ok(()),
        }
    }

    /// The address exactly as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host in its normal form: lower case, punycode, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The port, given or usual.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// The host, with its port where that is not the usual one: what `Host` says, and what an owner allows.
    pub fn host_and_port(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        }
    }

    /// Scheme, host and port in their normal form.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.url.scheme(), self.host_and_port())
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn reach(&self) -> Reach {
        self.reach
    }

    /// The IP address that stands in place of a host name.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        match self.url.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        }
    }

    /// The name a certificate must be made out to.
    pub(crate) fn server_name(&self) -> Option<ServerName<'static>> {
        match self.literal() {
            Some(address) => Some(ServerName::IpAddress(address.into())),
            None => ServerName::try_from(self.host().to_owned()).ok(),
        }
    }

    /// What follows the host on the request line.
    pub(crate) fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    pub(crate) fn normal_form(&self) -> &str {
        self.url.as_str()
    }
}

/// What kind of host this is; `authority` is the text it was read from.
fn reach(url: &Url, authority: &str) -> Result<Reach, UrlFault> {
    match url.host() {
        Some(Host::Domain("localhost")) => Ok(Reach::Loopback),
        Some(Host::Domain(name)) => check_name(name).map(|()| Reach::Public),
        Some(_) if is_spelled(authority, "127.0.0.1") || is_spelled(authority, "[::1]") => {
            Ok(Reach::Loopback)
        }
        Some(_) => Ok(Reach::Public),
        None => Err(UrlFault::Malformed),
    }
}

/// Whether the host is written in just this way: the exception for this machine knows no other spelling of it.
fn is_spelled(authority: &str, host: &str) -> bool {
    authority.strip_prefix(host).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// A full domain name. A single label is looked up in the local network, a closing dot is a second spelling.
fn check_name(name: &str) -> Result<(), UrlFault> {
    let full = name.contains('.') && !name.ends_with('.') && !name.ends_with(".localhost");
    if full && DnsName::try_from(name).is_ok() { Ok(()) } else { Err(UrlFault::HostName) }
}

impl fmt::Display for EgressUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
