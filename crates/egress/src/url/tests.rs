//! What is taken as an address, and what is not.

use super::*;

const DEVELOPMENT: UrlPolicy = UrlPolicy { loopback: Loopback::Allowed, literals: Literals::Refused };
const NUMBERED: UrlPolicy = UrlPolicy { loopback: Loopback::Refused, literals: Literals::Allowed };

#[track_caller]
fn refused(text: &str, fault: UrlFault) {
    assert_eq!(EgressUrl::parse(text, UrlPolicy::default()).err(), Some(fault), "{text}");
}

#[track_caller]
fn taken(text: &str, policy: UrlPolicy) -> EgressUrl {
    EgressUrl::parse(text, policy).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// Addresses of this machine and of private networks, in every notation that some parser understands.
const LITERALS: [&str; 25] = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7F.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0177.0x0.1",
    "0x7f.0x",
    "127.0.0.1.",
    "１２７.０.０.１",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "0",
    "0.0.0.0",
    "169.254.169.254",
    "0xa9fea9fe",
    "8.8.8.8",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::10.0.0.1]",
];

#[test]
fn an_https_address_with_a_full_name_is_taken() {
    let url = taken("https://Hooks.Example.org:8443/a/b?c=d", UrlPolicy::default());
    assert_eq!(url.as_str(), "https://Hooks.Example.org:8443/a/b?c=d");
    assert_eq!((url.host(), url.port()), ("hooks.example.org", 8443));
    assert_eq!(url.origin(), "https://hooks.example.org:8443");
    assert_eq!(url.path_and_query(), "/a/b?c=d");
    let usual = taken("https://hooks.example.org:443", UrlPolicy::default());
    assert_eq!((usual.host_and_port().as_str(), usual.port()), ("hooks.example.org", 443));
    assert_eq!(usual.path_and_query(), "/");
}

#[test]
fn an_international_name_becomes_punycode() {
    assert_eq!(taken("https://münchen.example/", UrlPolicy::default()).host(), "xn--mnchen-3ya.example");
    assert_eq!(taken("https://ＥＸＡＭＰＬＥ.org/", UrlPolicy::default()).host(), "example.org");
    refused("https://xn--a.example/", UrlFault::Malformed);
    refused("https://a\u{ff0f}b.example/", UrlFault::Malformed);
}

#[test]
fn an_ip_literal_is_refused_in_every_notation() {
    for host in LITERALS {
        for port in ["", ":443", ":8443"] {
            let fault = EgressUrl::parse(&format!("https://{host}{port}/"), UrlPolicy::default()).err();
            let exact = host == "127.0.0.1" || host == "[::1]";
            let expected = if exact { UrlFault::Loopback } else { UrlFault::IpLiteral };
            assert_eq!(fault, Some(expected), "{host}{port}");
        }
    }
}

#[test]
fn a_zone_or_a_number_out_of_range_is_no_host() {
    for host in ["[fe80::1%eth0]", "[fe80::1%25eth0]", "[::1", "256.1.1.1", "1.2.3.4.5", "4294967296"] {
        refused(&format!("https://{host}/"), UrlFault::Malformed);
    }
}

#[test]
fn only_https_is_taken() {
    refused("http://hooks.example.org/", UrlFault::Scheme);
    refused("ftp://hooks.example.org/", UrlFault::Scheme);
    refused("file:///etc/passwd", UrlFault::Scheme);
    refused("gopher://hooks.example.org/", UrlFault::Scheme);
    refused("javascript:alert(1)", UrlFault::Malformed);
    refused("//hooks.example.org/", UrlFault::Malformed);
    refused("hooks.example.org", UrlFault::Malformed);
    refused("", UrlFault::Malformed);
}

#[test]
fn what_parsers_would_repair_is_refused() {
    for text in [
        "https:/hooks.example.org/",
        "https:///hooks.example.org/",
        "https://",
        " https://hooks.example.org/",
        "https://hooks.example.org/\n",
        "https://hooks.exa\tmple.org/",
        "https:\\\\hooks.example.org\\",
        "https://hooks.example.org\\@10.0.0.1/",
        "https://hooks.example.org/a b",
        "https://hooks.example.org:port/",
        "https://hooks.example.org:70000/",
    ] {
        refused(text, UrlFault::Malformed);
    }
}

#[test]
fn user_information_fragments_and_port_zero_are_refused() {
    refused("https://user@hooks.example.org/", UrlFault::UserInfo);
    refused("https://user:secret@hooks.example.org/", UrlFault::UserInfo);
    refused("https://@hooks.example.org/", UrlFault::UserInfo);
    refused("https://hooks.example.org@10.0.0.1/", UrlFault::UserInfo);
    refused("https://hooks.example.org/#", UrlFault::Fragment);
    refused("https://hooks.example.org/a#b", UrlFault::Fragment);
    refused("https://hooks.example.org:0/", UrlFault::Port);
    taken("https://hooks.example.org/@a", UrlPolicy::default());
}

#[test]
fn an_address_of_2048_bytes_is_taken_and_one_of_2049_is_not() {
    let of = |bytes: usize| format!("{:a<bytes$}", "https://hooks.example.org/");
    assert_eq!(taken(&of(2_048), UrlPolicy::default()).as_str().len(), 2_048);
    refused(&of(2_049), UrlFault::TooLong);
}

#[test]
fn a_name_that_is_only_known_locally_is_refused() {
    let label = "a".repeat(64);
    let long = ["abcdefg"; 33].join(".");
    for host in
        ["intranet", "hooks.example.org.", "a.localhost", "localhost.", &format!("{label}.org"), &long]
    {
        refused(&format!("https://{host}/"), UrlFault::HostName);
    }
}

#[test]
fn this_machine_is_called_for_development_only() {
    for host in ["localhost", "LocalHost", "127.0.0.1", "[::1]"] {
        for scheme in ["http", "https"] {
            let text = format!("{scheme}://{host}:8080/hook");
            refused(&text, UrlFault::Loopback);
            assert_eq!(taken(&text, DEVELOPMENT).reach(), Reach::Loopback);
        }
    }
}

#[test]
fn development_opens_nothing_but_this_machine_in_its_usual_spelling() {
    for text in [
        "http://hooks.example.org/",
        "http://127.0.0.2/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://10.0.0.1/",
        "https://127.1/",
    ] {
        assert!(EgressUrl::parse(text, DEVELOPMENT).is_err(), "{text}");
    }
}

#[test]
fn a_literal_may_be_allowed() {
    let url = taken("https://0x08080808/", NUMBERED);
    assert_eq!((url.host(), url.literal()), ("8.8.8.8", Some([8, 8, 8, 8].into())));
    assert_eq!(EgressUrl::parse("http://8.8.8.8/", NUMBERED).err(), Some(UrlFault::Scheme));
    assert_eq!(EgressUrl::parse("https://127.0.0.1/", NUMBERED).err(), Some(UrlFault::Loopback));
}
