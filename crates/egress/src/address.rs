//! Which addresses may be called: globally reachable unicast, and nothing else.
//!
//! The question is asked the way round that fails closed: an address passes because it lies in space that is
//! given to the world and in no block with a special purpose. An address that carries another one inside is
//! judged by both. What cannot be seen from an address is left out: a network that translates a prefix of its own
//! to IPv4 must keep this server behind a firewall that knows it.

mod registry;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use registry::{Block, GLOBAL_UNICAST, IPV4, IPV6, MAPPED, NAT64};

/// Why an address may not be called. It names the address: for the log, never for a stranger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    address: IpAddr,
    block: Option<&'static Block>,
}

/// The address to dial, if this one may be called.
pub(crate) fn check(address: IpAddr) -> Result<IpAddr, Refusal> {
    match address {
        IpAddr::V4(address) => check_v4(address),
        IpAddr::V6(address) => check_v6(address),
    }
}

fn check_v4(address: Ipv4Addr) -> Result<IpAddr, Refusal> {
    check_blocks(&IPV4, address.into())
}

fn check_v6(address: Ipv6Addr) -> Result<IpAddr, Refusal> {
    let whole = IpAddr::V6(address);
    if MAPPED.contains(whole) {
        return check_v4(lowest_four_bytes(address));
    }
    if NAT64.contains(whole) {
        return check_v4(lowest_four_bytes(address)).map(|_| whole);
    }
    check_blocks(&IPV6, whole)?;
    if !GLOBAL_UNICAST.contains(whole) {
        return Err(Refusal { address: whole, block: None });
    }
    if is_isatap(address) {
        check_v4(lowest_four_bytes(address))?;
    }
    Ok(whole)
}

fn check_blocks(blocks: &'static [Block], address: IpAddr) -> Result<IpAddr, Refusal> {
    match Block::most_specific(blocks, address) {
        None => Ok(address),
        block => Err(Refusal { address, block }),
    }
}

/// Where every form that passes keeps the IPv4 address it stands for.
fn lowest_four_bytes(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

/// Whether the last half of the address names an IPv4 tunnel endpoint (ISATAP, RFC 5214).
fn is_isatap(address: Ipv6Addr) -> bool {
    let groups = address.segments();
    // The bit that says "globally unique" may be set or not.
    groups[4] & !0x0200 == 0 && groups[5] == 0x5efe
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.block {
            Some(block) => write!(f, "{} is in {block}", self.address),
            None => write!(f, "{} is not in {GLOBAL_UNICAST}", self.address),
        }
    }
}
