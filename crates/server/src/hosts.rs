//! The hosts a listener answers for, so that a stranger's name that leads here gets nothing.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};

use crate::ServeConfig;

/// Hosts with or without a port.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// The names of this machine, the listener's own address, the public host, and what the owner allows.
    pub(crate) fn of(config: &ServeConfig, address: SocketAddr) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        hosts.push(address.to_string());
        hosts.extend(config.public_url.as_deref().and_then(public_host).map(str::to_owned));
        hosts.extend(config.allow_host.iter().cloned());
        Self(hosts)
    }

    /// As the REST surface takes them.
    pub(crate) fn into_list(self) -> Vec<String> {
        self.0
    }

    /// Whether a request names one of these hosts, or an address of this machine alone; ports do not count.
    pub(crate) fn answer_for(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        named(uri, headers).map(without_port).is_some_and(|host| {
            is_loopback(host) || self.0.iter().any(|known| without_port(known).eq_ignore_ascii_case(host))
        })
    }
}

fn public_host(url: &str) -> Option<&str> {
    url.split("://").nth(1)?.split('/').next()
}

/// The one host a request names: in its target if absolute, else in its header.
fn named<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut given = headers.get_all(HOST).iter();
    match (uri.authority(), given.next(), given.next()) {
        (_, _, Some(_)) => None,
        (Some(authority), _, None) => Some(authority.as_str()),
        (None, header, None) => header?.to_str().ok(),
    }
}

/// A host without its port; an IPv6 address keeps its brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::ConfigFile;

    fn answers(host: &str) -> bool {
        let file = ConfigFile {
            public_url: Some("https://data.test:8443/mine".to_owned()),
            allow_host: vec!["nas.test".to_owned()],
            ..ConfigFile::default()
        };
        let hosts = Hosts::of(&file.resolve().unwrap(), "192.0.2.7:9100".parse().unwrap());
        let headers = [(HOST, HeaderValue::from_str(host).unwrap())].into_iter().collect();
        hosts.answer_for(&Uri::from_static("/metrics"), &headers)
    }

    #[test]
    fn only_local_own_public_and_allowed_hosts_are_answered_for() {
        for host in
            ["localhost:9100", "LocalHost", "127.0.0.1", "127.8.8.8:1", "[::1]:9100", "192.0.2.7:9100"]
        {
            assert!(answers(host), "{host}");
        }
        for host in ["data.test", "data.test:9100", "NAS.test:9100"] {
            assert!(answers(host), "{host}");
        }
        for host in ["", "evil.test", "localhost.evil.test", "127.0.0.1.evil.test:9100", "192.0.2.8", "user@"]
        {
            assert!(!answers(host), "{host}");
        }
    }

    #[test]
    fn a_request_names_exactly_one_host() {
        let hosts = Hosts(vec!["localhost".to_owned()]);
        let (local, foreign) = (HeaderValue::from_static("localhost"), HeaderValue::from_static("evil.test"));
        let check = |uri: &'static str, given: &[&HeaderValue]| {
            let headers = given.iter().map(|host| (HOST, (*host).clone())).fold(
                HeaderMap::new(),
                |mut headers, (name, host)| {
                    headers.append(name, host);
                    headers
                },
            );
            hosts.answer_for(&Uri::from_static(uri), &headers)
        };
        assert!(check("/metrics", &[&local]));
        assert!(!check("/metrics", &[]));
        assert!(!check("/metrics", &[&local, &foreign]));
        assert!(!check("http://evil.test/metrics", &[&local]));
    }
}
