//! One request, as the two stores and the model each get to see it.

use std::fmt::Write as _;

/// The owner; smaller numbers are the world's clients.
pub(crate) const OWNER: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Streams,
    Stream(String),
    Schema,
    Connectors,
    Records(String),
    Record(String, String),
    Window(String, String),
    Aggregate(String),
    Blob(String),
}

/// The value of a parameter: words, or a token some earlier answer gave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    Text(String),
    Token(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) who: usize,
    pub(crate) route: Route,
    pub(crate) query: Vec<(String, Arg)>,
    pub(crate) range: Option<&'static str>,
    pub(crate) head: bool,
}

impl Route {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Streams => "streams",
            Self::Stream(_) => "stream",
            Self::Schema => "schema",
            Self::Connectors => "connectors",
            Self::Records(_) => "records",
            Self::Record(..) => "record",
            Self::Window(..) => "window",
            Self::Aggregate(_) => "aggregate",
            Self::Blob(_) => "blob",
        }
    }

    pub(crate) fn path(&self) -> String {
        match self {
            Self::Streams => "/v1/streams".to_owned(),
            Self::Stream(stream) => format!("/v1/streams/{}", encode(stream)),
            Self::Schema => "/v1/schema".to_owned(),
            Self::Connectors => "/v1/connectors".to_owned(),
            Self::Records(stream) => format!("/v1/streams/{}/records", encode(stream)),
            Self::Record(stream, id) => format!("/v1/streams/{}/records/{}", encode(stream), encode(id)),
            Self::Window(stream, id) => {
                format!("/v1/streams/{}/records/{}/field-window", encode(stream), encode(id))
            }
            Self::Aggregate(stream) => format!("/v1/streams/{}/aggregate", encode(stream)),
            Self::Blob(id) => format!("/v1/blobs/{}", encode(id)),
        }
    }
}

impl Question {
    pub(crate) fn new(who: usize, route: Route) -> Self {
        Self { who, route, query: Vec::new(), range: None, head: false }
    }

    pub(crate) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), Arg::Text(value.into())));
        self
    }

    /// Path and query, with tokens spelled by `token`.
    pub(crate) fn uri(&self, token: impl Fn(usize) -> String) -> String {
        self.uri_of(self.query.iter(), token)
    }

    /// The next page's path and query: the same with another cursor, and nothing that starts over.
    pub(crate) fn next_uri(&self, token: impl Fn(usize) -> String, cursor: &str) -> String {
        let kept = self.query.iter().filter(|(name, _)| name != "cursor" && name != "changes_since");
        let mut uri = self.uri_of(kept, token);
        let _ = write!(uri, "{}cursor={cursor}", if uri.contains('?') { '&' } else { '?' });
        uri
    }

    fn uri_of<'a>(
        &self,
        query: impl Iterator<Item = &'a (String, Arg)>,
        token: impl Fn(usize) -> String,
    ) -> String {
        let pairs = query.map(|(name, value)| {
            let value = match value {
                Arg::Text(text) => encode(text),
                Arg::Token(index) => token(*index),
            };
            format!("{name}={value}")
        });
        let pairs: Vec<String> = pairs.collect();
        match pairs.is_empty() {
            true => self.route.path(),
            false => format!("{}?{}", self.route.path(), pairs.join("&")),
        }
    }

    /// The words of a parameter; empty means absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.given(name).filter(|text| !text.is_empty())
    }

    /// The words of a parameter, even if empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.query.iter().find_map(|(known, value)| match value {
            Arg::Text(text) if known == name => Some(text.as_str()),
            _ => None,
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.query.iter().any(|(known, _)| known == name)
    }

    pub(crate) fn token(&self, name: &str) -> Option<&Arg> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// `filter[field]=operand` and `filter[field][operator]=operand`.
    pub(crate) fn filters(&self) -> Vec<(&str, Option<&str>, &str)> {
        let terms = self.query.iter().filter_map(|(name, value)| {
            let inner = name.strip_prefix("filter[")?.strip_suffix(']')?;
            let Arg::Text(operand) = value else { return None };
            Some(match inner.split_once("][") {
                Some((field, operator)) => (field, Some(operator), operand.as_str()),
                None => (inner, None, operand.as_str()),
            })
        });
        terms.collect()
    }

    pub(crate) fn fields(&self) -> Option<Vec<&str>> {
        let given = self.given("fields")?;
        Some(given.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
    }

    pub(crate) fn expand(&self) -> Vec<&str> {
        self.query
            .iter()
            .filter_map(|(name, value)| match value {
                Arg::Text(text) if name == "expand" || name == "expand[]" => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn expand_limits(&self) -> Vec<(&str, &str)> {
        let limits = self.query.iter().filter_map(|(name, value)| {
            let relation = name.strip_prefix("expand_limit[")?.strip_suffix(']')?;
            let Arg::Text(limit) = value else { return None };
            Some((relation, limit.as_str()))
        });
        limits.collect()
    }
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
