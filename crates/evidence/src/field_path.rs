//! Field paths: how a reader names a field, or a place inside one.
//!
//! A path that is literally the name of a top-level field names that field. Any other path is split at `.`: the
//! first part is a top-level field, each further part a member of an object or a decimal index into an array.
//!
//! The rule is ambiguous wherever names contain dots, and the ambiguity must not decide access. So the set of
//! *declared* top-level names settles it ([`FieldPath::top_level`]), never what a record happens to contain:
//! whether a path is granted is then the same for every record, and known before one is read.

use serde_json::{Map, Value};
use thiserror::Error;

const MAX_BYTES: usize = 1_024;
const MAX_DEPTH: usize = 16;
/// Most values one search field of one record has.
const MOST_ELEMENTS: usize = 1_000;

/// A field path within its bounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath(String);

/// Why a text is not a field path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FieldPathError {
    /// Nothing was given.
    #[error("a field path must not be empty")]
    Empty,
    /// More bytes than any field path needs.
    #[error("a field path must not be longer than {MAX_BYTES} bytes")]
    TooLong,
    /// More parts than any field path needs.
    #[error("a field path must not have more than {MAX_DEPTH} parts")]
    TooDeep,
    /// The text holds a NUL character.
    #[error("a field path must not contain NUL")]
    Nul,
}

impl FieldPath {
    /// Checks a path. Parts may be empty, because the empty string is a legal member name.
    pub fn parse(text: &str) -> Result<Self, FieldPathError> {
        if text.is_empty() {
            Err(FieldPathError::Empty)
        } else if text.len() > MAX_BYTES {
            Err(FieldPathError::TooLong)
        } else if text.contains('\0') {
            Err(FieldPathError::Nul)
        } else if text.split('.').count() > MAX_DEPTH {
            Err(FieldPathError::TooDeep)
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The top-level field this path lives under, which is what a grant names.
    pub fn top_level(&self, is_declared: impl Fn(&str) -> bool) -> &str {
        if is_declared(&self.0) { &self.0 } else { self.first_part() }
    }

    /// The value at this path under the field that [`Self::top_level`] gave. A record that holds another field
    /// whose name reads like the path does not change what is found.
    pub fn resolve_under<'v>(&self, top_level: &str, data: &'v Map<String, Value>) -> Option<&'v Value> {
        let rest = self.0.strip_prefix(top_level)?;
        let value = data.get(top_level)?;
        if rest.is_empty() {
            return Some(value);
        }
        rest.strip_prefix('.')?.split('.').try_fold(value, step)
    }

    /// Every value a search field names, with the path to exactly that value. Where the path meets a list and names
    /// no index, each element is a value of its own: `attendees.name` gives `attendees.0.name`, `attendees.1.name`, …
    /// at most [`MOST_ELEMENTS`] in all.
    pub fn each_under<'v>(&self, top_level: &str, data: &'v Map<String, Value>) -> Vec<(Self, &'v Value)> {
        let mut found = Vec::new();
        let (Some(rest), Some(value)) = (self.0.strip_prefix(top_level), data.get(top_level)) else {
            return found;
        };
        let parts: Vec<&str> = match rest.strip_prefix('.') {
            Some(rest) => rest.split('.').collect(),
            None if rest.is_empty() => Vec::new(),
            None => return found,
        };
        walk(&mut top_level.to_owned(), value, &parts, &mut found);
        found
    }

    /// The value at this path in data that was already narrowed to what the reader may see.
    ///
    /// The names present in `data` settle the ambiguity here, so a server that decides access uses
    /// [`Self::top_level`] and [`Self::resolve_under`] instead.
    pub fn resolve<'v>(&self, data: &'v Map<String, Value>) -> Option<&'v Value> {
        self.resolve_under(self.top_level(|name| data.contains_key(name)), data)
    }

    fn first_part(&self) -> &str {
        self.0.split_once('.').map_or(self.0.as_str(), |(first, _)| first)
    }
}

/// Follows the parts of a path, and every element of a list that no part names.
fn walk<'v>(at: &mut String, value: &'v Value, parts: &[&str], found: &mut Vec<(FieldPath, &'v Value)>) {
    if found.len() >= MOST_ELEMENTS {
        return;
    }
    let length = at.len();
    let mut enter = |part: &str, inner: &'v Value, left: &[&str]| {
        at.push('.');
        at.push_str(part);
        walk(at, inner, left, found);
        at.truncate(length);
    };
    match (value, parts.split_first()) {
        (Value::Array(items), named) if named.is_none_or(|(first, _)| index(first).is_none()) => {
            for (number, item) in items.iter().enumerate() {
                enter(&number.to_string(), item, parts);
            }
        }
        (_, None) => found.push((FieldPath(at.clone()), value)),
        (_, Some((first, others))) => {
            if let Some(inner) = step(value, first) {
                enter(first, inner, others);
            }
        }
    }
}

fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(part),
        Value::Array(items) => items.get(index(part)?),
        _ => None,
    }
}

