//! The address blocks that no stranger may send us to, as the IANA registries list them.
//!
//! Facts only: block, name, source. Snapshot of the IANA IPv4 and IPv6 Special-Purpose Address Registries of
//! 2025-10-09, and of the IPv4 multicast and IPv6 address space registries for what those two leave out.
//! Rows inside other rows are kept, because the most specific one says best why an address was refused.
//!
//! Some rows are "globally reachable" in the registry's sense: anycast services (PCP, TURN, SRP, AMT, AS112) and
//! identifiers in the shape of addresses (`ORCHIDv2`, DETs). They are listed like the others. None of them is the
//! address of somebody's web server, and an anycast service may well be answered by our own network.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One block of a registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    first: IpAddr,
    prefix: u32,
    name: &'static str,
    source: &'static str,
}

/// Refused IPv4 blocks.
pub(crate) const IPV4: [Block; 27] = [
    v4([0, 0, 0, 0], 8, "this network", "RFC 791"),
    v4([0, 0, 0, 0], 32, "this host on this network", "RFC 1122"),
    v4([10, 0, 0, 0], 8, "private use", "RFC 1918"),
    v4([100, 64, 0, 0], 10, "shared address space", "RFC 6598"),
    v4([127, 0, 0, 0], 8, "loopback", "RFC 1122"),
    v4([169, 254, 0, 0], 16, "link local", "RFC 3927"),
    v4([172, 16, 0, 0], 12, "private use", "RFC 1918"),
    v4([192, 0, 0, 0], 24, "IETF protocol assignments", "RFC 6890"),
    v4([192, 0, 0, 0], 29, "IPv4 service continuity prefix", "RFC 7335"),
    v4([192, 0, 0, 8], 32, "IPv4 dummy address", "RFC 7600"),
    v4([192, 0, 0, 9], 32, "Port Control Protocol anycast", "RFC 7723"),
    v4([192, 0, 0, 10], 32, "TURN anycast", "RFC 8155"),
    v4([192, 0, 0, 170], 32, "NAT64/DNS64 discovery", "RFC 8880"),
    v4([192, 0, 0, 171], 32, "NAT64/DNS64 discovery", "RFC 8880"),
    v4([192, 0, 2, 0], 24, "documentation (TEST-NET-1)", "RFC 5737"),
    v4([192, 31, 196, 0], 24, "AS112-v4", "RFC 7535"),
    v4([192, 52, 193, 0], 24, "AMT", "RFC 7450"),
    v4([192, 88, 99, 0], 24, "deprecated 6to4 relay anycast", "RFC 7526"),
    v4([192, 88, 99, 2], 32, "6a44 relay anycast", "RFC 6751"),
    v4([192, 168, 0, 0], 16, "private use", "RFC 1918"),
    v4([192, 175, 48, 0], 24, "direct delegation AS112 service", "RFC 7534"),
    v4([198, 18, 0, 0], 15, "benchmarking", "RFC 2544"),
    v4([198, 51, 100, 0], 24, "documentation (TEST-NET-2)", "RFC 5737"),
    v4([203, 0, 113, 0], 24, "documentation (TEST-NET-3)", "RFC 5737"),
    v4([224, 0, 0, 0], 4, "multicast", "RFC 5771"),
    v4([240, 0, 0, 0], 4, "reserved", "RFC 1112"),
    v4([255, 255, 255, 255], 32, "limited broadcast", "RFC 919"),
];

