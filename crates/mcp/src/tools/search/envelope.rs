//! Where a server's answer keeps its hits and its cursor, whichever server it is.

use serde_json::{Map, Value, json};

/// The places where servers keep hits, nearest first.
const PLACES: [&[&str]; 5] = [&["results"], &["hits"], &["data"], &["data", "results"], &["data", "data"]];

/// An answer to a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope<'b> {
    body: &'b Value,
}

impl<'b> Envelope<'b> {
    pub(super) fn new(body: &'b Value) -> Self {
        Self { body }
    }

    /// The hits, as they came.
    pub(super) fn hits(self) -> &'b [Value] {
        place(self.body)
            .map_or(&[], |path| at(self.body, path).and_then(Value::as_array).map_or(&[], Vec::as_slice))
    }

    /// The cursor of the next page, verbatim.
    pub(super) fn next_cursor(self) -> Option<&'b str> {
        self.member("next_cursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty())
    }

    /// Whether the server says that more follow.
    pub(super) fn has_more(self) -> bool {
        self.member("has_more").and_then(Value::as_bool).unwrap_or_else(|| self.next_cursor().is_some())
    }

    /// Counts, recall and warnings.
    pub(super) fn meta(self) -> &'b Value {
        self.member("meta").unwrap_or(&Value::Null)
    }

    fn member(self, name: &str) -> Option<&'b Value> {
        self.body.get(name).or_else(|| self.body.get("data")?.get(name))
    }
}

fn place(body: &Value) -> Option<&'static [&'static str]> {
    if body.is_array() {
        return Some(&[]);
    }
    PLACES.into_iter().find(|path| at(body, path).is_some_and(Value::is_array))
}

fn at<'v>(body: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(body, |value, name| value.get(*name))
}

/// The envelope without its hits, which stand in `structuredContent.results`.
pub(super) fn without_hits(mut body: Value) -> Value {
    let Some((last, parents)) = place(&body).and_then(<[&str]>::split_last) else {
        let count = body.as_array().map_or(0, Vec::len);
        return if body.is_array() { reference(Map::new(), count) } else { body };
    };
    let holder = parents.iter().try_fold(&mut body, |value, name| value.get_mut(*name));
    if let Some(members) = holder.and_then(Value::as_object_mut) {
        let count = members.shift_remove(*last).and_then(|hits| hits.as_array().map(Vec::len)).unwrap_or(0);
        *members = reference(std::mem::take(members), count).as_object().cloned().unwrap_or_default();
    }
    body
}

fn reference(mut members: Map<String, Value>, count: usize) -> Value {
    members.insert("result_count".to_owned(), json!(count));
    members.insert("results_ref".to_owned(), json!("structuredContent.results"));
    members.into()
}

/// The hits of an envelope, to be taken out and put back.
pub(super) fn hits_mut(body: &mut Value) -> Option<&mut Vec<Value>> {
    let path = place(body)?;
    path.iter().try_fold(body, |value, name| value.get_mut(*name))?.as_array_mut()
}
