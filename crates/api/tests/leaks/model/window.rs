//! A bounded slice of one field.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::scope::{Part, Scope, Seen};
use super::{Answer, Faults, Model};
use crate::question::{OWNER, Question};

const DEFAULT: usize = 4_096;
const MOST: usize = 16_384;
const MOST_CONTEXT: usize = 8_192;

/// The numbers of a window request.
struct Asked {
    offset: Option<usize>,
    limit: Option<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

impl<'a> Model<'a> {
    pub(super) fn window(&self, question: &Question, stream: &str, key: &str, mut faults: Faults) -> Answer {
        let path = question.given("field").unwrap_or_default();
        faults.add_if(path.is_empty(), "invalid_field_path");
        let asked = Self::asked(question, &mut faults);
        let mut scope = match self.scope(question, stream, &mut faults) {
            Ok(scope) => scope,
            Err(answer) => return answer,
        };
        // The declared names decide which field a path lives under, never what a record holds.
        let top = match scope.stream.field(path) {
            Some(_) => path,
            None => path.split('.').next().unwrap_or_default(),
        };
        if question.who != OWNER {
            scope.parts.retain(|part| part.grants(top));
            faults.add_if(scope.parts.is_empty(), "field_not_granted");
        }
        if faults.any() {
            return faults.answer();
        }
        let found: Vec<Seen<'_>> =
            self.all_seen(&scope).into_iter().filter(|seen| seen.row.key == key).collect();
        let seen = match self.only(&found) {
            Ok(seen) => seen,
            Err(answer) => return answer,
        };
        let Some(value) = resolve(seen.data(), top, path, question.who == OWNER) else {
            return Answer::fault("field_not_found");
        };
        let (text, kind) = match value {
            Value::String(text) => (text.clone(), "string"),
            Value::Object(members) if members.contains_key("blob_id") => {
                return Answer::fault("field_not_text");
            }
            Value::Object(_) | Value::Array(_) => (value.to_string(), "json"),
            _ => return Answer::fault("field_not_text"),
        };
        let Some(window) = cut(&text, question.given("q"), &asked) else {
            return Answer::fault("query_not_found");
        };
        Answer::json(self.body(question, &scope, seen.part, key, path, kind, window))
    }

    #[expect(clippy::too_many_arguments, reason = "the members of one body")]
    fn body(
        &self,
        question: &Question,
        scope: &Scope<'a>,
        part: Part<'a>,
        key: &str,
        path: &str,
        kind: &str,
        window: Value,
    ) -> Value {
        let mut meta = Self::meta(question);
        if question.text("limit_chars").and_then(|limit| limit.parse::<usize>().ok()).unwrap_or(0) > MOST {
            let warning = json!({"code": "limit_clamped", "param": "limit_chars"});
            meta["warnings"].as_array_mut().expect("a list").push(warning);
        }
        let id = self.id(part.connection);
        json!({
            "object": "field_window", "stream": scope.stream.name, "record_id": key, "url": question.route.path(),
            "connection_id": id, "connector_instance_id": id, "field": {"path": path, "type": kind},
            "window": window, "links": Self::links(question), "meta": meta,
        })
    }

    fn asked(question: &Question, faults: &mut Faults) -> Asked {
        let mut read = |name: &str| {
            let text = question.text(name)?;
            let number = text.parse::<usize>().ok();
            faults.add_if(number.is_none(), "invalid_window");
            number
        };
        let (offset, cursor) = (read("offset_chars"), read("cursor"));
        let (limit, before, after) = (read("limit_chars"), read("before_chars"), read("after_chars"));
        let asked = Asked { offset: offset.or(cursor), limit, before, after };
        let context = asked.before.is_some() || asked.after.is_some();
        let q = question.given("q");
        faults.add_if(limit == Some(0), "invalid_window");
        faults.add_if(
            asked.before.max(asked.after).is_some_and(|chars| chars > MOST_CONTEXT),
            "invalid_window",
        );
        faults.add_if(q == Some(""), "invalid_window");
        faults.add_if(q.is_some() && asked.offset.is_some(), "invalid_window");
        faults.add_if(q.is_none() && context, "invalid_window");
        asked
    }
}

fn resolve<'d>(data: &'d Map<String, Value>, top: &str, path: &str, owner: bool) -> Option<&'d Value> {
    // The owner also reaches a literal name that no declaration knows.
    if top == path || (owner && data.contains_key(path)) {
        return data.get(path);
    }
    let mut value = data.get(top)?;
    for part in path[top.len() + 1..].split('.') {
        value = match value {
            Value::Object(members) => members.get(part)?,
            Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

fn cut(text: &str, q: Option<&str>, asked: &Asked) -> Option<Value> {
    let scalars: Vec<char> = text.chars().collect();
    let total = scalars.len();
    let context = asked.before.unwrap_or(0) + asked.after.unwrap_or(0);
    let (start, limit, found) = match q {
        None => (asked.offset.unwrap_or(0).min(total), asked.limit.unwrap_or(DEFAULT), None),
        Some(q) => {
            let needle: Vec<char> = q.chars().map(plain).collect();
            let hay: Vec<char> = scalars.iter().copied().map(plain).collect();
            let at = (0..hay.len()).find(|at| hay[*at..].starts_with(&needle))?;
            let by_context = asked.before.is_some() || asked.after.is_some();
            let limit = asked.limit.unwrap_or(if by_context { context + needle.len() } else { DEFAULT });
            (at.saturating_sub(asked.before.unwrap_or(0)), limit, Some((at, at + needle.len())))
        }
    };
    let limit = limit.min(MOST);
    let end = (start + limit).min(total);
    Some(json!({
        "text": scalars[start..end].iter().collect::<String>(),
        "total_chars": total, "start_chars": start, "end_chars": end, "limit_chars": limit,
        "complete": start == 0 && end == total, "has_more": end < total,
        "match_start_chars": found.map(|found| found.0), "match_end_chars": found.map(|found| found.1),
        "next_offset_chars": (end < total).then_some(end),
        "previous_offset_chars": (start > 0).then(|| start.saturating_sub(limit)),
    }))
}

/// A letter without case and accent, for the letters these worlds use.
fn plain(c: char) -> char {
    match c.to_lowercase().next().unwrap_or(c) {
        'à' => 'a',
        'é' => 'e',
        'ï' => 'i',
        'ü' => 'u',
        other => other,
    }
}

/// The paths worth asking for: every name, and some places inside the nested ones.
pub(crate) fn paths(names: &BTreeSet<String>) -> Vec<String> {
    let mut paths: Vec<String> = names.iter().cloned().collect();
    for name in ["meta", "a", "tags", "blob_ref"] {
        if names.contains(name) {
            paths.extend(
                ["b", "n", "deep", "deep.list.0", "deep.list.9", "0", "1", "blob_id"]
                    .map(|p| format!("{name}.{p}")),
            );
        }
    }
    paths
}