/// Refused IPv6 blocks.
pub(crate) const IPV6: [Block; 26] = [
    v6(&[], 128, "unspecified address", "RFC 4291"),
    v6(&[0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback address", "RFC 4291"),
    v6(&[], 96, "IPv4-compatible, deprecated", "RFC 4291"),
    v6(&[0x64, 0xff9b, 1], 48, "local-use IPv4/IPv6 translation", "RFC 8215"),
    v6(&[0x100], 64, "discard-only", "RFC 6666"),
    v6(&[0x100, 0, 0, 1], 64, "dummy IPv6 prefix", "RFC 9780"),
    v6(&[0x2001], 23, "IETF protocol assignments", "RFC 2928"),
    v6(&[0x2001], 32, "Teredo", "RFC 4380"),
    v6(&[0x2001, 1, 0, 0, 0, 0, 0, 1], 128, "Port Control Protocol anycast", "RFC 7723"),
    v6(&[0x2001, 1, 0, 0, 0, 0, 0, 2], 128, "TURN anycast", "RFC 8155"),
    v6(&[0x2001, 1, 0, 0, 0, 0, 0, 3], 128, "DNS-SD registration protocol anycast", "RFC 9665"),
    v6(&[0x2001, 2], 48, "benchmarking", "RFC 5180"),
    v6(&[0x2001, 3], 32, "AMT", "RFC 7450"),
    v6(&[0x2001, 4, 0x112], 48, "AS112-v6", "RFC 7535"),
    v6(&[0x2001, 0x10], 28, "deprecated ORCHID", "RFC 4843"),
    v6(&[0x2001, 0x20], 28, "ORCHIDv2", "RFC 7343"),
    v6(&[0x2001, 0x30], 28, "drone remote identifiers", "RFC 9374"),
    v6(&[0x2001, 0xdb8], 32, "documentation", "RFC 3849"),
    v6(&[0x2002], 16, "6to4", "RFC 3056"),
    v6(&[0x2620, 0x4f, 0x8000], 48, "direct delegation AS112 service", "RFC 7534"),
    v6(&[0x3fff], 20, "documentation", "RFC 9637"),
    v6(&[0x5f00], 16, "segment routing identifiers", "RFC 9602"),
    v6(&[0xfc00], 7, "unique local", "RFC 4193"),
    v6(&[0xfe80], 10, "link-local unicast", "RFC 4291"),
    v6(&[0xfec0], 10, "site local, deprecated", "RFC 3879"),
    v6(&[0xff00], 8, "multicast", "RFC 4291"),
];

/// IPv6 addresses that stand for an IPv4 address of this host's own stack: unwrapped, then judged as IPv4.
pub(crate) const MAPPED: Block = v6(&[0, 0, 0, 0, 0, 0xffff], 96, "IPv4-mapped", "RFC 4291");

/// IPv6 addresses that a translator turns into IPv4: the IPv4 address inside is judged.
pub(crate) const NAT64: Block = v6(&[0x64, 0xff9b], 96, "IPv4/IPv6 translation", "RFC 6052");

/// The only part of the IPv6 address space from which addresses are given to the world.
pub(crate) const GLOBAL_UNICAST: Block = v6(&[0x2000], 3, "global unicast", "RFC 4291");

impl Block {
    /// Whether the address is one of the block.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let outside = first.to_bits() ^ address.to_bits();
                outside.leading_zeros() >= self.prefix
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let outside = first.to_bits() ^ address.to_bits();
                outside.leading_zeros() >= self.prefix
            }
            _ => false,
        }
    }

    /// The longest prefix that holds the address.
    pub(crate) fn most_specific(blocks: &'static [Self], address: IpAddr) -> Option<&'static Self> {
        blocks.iter().filter(|block| block.contains(address)).max_by_key(|block| block.prefix)
    }

    #[cfg(test)]
    pub(crate) fn first_and_last(&self) -> (IpAddr, IpAddr) {
        let last = match self.first {
            IpAddr::V4(first) => {
                Ipv4Addr::from_bits(first.to_bits() | u32::MAX.checked_shr(self.prefix).unwrap_or(0)).into()
            }
            IpAddr::V6(first) => {
                Ipv6Addr::from_bits(first.to_bits() | u128::MAX.checked_shr(self.prefix).unwrap_or(0)).into()
            }
        };
        (self.first, last)
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ({}, {})", self.first, self.prefix, self.name, self.source)
    }
}

const fn v4(first: [u8; 4], prefix: u32, name: &'static str, source: &'static str) -> Block {
    Block { first: IpAddr::V4(Ipv4Addr::from_octets(first)), prefix, name, source }
}

/// The address starts with these groups of sixteen bits; the rest is zero.
const fn v6(start: &[u16], prefix: u32, name: &'static str, source: &'static str) -> Block {
    let mut groups = [0; 8];
    let mut index = 0;
    while index < start.len() {
        groups[index] = start[index];
        index += 1;
    }
    Block { first: IpAddr::V6(Ipv6Addr::from_segments(groups)), prefix, name, source }
}
