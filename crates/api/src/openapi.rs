//! The `OpenAPI` 3.1 document, made from the table of routes and the wire types' own schemas.

use std::collections::BTreeMap;

use pdpp_wire::{Code, ErrorEnvelope, PDPP_VERSION};
use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::route::{AnswerDoc, BodyDoc, Caller, Content, Parameter, Place, Route, Shape};
use crate::table::ROUTES;

/// The document served at `/openapi.json`.
pub fn openapi() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.contract = Contract::Serialize;
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operations = paths.entry(route.path).or_insert_with(|| json!({}));
        operations[route.method.as_str().to_ascii_lowercase()] = operation(route, &mut generator);
    }
    let error = generator.subschema_for::<ErrorEnvelope>();
    let mut schemas = generator.take_definitions(true);
    schemas.values_mut().for_each(forbid_null_where_absent);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "PDPP resource server",
            "version": PDPP_VERSION,
            "summary": "Reads of one person's data under grants they approved.",
            "description": "Every `GET` also answers `HEAD` with the same status and headers. Every answer carries \
                `Request-Id`, `X-Request-Id` and `PDPP-Version`.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "Error": error_response(&error.to_value()) },
            "securitySchemes": {
                "owner": { "type": "http", "scheme": "bearer", "description": "The data subject's own token." },
                "client": { "type": "http", "scheme": "bearer", "description": "A token bound to one or more grants." },
            },
        },
    })
}

/// An optional member of an answer is left out when there is nothing to say, never sent as null.
fn forbid_null_where_absent(schema: &mut Value) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, member) in
        properties.iter_mut().filter(|(name, _)| !required.iter().any(|known| known == name.as_str()))
    {
        if let Some(Value::Array(types)) = member.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                member["type"] = only.clone();
            }
        }
        if let Some(Value::Array(choices)) = member.get_mut("anyOf") {
            choices.retain(|choice| choice["type"] != "null");
        }
    }
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [tag(route.path)],
        "security": security(route.caller()),
        "parameters": route.parameters().map(parameter).chain([version_header()]).collect::<Vec<_>>(),
        "responses": responses(route, generator),
    });
    if let Some(body) = request_body(route.body, generator) {
        operation["requestBody"] = body;
    }
    operation
}

fn tag(path: &str) -> &str {
    let rest = path.strip_prefix("/v1/").unwrap_or(path).trim_start_matches('/');
    match rest.split('/').next() {
        Some("" | ".well-known" | "openapi.json" | "healthz" | "readyz") | None => "discovery",
        Some(first) => first,
    }
}

fn security(caller: Caller) -> Value {
    match caller {
        Caller::Anyone => json!([]),
        Caller::Owner => json!([{ "owner": [] }]),
        Caller::OwnerOrClient => json!([{ "owner": [] }, { "client": [] }]),
    }
}

fn parameter(parameter: &Parameter) -> Value {
    let mut shown = json!({
        "name": parameter.name,
        "in": match parameter.place { Place::Path => "path", Place::Query => "query" },
        "required": parameter.required,
        "description": parameter.description,
        "schema": shape(parameter.shape),
    });
    match parameter.shape {
        Shape::Names => {
            shown["style"] = "form".into();
            shown["explode"] = true.into();
        }
        Shape::Filter | Shape::Limits => {
            shown["style"] = "deepObject".into();
            shown["explode"] = true.into();
        }
        _ => {}
    }
    shown
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
        Shape::Whole { min, max: None } => json!({ "type": "integer", "minimum": min }),
        Shape::Whole { min, max: Some(max) } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Words(words) => json!({ "type": "string", "enum": words }),
        Shape::Names => {
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1, "maxItems": 64 })
        }
        Shape::Limits => {
            json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 1 } })
        }
        Shape::Filter => {
            let operator = json!({ "type": "string" });
            let range = json!({
                "type": "object",
                "properties": { "gte": operator, "gt": operator, "lte": operator, "lt": operator },
                "additionalProperties": false,
                "minProperties": 1,
            });
            json!({ "type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, range] } })
        }
    }
}

fn version_header() -> Value {
    json!({
        "name": "PDPP-Version",
        "in": "header",
        "required": false,
        "description": "The protocol version; without it the only one spoken is assumed.",
        "schema": { "type": "string", "const": PDPP_VERSION },
    })
}

fn request_body(body: BodyDoc, generator: &mut SchemaGenerator) -> Option<Value> {
    let media = |schema: Value| json!({ "schema": schema });
    let content = match body {
        BodyDoc::None => return None,
        BodyDoc::Json(schema) => json!({ "application/json": media(schema(generator).to_value()) }),
        BodyDoc::Ndjson => {
            let lines = json!({ "type": "string", "description": "One JSON object per line." });
            json!({ "application/x-ndjson": media(lines.clone()), "text/plain": media(lines) })
        }
        BodyDoc::Bytes => {
            json!({ "application/octet-stream": media(json!({ "type": "string", "format": "binary" })) })
        }
    };
    Some(json!({ "required": true, "content": content }))
}

fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for answer in route.answers {
        responses.insert(answer.status.to_string(), success(answer, generator));
    }
    let mut refusals: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in route.all_errors() {
        refusals.entry(code.status()).or_default().push(code);
    }
    for (status, codes) in refusals {
        let said: Vec<_> = codes.iter().map(|code| format!("`{code}`: {}", code.when())).collect();
        let mut refusal = error_response(&json!({ "$ref": "#/components/schemas/ErrorEnvelope" }));
        refusal["description"] = said.join(" ").into();
        responses.insert(status.to_string(), refusal);
    }
    json!(responses)
}

fn success(answer: &AnswerDoc, generator: &mut SchemaGenerator) -> Value {
    let mut shown = json!({ "description": answer.description, "headers": common_headers() });
    for (name, description) in answer.headers {
        shown["headers"][name] = json!({ "description": description, "schema": { "type": "string" } });
    }
    match answer.content {
        Content::Empty => {}
        Content::Json(schema) => {
            shown["content"] = json!({ "application/json": { "schema": schema(generator).to_value() } });
        }
        Content::Bytes => {
            shown["content"] = json!({ "*/*": { "schema": { "type": "string", "format": "binary" } } });
        }
    }
    shown
}

fn error_response(schema: &Value) -> Value {
    json!({
        "description": "Why the request was refused, and what to do next.",
        "headers": common_headers(),
        "content": { "application/json": { "schema": schema } },
    })
}

fn common_headers() -> Value {
    let text = |description: &str| json!({ "description": description, "required": true, "schema": { "type": "string" } });
    json!({
        "Request-Id": text("The request's id, also in error bodies."),
        "X-Request-Id": text("The same id, under the name existing clients read."),
        "PDPP-Version": text("The protocol version spoken."),
    })
}
