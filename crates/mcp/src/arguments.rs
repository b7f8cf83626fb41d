//! Arguments of one call, after the check against the tool's table. Nothing accepted is dropped silently, and
//! nothing unknown is accepted.

use pdpp_evidence::safe_name;
use pdpp_wire::Code;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::params::{Kind, Param};

/// The longest text argument that is taken, in bytes. It bounds what is sent on and what errors repeat.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// The most members of a list or object argument.
const MAX_MEMBERS: usize = 100;

/// Checked arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks `given` against the tool's table.
    pub(crate) fn check(tool: &str, params: &[Param], given: Map<String, Value>) -> Result<Self, Failure> {
        let invalid = |param: &str, message: &str| Failure::invalid_arguments(tool, param, message);
        for param in params.iter().filter(|param| param.required) {
            if given.get(param.name).is_none_or(Value::is_null) {
                return Err(invalid(param.name, "is required"));
            }
        }
        let mut kept = Map::new();
        for (name, value) in given {
            let Some(param) = params.iter().find(|param| param.name == name) else {
                let known: Vec<&str> = params.iter().map(|param| param.name).collect();
                let message = format!("Unrecognized key; this tool takes {}", known.join(", "));
                return Err(invalid(&clipped(&name), &message));
            };
            // Some hosts send every optional argument, as null.
            if value.is_null() {
                continue;
            }
            let value = with_integers(param.kind, value);
            check_value(param, &value).map_err(|fault| match fault {
                Fault::Shape(message) => invalid(param.name, &message),
                Fault::Typed(code, message) => Failure::adapter(code, message).param(param.name),
            })?;
            kept.insert(name, value);
        }
        Ok(Self(kept))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A required text; the check has seen to it.
    pub(crate) fn needed(&self, name: &str) -> &str {
        self.text(name).unwrap_or("")
    }

    pub(crate) fn integer(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        self.0
            .get(name)
            .and_then(Value::as_array)
            .map_or_else(Vec::new, |items| items.iter().filter_map(Value::as_str).collect())
    }

    pub(crate) fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        self.0.get(name).and_then(Value::as_object)
    }
}

/// A value with its whole numbers written as such: to JSON Schema 5.0 is an integer, and some hosts send it so.
fn with_integers(kind: Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Integer { .. }, value) => integer(value),
        (Kind::ExpandLimit, Value::Object(members)) => {
            members.into_iter().map(|(relation, limit)| (relation, integer(limit))).collect()
        }
        (_, value) => value,
    }
}

fn integer(value: Value) -> Value {
    let Some(number) = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0) else {
        return value;
    };
    let digits = format!("{number:.0}");
    let signed = digits.parse::<i64>().map(Value::from);
    signed.or_else(|_| digits.parse::<u64>().map(Value::from)).unwrap_or(value)
}

enum Fault {
    Shape(String),
    Typed(Code, String),
}

fn check_value(param: &Param, value: &Value) -> Result<(), Fault> {
    let shape = |message: &str| Err(Fault::Shape(message.to_owned()));
    match param.kind {
        Kind::Text | Kind::Name => match value.as_str() {
            None => shape("expected a string"),
            Some("") => shape("is required"),
            Some(text) if text.len() > MAX_TEXT_BYTES => shape("is too long (at most 8192 bytes)"),
            Some(text) if matches!(param.kind, Kind::Name) => {
                safe_name(param.name, text).map_err(|error| Fault::Shape(error.to_string()))
            }
            Some(_) => Ok(()),
        },
        Kind::Integer { min, max } => match (value.as_u64(), max) {
            (None, _) if value.as_i64().is_some() => {
                Err(Fault::Shape(format!("too_small: must be at least {min}")))
            }
            (None, _) => shape("expected an integer"),
            (Some(number), _) if number < min => {
                Err(Fault::Shape(format!("too_small: must be at least {min}")))
            }
            (Some(number), Some(max)) if number > max => {
                Err(Fault::Shape(format!("too_big: must be less than or equal to {max}")))
            }
            (Some(_), _) => Ok(()),
        },
        Kind::Choice(words) => match value.as_str() {
            Some(word) if words.contains(&word) => Ok(()),
            _ => Err(Fault::Shape(format!("invalid: expected one of {}", words.join(", ")))),
        },
        Kind::Texts => check_texts(value),
        Kind::Flag if value.is_boolean() => Ok(()),
        Kind::Flag => shape("expected true or false"),
        Kind::Filter => check_filter(value),
        Kind::ExpandLimit => check_expand_limit(value),
        Kind::EventFilters => match value.as_object() {
            None => shape("expected an object"),
            Some(members) => match members.iter().find(|(name, _)| *name != "streams") {
                Some((name, _)) => {
                    Err(Fault::Shape(format!("Unrecognized key {:?}; it takes streams", clipped(name))))
                }
                None => members.get("streams").map_or(Ok(()), check_texts),
            },
        },
    }
}

