//! One request: a path of encoded segments, repeated query keys, and sometimes a range or a body.

use std::fmt::Write as _;

use http::Method;
use pdpp_evidence::percent_encode_segment;
use serde_json::Value;

/// A request to a resource server. Path segments and query values are encoded here and nowhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) range: Option<String>,
    pub(crate) body: Option<Value>,
    pub(crate) max_bytes: Option<usize>,
}

impl Request {
    /// A read of the route made of these segments: `["v1", "streams", name]`.
    pub fn get<'s>(segments: impl IntoIterator<Item = &'s str>) -> Self {
        Self::new(Method::GET, segments)
    }

    /// A request with another method.
    pub fn new<'s>(method: Method, segments: impl IntoIterator<Item = &'s str>) -> Self {
        let mut path = String::new();
        for segment in segments {
            path.push('/');
            path.push_str(&percent_encode_segment(segment));
        }
        Self { method, path, query: Vec::new(), range: None, body: None, max_bytes: None }
    }

    /// Adds one query parameter. Names may repeat.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds one query parameter, if there is a value.
    #[must_use]
    pub fn maybe(self, name: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Adds one query parameter for each value.
    #[must_use]
    pub fn each<V: Into<String>>(self, name: &str, values: impl IntoIterator<Item = V>) -> Self {
        values.into_iter().fold(self, |request, value| request.query(name, value))
    }

    /// Replaces every parameter of this name by one.
    #[must_use]
    pub fn replacing(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.retain(|(known, _)| known != name);
        self.query(name, value)
    }

    /// Asks for part of the bytes, as in `bytes=0-1023`.
    #[must_use]
    pub fn range(mut self, range: impl Into<String>) -> Self {
        self.range = Some(range.into());
        self
    }

    /// Sends a JSON body.
    #[must_use]
    pub fn json(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// The largest answer that is taken, when it is not the client's usual one.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Whether sending it twice does what sending it once does.
    pub(crate) fn is_idempotent(&self) -> bool {
        self.method == Method::GET
    }

    /// The path with its query string.
    pub fn path_and_query(&self) -> String {
        let mut target = self.path.clone();
        for (index, (name, value)) in self.query.iter().enumerate() {
            let separator = if index == 0 { '?' } else { '&' };
            write!(target, "{separator}{}={}", percent_encode_segment(name), percent_encode_segment(value))
                .expect("writing to a string cannot fail");
        }
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_values_are_encoded() {
        let request = Request::get(["v1", "streams", "a b", "records", "C08:17/9"])
            .query("filter[sent_at][gte]", "2026-01-01")
            .each("fields", ["a", "b"])
            .maybe("cursor", None::<String>);
        assert_eq!(
            request.path_and_query(),
            "/v1/streams/a%20b/records/C08%3A17%2F9?filter%5Bsent_at%5D%5Bgte%5D=2026-01-01&fields=a&fields=b"
        );
    }
}
