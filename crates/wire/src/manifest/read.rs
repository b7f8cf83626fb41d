//! Small readers of manifest members, each naming the place it complains about.

use serde_json::{Map, Value};

/// Where a manifest breaks a rule, and which.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("manifest{place}: {problem}", place = if path.is_empty() { String::new() } else { format!(" at {path}") })]
pub struct ManifestFault {
    path: String,
    problem: String,
}

impl ManifestFault {
    pub(super) fn at(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }
}

pub(super) type Checked<T> = Result<T, ManifestFault>;

pub(super) fn object<'a>(value: &'a Value, path: &str) -> Checked<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| ManifestFault::at(path, "must be an object"))
}

pub(super) fn list<'a>(root: &'a Map<String, Value>, path: &str, member: &str) -> Checked<&'a [Value]> {
    let found = root.get(member).and_then(Value::as_array);
    found.map(Vec::as_slice).ok_or_else(|| ManifestFault::at(join(path, member), "must be a list"))
}

pub(super) fn text(root: &Map<String, Value>, path: &str, member: &str) -> Checked<Option<String>> {
    match root.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ManifestFault::at(join(path, member), "must be text")),
    }
}

pub(super) fn parse<T: serde::de::DeserializeOwned>(
    root: &Map<String, Value>,
    path: &str,
    member: &str,
) -> Checked<Option<T>> {
    let Some(value) = root.get(member) else {
        return Ok(None);
    };
    serde_json::from_value(value.clone())
        .map(Some)
        .map_err(|e| ManifestFault::at(join(path, member), e.to_string()))
}

pub(super) fn names(document: &Value, pointer: &str, path: &str) -> Checked<Vec<String>> {
    match document.pointer(pointer) {
        None => Ok(Vec::new()),
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|_| ManifestFault::at(path, "must be a list of field names")),
    }
}

pub(super) fn flag(document: &Value, pointer: &str) -> bool {
    document.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn join(path: &str, member: &str) -> String {
    if path.is_empty() { member.to_owned() } else { format!("{path}.{member}") }
}

pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