/// A decimal index in its one spelling: no sign, no leading zeros.
fn index(part: &str) -> Option<usize> {
    let canonical = part == "0" || (!part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit()));
    if canonical { part.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn record() -> Map<String, Value> {
        let Value::Object(data) = json!({
            "body": "hello",
            "a": {"b": {"c": 1}, "": "empty", "0": "zero"},
            "a.b": "literal",
            "list": [{"x": "first"}, ["p", "q"]],
            "x": {"y.z": 1},
        }) else {
            unreachable!("the literal above is an object")
        };
        data
    }

    #[track_caller]
    fn check(path: &str, expected: Expect) {
        let outcome = match FieldPath::parse(path) {
            Ok(path) => path.resolve(&record()).map_or("absent".to_owned(), Value::to_string),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&outcome);
    }

    #[test]
    fn a_name_finds_its_field() {
        check("body", expect![[r#""hello""#]]);
        check("missing", expect!["absent"]);
    }

    #[test]
    fn a_literal_name_wins() {
        check("a.b", expect![[r#""literal""#]]);
        check("a.b.c", expect!["1"]);
    }

    #[test]
    fn parts_walk_objects_and_arrays() {
        check("list.0.x", expect![[r#""first""#]]);
        check("list.1.1", expect![[r#""q""#]]);
        check("a.0", expect![[r#""zero""#]]);
        check("a.", expect![[r#""empty""#]]);
        check("x.y.z", expect!["absent"]);
        check("body.length", expect!["absent"]);
    }

    #[test]
    fn an_index_has_one_spelling() {
        check("list.00", expect!["absent"]);
        check("list.01", expect!["absent"]);
        check("list.+1", expect!["absent"]);
        check("list.-1", expect!["absent"]);
        check("list.", expect!["absent"]);
        check("list.2", expect!["absent"]);
        check("list.99999999999999999999999999", expect!["absent"]);
    }

    #[test]
    fn bounds_are_typed_errors() {
        check("", expect!["a field path must not be empty"]);
        check("a\0b", expect!["a field path must not contain NUL"]);
        check(&"a".repeat(1_025), expect!["a field path must not be longer than 1024 bytes"]);
        check(&["a"; 17].join("."), expect!["a field path must not have more than 16 parts"]);
        check(&["a"; 16].join("."), expect!["absent"]);
    }

    #[test]
    fn declared_names_decide_the_top_level_field() {
        let path = FieldPath::parse("a.b").unwrap();
        assert_eq!(path.top_level(|name| name == "a"), "a");
        assert_eq!(path.top_level(|name| name == "a.b"), "a.b");
        assert_eq!(path.top_level(|_| false), "a");
        assert_eq!(FieldPath::parse(".b").unwrap().top_level(|_| false), "");
    }

    #[test]
    fn a_list_on_the_way_gives_each_of_its_elements() {
        let Value::Object(data) = json!({
            "people": [{"name": "Ana", "mails": ["a", "b"]}, {"name": "Ben"}, 7, [{"name": "deep"}]],
            "tags": ["x", "y"], "who": {"name": "Cy"}, "a.b": "literal",
        }) else {
            unreachable!("the literal above is an object")
        };
        let each = |path: &str, top: &str| {
            let found = FieldPath::parse(path).unwrap().each_under(top, &data);
            found
                .iter()
                .map(|(path, value)| format!("{}={value}", path.as_str()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            each("people.name", "people"),
            r#"people.0.name="Ana" people.1.name="Ben" people.3.0.name="deep""#
        );
        assert_eq!(each("people.1.name", "people"), r#"people.1.name="Ben""#);
        assert_eq!(each("who.name", "who"), r#"who.name="Cy""#);
        assert_eq!(each("a.b", "a.b"), r#"a.b="literal""#);
        assert_eq!(each("tags", "tags"), r#"tags.0="x" tags.1="y""#);
        assert_eq!(each("people.mails", "people"), r#"people.0.mails.0="a" people.0.mails.1="b""#);
        assert_eq!(each("people.none", "people"), "");
        assert_eq!(each("peoples", "people"), "");
        for (path, value) in FieldPath::parse("people.name").unwrap().each_under("people", &data) {
            assert_eq!(path.resolve_under("people", &data), Some(value));
        }
    }

    #[test]
    fn elements_are_bounded() {
        let many: Vec<Value> =
            (0..MOST_ELEMENTS + 5).map(|number| json!({"n": number.to_string()})).collect();
        let data = Map::from_iter([("l".to_owned(), Value::Array(many))]);
        assert_eq!(FieldPath::parse("l.n").unwrap().each_under("l", &data).len(), MOST_ELEMENTS);
    }

    #[test]
    fn a_record_cannot_move_a_path_to_another_field() {
        let path = FieldPath::parse("a.b").unwrap();
        let under = |top| path.resolve_under(top, &record()).map(Value::to_string);
        assert_eq!(under("a").as_deref(), Some(r#"{"c":1}"#));
        assert_eq!(under("a.b").as_deref(), Some(r#""literal""#));
        assert_eq!(under("body"), None);
        assert_eq!(FieldPath::parse("list.0").unwrap().resolve_under("lis", &record()), None);
    }
}
