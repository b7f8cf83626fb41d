//! Which machine a request comes from, also behind a proxy of the owner's.
//!
//! Forwarded headers are words of whoever sends them. They count only when the connection itself comes from a proxy the
//! owner named, and then from the right: each proxy appends, so what stands left of the first stranger is hearsay.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName};
pub(crate) use pdpp_api::Peer;
use serde::Deserialize;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Entries that are looked at.
const MAX_HOPS: usize = 32;

/// One address, or all that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether an address is one of these.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                same(u32::from(own).into(), u32::from(other).into(), 32, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => same(own.into(), other.into(), 128, self.bits),
            _ => false,
        }
    }
}

fn same(own: u128, other: u128, width: u8, bits: u8) -> bool {
    let rest = u32::from(width - bits);
    rest >= 128 || own >> rest == other >> rest
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is no address or network, such as 127.0.0.1 or 10.0.0.0/8");
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, bits)| (a, Some(bits)));
        let address = address.trim().parse::<IpAddr>().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), |bits| bits.parse().map_err(|_| wrong()))?;
        if bits > width { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// The machine behind a connection and the proxies the owner named.
pub(crate) fn peer(connection: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> Peer {
    let is_proxy = |address: IpAddr| proxies.iter().any(|proxy| proxy.contains(address));
    if !is_proxy(connection) {
        return Peer(connection);
    }
    let mut nearest = connection;
    for hop in hops(headers).into_iter().rev().take(MAX_HOPS) {
        let Some(address) = hop else { break };
        nearest = address;
        if !is_proxy(address) {
            break;
        }
    }
    Peer(nearest)
}

/// The forwarded addresses, nearest last; none for an entry that hides or garbles its address.
fn hops(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let texts = |name: HeaderName| {
        let values: Vec<&str> =
            headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?")).collect();
        values.into_iter().flat_map(|value| value.split(','))
    };
    if headers.contains_key(FORWARDED) {
        return texts(FORWARDED).map(|element| forwarded_for(element).and_then(address)).collect();
    }
    texts(X_FORWARDED_FOR).map(address).collect()
}

fn forwarded_for(element: &str) -> Option<&str> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for")).map(|(_, value)| value).next()
}

/// An address with or without quotes, brackets and port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None if text.matches(':').count() == 1 => text.split(':').next().unwrap_or(""),
        None => text,
    };
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(connection: &str, header: (&'static str, &str), expected: &str) {
        let proxies = ["127.0.0.1", "10.0.0.0/8", "fd00::/8"].map(|text| text.parse().unwrap());
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static(header.0),
            axum::http::HeaderValue::from_str(header.1).unwrap(),
        )]);
        assert_eq!(peer(connection.parse().unwrap(), &headers, &proxies).0.to_string(), expected);
    }

    /// 9.2-17: forwarded headers count only from a proxy the owner named.
    #[test]
    fn only_a_named_proxy_is_believed() {
        let forged = ("x-forwarded-for", "192.0.2.1");
        check("203.0.113.9", forged, "203.0.113.9");
        check("127.0.0.1", forged, "192.0.2.1");
        check("10.1.2.3", ("forwarded", "for=192.0.2.60;proto=http;by=203.0.113.43"), "192.0.2.60");
        check("::ffff:10.1.2.3", ("forwarded", "For=\"[2001:db8::17]:4711\""), "2001:db8::17");
    }

    #[test]
    fn the_nearest_stranger_is_the_peer_whatever_stands_before_it() {
        check("127.0.0.1", ("x-forwarded-for", "127.0.0.1, 198.51.100.7, 10.0.0.5"), "198.51.100.7");
        check("127.0.0.1", ("x-forwarded-for", "10.0.0.5, fd00::1"), "10.0.0.5");
        check("127.0.0.1", ("x-forwarded-for", "198.51.100.7, unknown"), "127.0.0.1");
        check("127.0.0.1", ("x-forwarded-for", ""), "127.0.0.1");
    }

    #[test]
    fn a_network_is_an_address_or_its_first_bits() {
        for wrong in ["", "proxy", "10.0.0.0/33", "10.0.0.0/x", "::/129", "10.0.0"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("203.0.113.9".parse().unwrap()));
        assert!(!all.contains("2001:db8::1".parse().unwrap()));
        assert_eq!("10.0.0.0/8".parse::<Network>().unwrap().to_string(), "10.0.0.0/8");
    }
}