fn check_texts(value: &Value) -> Result<(), Fault> {
    let shape = |message: &str| Err(Fault::Shape(message.to_owned()));
    let Some(items) = value.as_array() else { return shape("expected an array of strings") };
    if items.len() > MAX_MEMBERS {
        return shape("too_big: at most 100 entries");
    }
    let sound =
        |item: &Value| item.as_str().is_some_and(|text| !text.is_empty() && text.len() <= MAX_TEXT_BYTES);
    if items.iter().all(sound) { Ok(()) } else { shape("expected an array of non-empty strings") }
}

const OPERATORS: [&str; 4] = ["gte", "gt", "lte", "lt"];

fn check_filter(value: &Value) -> Result<(), Fault> {
    const EXAMPLE: &str = r#"use a typed object such as {"status":"paid","sent_at":{"gte":"2026-01-01"}}, with fields from schema"#;
    let typed = |message: String| Err(Fault::Typed(Code::InvalidFilter, format!("{message}; {EXAMPLE}.")));
    let Some(members) = value.as_object() else {
        return Err(Fault::Shape(format!("expected an object, not a string or array; {EXAMPLE}")));
    };
    if members.is_empty() {
        return typed("The filter is empty".to_owned());
    }
    if members.len() > MAX_MEMBERS {
        return typed("The filter has more than 100 fields".to_owned());
    }
    for (field, wanted) in members {
        let shown = clipped(field);
        if field.is_empty() || field.contains(['[', ']']) {
            return typed(format!("The filter key {shown:?} is not a plain field name"));
        }
        match wanted {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => {}
            Value::Object(range) if range.is_empty() => {
                return typed(format!("The range of {shown:?} is empty"));
            }
            Value::Object(range) => {
                if let Some((operator, _)) =
                    range.iter().find(|(name, _)| !OPERATORS.contains(&name.as_str()))
                {
                    let operator = clipped(operator);
                    return typed(format!("{operator:?} is no operator; {shown:?} takes gte, gt, lte, lt"));
                }
                if range.values().any(|bound| !is_scalar(bound)) {
                    return typed(format!("The bounds of {shown:?} must be strings, numbers or booleans"));
                }
            }
            Value::Array(_) | Value::Null => {
                return typed(format!("The value of {shown:?} must be a string, number, boolean or range"));
            }
        }
    }
    Ok(())
}

fn is_scalar(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

fn check_expand_limit(value: &Value) -> Result<(), Fault> {
    let typed = |message: String| Err(Fault::Typed(Code::InvalidExpand, message));
    let Some(members) = value.as_object() else {
        return Err(Fault::Shape("expected an object of relation to number".to_owned()));
    };
    if members.is_empty() {
        return typed(
            "`expand_limit` is empty; write {\"relation\": 5} with a relation from GET /v1/schema."
                .to_owned(),
        );
    }
    for (relation, limit) in members.iter().take(MAX_MEMBERS + 1) {
        let shown = clipped(relation);
        if relation.is_empty() || relation.contains(['[', ']']) {
            return typed(format!("`expand_limit` key {shown:?} is not a plain relation name."));
        }
        if limit.as_u64().is_none_or(|limit| limit == 0) {
            return typed(format!("`expand_limit` of {shown:?} must be a positive integer."));
        }
    }
    if members.len() > MAX_MEMBERS {
        typed("`expand_limit` has more than 100 relations.".to_owned())
    } else {
        Ok(())
    }
}

/// Errors repeat what was sent, but not a megabyte of it.
fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Scalars as they stand in a query string.
pub(crate) fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
