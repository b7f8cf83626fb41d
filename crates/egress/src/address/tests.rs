//! Every row of the registries, from its first address to its last, and what stands beside it.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;

fn verdict(address: IpAddr) -> &'static str {
    if check(address).is_ok() { "passes" } else { "refused" }
}

fn passes(address: &str) -> bool {
    check(address.parse().unwrap()).is_ok()
}

fn neighbours(block: &Block) -> (Option<IpAddr>, Option<IpAddr>) {
    match block.first_and_last() {
        (IpAddr::V4(first), IpAddr::V4(last)) => (
            first.to_bits().checked_sub(1).map(|bits| Ipv4Addr::from_bits(bits).into()),
            last.to_bits().checked_add(1).map(|bits| Ipv4Addr::from_bits(bits).into()),
        ),
        (IpAddr::V6(first), IpAddr::V6(last)) => (
            first.to_bits().checked_sub(1).map(|bits| Ipv6Addr::from_bits(bits).into()),
            last.to_bits().checked_add(1).map(|bits| Ipv6Addr::from_bits(bits).into()),
        ),
        _ => unreachable!("a block has one family"),
    }
}

/// Both ends of each block are refused; the addresses before and after it are as the snapshot says.
#[track_caller]
fn check_rows(blocks: &[Block], expected: Expect) {
    let mut text = String::new();
    for block in blocks {
        let (first, last) = block.first_and_last();
        assert_eq!((verdict(first), verdict(last)), ("refused", "refused"), "{block}");
        let (before, after) = neighbours(block);
        let told = |address: Option<IpAddr>| match address {
            Some(address) => format!("{address} {}", verdict(address)),
            None => "none".to_owned(),
        };
        writeln!(text, "{block}: before {}, after {}", told(before), told(after)).unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn every_ipv4_row_is_refused_from_end_to_end() {
    check_rows(
        &IPV4,
        expect![[r"
        0.0.0.0/8 (this network, RFC 791): before none, after 1.0.0.0 passes
        0.0.0.0/32 (this host on this network, RFC 1122): before none, after 0.0.0.1 refused
        10.0.0.0/8 (private use, RFC 1918): before 9.255.255.255 passes, after 11.0.0.0 passes
        100.64.0.0/10 (shared address space, RFC 6598): before 100.63.255.255 passes, after 100.128.0.0 passes
        127.0.0.0/8 (loopback, RFC 1122): before 126.255.255.255 passes, after 128.0.0.0 passes
        169.254.0.0/16 (link local, RFC 3927): before 169.253.255.255 passes, after 169.255.0.0 passes
        172.16.0.0/12 (private use, RFC 1918): before 172.15.255.255 passes, after 172.32.0.0 passes
        192.0.0.0/24 (IETF protocol assignments, RFC 6890): before 191.255.255.255 passes, after 192.0.1.0 passes
        192.0.0.0/29 (IPv4 service continuity prefix, RFC 7335): before 191.255.255.255 passes, after 192.0.0.8 refused
        192.0.0.8/32 (IPv4 dummy address, RFC 7600): before 192.0.0.7 refused, after 192.0.0.9 refused
        192.0.0.9/32 (Port Control Protocol anycast, RFC 7723): before 192.0.0.8 refused, after 192.0.0.10 refused
        192.0.0.10/32 (TURN anycast, RFC 8155): before 192.0.0.9 refused, after 192.0.0.11 refused
        192.0.0.170/32 (NAT64/DNS64 discovery, RFC 8880): before 192.0.0.169 refused, after 192.0.0.171 refused
        192.0.0.171/32 (NAT64/DNS64 discovery, RFC 8880): before 192.0.0.170 refused, after 192.0.0.172 refused
        192.0.2.0/24 (documentation (TEST-NET-1), RFC 5737): before 192.0.1.255 passes, after 192.0.3.0 passes
        192.31.196.0/24 (AS112-v4, RFC 7535): before 192.31.195.255 passes, after 192.31.197.0 passes
        192.52.193.0/24 (AMT, RFC 7450): before 192.52.192.255 passes, after 192.52.194.0 passes
        192.88.99.0/24 (deprecated 6to4 relay anycast, RFC 7526): before 192.88.98.255 passes, after 192.88.100.0 passes
        192.88.99.2/32 (6a44 relay anycast, RFC 6751): before 192.88.99.1 refused, after 192.88.99.3 refused
        192.168.0.0/16 (private use, RFC 1918): before 192.167.255.255 passes, after 192.169.0.0 passes
        192.175.48.0/24 (direct delegation AS112 service, RFC 7534): before 192.175.47.255 passes, after 192.175.49.0 passes
        198.18.0.0/15 (benchmarking, RFC 2544): before 198.17.255.255 passes, after 198.20.0.0 passes
        198.51.100.0/24 (documentation (TEST-NET-2), RFC 5737): before 198.51.99.255 passes, after 198.51.101.0 passes
        203.0.113.0/24 (documentation (TEST-NET-3), RFC 5737): before 203.0.112.255 passes, after 203.0.114.0 passes
        224.0.0.0/4 (multicast, RFC 5771): before 223.255.255.255 passes, after 240.0.0.0 refused
        240.0.0.0/4 (reserved, RFC 1112): before 239.255.255.255 refused, after none
        255.255.255.255/32 (limited broadcast, RFC 919): before 255.255.255.254 refused, after none
    "]],
    );
}

#[test]
fn every_ipv6_row_is_refused_from_end_to_end() {
    check_rows(
        &IPV6,
        expect![[r"
        ::/128 (unspecified address, RFC 4291): before none, after ::1 refused
        ::1/128 (loopback address, RFC 4291): before :: refused, after ::2 refused
        ::/96 (IPv4-compatible, deprecated, RFC 4291): before none, after ::1:0:0 refused
        64:ff9b:1::/48 (local-use IPv4/IPv6 translation, RFC 8215): before 64:ff9b:0:ffff:ffff:ffff:ffff:ffff refused, after 64:ff9b:2:: refused
        100::/64 (discard-only, RFC 6666): before ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff refused, after 100:0:0:1:: refused
        100:0:0:1::/64 (dummy IPv6 prefix, RFC 9780): before 100::ffff:ffff:ffff:ffff refused, after 100:0:0:2:: refused
        2001::/23 (IETF protocol assignments, RFC 2928): before 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff passes, after 2001:200:: passes
        2001::/32 (Teredo, RFC 4380): before 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff passes, after 2001:1:: refused
        2001:1::1/128 (Port Control Protocol anycast, RFC 7723): before 2001:1:: refused, after 2001:1::2 refused
        2001:1::2/128 (TURN anycast, RFC 8155): before 2001:1::1 refused, after 2001:1::3 refused
        2001:1::3/128 (DNS-SD registration protocol anycast, RFC 9665): before 2001:1::2 refused, after 2001:1::4 refused
        2001:2::/48 (benchmarking, RFC 5180): before 2001:1:ffff:ffff:ffff:ffff:ffff:ffff refused, after 2001:2:1:: refused
        2001:3::/32 (AMT, RFC 7450): before 2001:2:ffff:ffff:ffff:ffff:ffff:ffff refused, after 2001:4:: refused
        2001:4:112::/48 (AS112-v6, RFC 7535): before 2001:4:111:ffff:ffff:ffff:ffff:ffff refused, after 2001:4:113:: refused
        2001:10::/28 (deprecated ORCHID, RFC 4843): before 2001:f:ffff:ffff:ffff:ffff:ffff:ffff refused, after 2001:20:: refused
        2001:20::/28 (ORCHIDv2, RFC 7343): before 2001:1f:ffff:ffff:ffff:ffff:ffff:ffff refused, after 2001:30:: refused
        2001:30::/28 (drone remote identifiers, RFC 9374): before 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff refused, after 2001:40:: refused
        2001:db8::/32 (documentation, RFC 3849): before 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff passes, after 2001:db9:: passes
        2002::/16 (6to4, RFC 3056): before 2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff passes, after 2003:: passes
        2620:4f:8000::/48 (direct delegation AS112 service, RFC 7534): before 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff passes, after 2620:4f:8001:: passes
        3fff::/20 (documentation, RFC 9637): before 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff passes, after 3fff:1000:: passes
        5f00::/16 (segment routing identifiers, RFC 9602): before 5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff refused, after 5f01:: refused
        fc00::/7 (unique local, RFC 4193): before fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff refused, after fe00:: refused
        fe80::/10 (link-local unicast, RFC 4291): before fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff refused, after fec0:: refused
        fec0::/10 (site local, deprecated, RFC 3879): before febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff refused, after ff00:: refused
        ff00::/8 (multicast, RFC 4291): before feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff refused, after none
    "]],
    );
}

#[test]
fn both_ends_of_the_translated_blocks_are_refused_with_what_they_stand_for() {
    check_rows(
        &[MAPPED, NAT64],
        expect![[r"
        ::ffff:0.0.0.0/96 (IPv4-mapped, RFC 4291): before ::fffe:ffff:ffff refused, after ::1:0:0:0 refused
        64:ff9b::/96 (IPv4/IPv6 translation, RFC 6052): before 64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff refused, after 64:ff9b::1:0:0 refused
    "]],
    );
}

#[test]
fn public_addresses_pass() {
    for address in
        ["1.1.1.1", "8.8.8.8", "93.184.215.14", "223.255.255.255", "2606:4700::1111", "2a00:1450::1"]
    {
        assert_eq!(check(address.parse().unwrap()).ok(), address.parse().ok(), "{address}");
    }
}

#[test]
fn what_is_neither_given_to_the_world_nor_in_a_registry_is_refused() {
    for address in ["4000::1", "8000::1", "1::1", "200::1", "f000::1", "fe00::1", "::1:0:0:1", "64:ff9b:2::1"]
    {
        assert!(!passes(address), "{address}");
    }
}

#[test]
fn a_mapped_address_is_the_address_inside() {
    assert_eq!(check("::ffff:8.8.8.8".parse().unwrap()).ok(), "8.8.8.8".parse().ok());
    for inside in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"] {
        assert!(!passes(&format!("::ffff:{inside}")), "{inside}");
    }
}

#[test]
fn a_translated_address_passes_only_with_a_public_one_inside() {
    assert_eq!(check("64:ff9b::8.8.8.8".parse().unwrap()).ok(), "64:ff9b::8.8.8.8".parse().ok());
    for inside in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1"] {
        assert!(!passes(&format!("64:ff9b::{inside}")), "{inside}");
    }
    assert!(!passes("64:ff9b:1::8.8.8.8"), "a translator of the local network");
}

#[test]
fn compatible_6to4_and_teredo_addresses_are_refused_whatever_is_inside() {
    for address in [
        "::8.8.8.8",
        "::127.0.0.1",
        "2002:0808:0808::1",
        "2002:7f00:0001::1",
        "2002:0a00:0001::1",
        "2001:0:808:808:8000:63bf:f7f7:f7f7",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ] {
        assert!(!passes(address), "{address}");
    }
}

#[test]
fn a_tunnel_endpoint_inside_a_public_prefix_is_judged_too() {
    for half in ["0:5efe", "200:5efe"] {
        assert!(passes(&format!("2606:4700:0:0:{half}:8.8.8.8")));
        assert!(!passes(&format!("2606:4700:0:0:{half}:10.0.0.1")));
    }
}

#[test]
fn a_refusal_names_the_narrowest_block() {
    let told = |address: &str| check(address.parse().unwrap()).unwrap_err().to_string();
    assert_eq!(told("10.1.2.3"), "10.1.2.3 is in 10.0.0.0/8 (private use, RFC 1918)");
    assert_eq!(told("192.0.0.9"), "192.0.0.9 is in 192.0.0.9/32 (Port Control Protocol anycast, RFC 7723)");
    assert_eq!(told("2001::1"), "2001::1 is in 2001::/32 (Teredo, RFC 4380)");
    assert_eq!(told("::ffff:10.0.0.1"), "10.0.0.1 is in 10.0.0.0/8 (private use, RFC 1918)");
    assert_eq!(told("4000::1"), "4000::1 is not in 2000::/3 (global unicast, RFC 4291)");
}
