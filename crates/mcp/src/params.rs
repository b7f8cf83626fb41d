//! The arguments of a tool, said once: the input schema that clients see and the check that calls pass both come
//! from this table, so they cannot drift apart.

use serde_json::{Map, Value, json};

/// One argument of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// Shown in the input schema; empty for none.
    pub(crate) description: &'static str,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Any text but the empty one.
    Text,
    /// A text that becomes part of a path: not empty, no separator, no traversal.
    Name,
    /// A whole number within bounds.
    Integer { min: u64, max: Option<u64> },
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// Yes or no.
    Flag,
    /// A typed object filter: field to value, or field to range.
    Filter,
    /// Relation to number.
    ExpandLimit,
    /// What an event subscription listens to.
    EventFilters,
}

impl Param {
    pub(crate) const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self { name, kind, required: false, description }
    }

    pub(crate) const fn required(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self { name, kind, required: true, description }
    }

    /// The JSON Schema of the argument.
    pub(crate) fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::Name => json!({"type": "string", "minLength": 1}),
            Kind::Integer { min, max: Some(max) } => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            Kind::Integer { min, max: None } => json!({"type": "integer", "minimum": min}),
            Kind::Choice(words) => json!({"enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Filter => json!({
                "type": "object",
                "additionalProperties": {
                    "type": ["string", "number", "boolean", "object"],
                    "properties": {"gte": {}, "gt": {}, "lte": {}, "lt": {}},
                },
            }),
            Kind::ExpandLimit => {
                json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}})
            }
            Kind::EventFilters => json!({
                "type": "object",
                "properties": {"streams": {"type": "array", "items": {"type": "string"}}},
                "additionalProperties": false,
            }),
        };
        if !self.description.is_empty() {
            schema["description"] = self.description.into();
        }
        schema
    }
}

/// The closed object schema of a tool's arguments.
pub(crate) fn input_schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.to_owned(), param.schema())).collect();
    let required: Vec<&str> = params.iter().filter(|param| param.required).map(|param| param.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}
