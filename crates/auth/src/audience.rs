//! The addresses that mean this server.
//!
//! The server and its `/mcp` endpoint are one audience. A server on this machine may be called by any of the
//! machine's own names; everywhere else the origin must be the public one.

/// The one audience of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience(String);

impl Audience {
    /// The audience of the server with this public address, which has no trailing slash.
    pub fn of(public_url: &str) -> Self {
        Self(public_url.trim_end_matches('/').to_owned())
    }

    /// The address itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a resource indicator means this server.
    pub fn is(&self, resource: &str) -> bool {
        let base = resource.strip_suffix('/').unwrap_or(resource);
        let base = base.strip_suffix("/mcp").unwrap_or(base);
        let (own, asked) = (split(&self.0), split(base));
        match (own, asked) {
            (Some((own_scheme, own_host, own_path)), Some((scheme, host, path))) => {
                own_scheme.eq_ignore_ascii_case(scheme)
                    && own_path == path
                    && (own_host.eq_ignore_ascii_case(host) || same_loopback(own_host, host))
            }
            _ => false,
        }
    }
}

fn split(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    Some((scheme, &rest[..end], &rest[end..]))
}

fn same_loopback(own: &str, asked: &str) -> bool {
    let own = loopback_port(own);
    own.is_some() && own == loopback_port(asked)
}

fn loopback_port(host: &str) -> Option<&str> {
    ["localhost", "127.0.0.1", "[::1]"].into_iter().find_map(|name| {
        let rest = host
            .get(..name.len())
            .filter(|start| start.eq_ignore_ascii_case(name))
            .map(|_| &host[name.len()..]);
        rest.filter(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_and_its_mcp_endpoint_are_one_audience_and_nothing_else_is() {
        let audience = Audience::of("https://data.test");
        for own in
            ["https://data.test", "https://data.test/", "https://data.test/mcp", "https://DATA.test/mcp"]
        {
            assert!(audience.is(own), "{own}");
        }
        for foreign in [
            "",
            "data.test",
            "http://data.test",
            "https://data.test:8443",
            "https://data.test/v1",
            "https://data.test/mcp/x",
            "https://data.test.evil.test",
            "https://data.test@evil.test/mcp",
        ] {
            assert!(!audience.is(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_local_server_is_called_by_any_of_the_machines_own_names() {
        let audience = Audience::of("http://127.0.0.1:7663");
        assert!(audience.is("http://localhost:7663/mcp") && audience.is("http://[::1]:7663"));
        assert!(!audience.is("http://localhost:7664/mcp") && !audience.is("http://localhost.evil.test:7663"));
    }
}
