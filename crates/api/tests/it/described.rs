//! Every answer of every test is one the `OpenAPI` document describes.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use pdpp_api::{Route, openapi, routes};
use serde_json::{Value, json};

use crate::world::Answer;

static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi);
static VALIDATORS: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);

/// Panics if the description has no such status for the route, or another body.
#[track_caller]
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    let Some(route) = find_route(method, path) else { return };
    let (method, status) = (route.method.as_str().to_ascii_lowercase(), answer.status);
    let response = &DOCUMENT["paths"][route.path][&method]["responses"][status.to_string()];
    assert!(response.is_object(), "{method} {} answered {status}, which is not described", route.path);
    for name in ["request-id", "x-request-id", "pdpp-version"] {
        assert!(answer.header(name).is_some(), "{method} {} lacks {name}", route.path);
    }
    let schema = &response["content"]["application/json"]["schema"];
    if schema.is_null() || answer.bytes.is_empty() {
        return;
    }
    let body: Value = serde_json::from_slice(&answer.bytes).unwrap();
    let mut validators = VALIDATORS.lock().unwrap();
    let place = format!("{method} {} {status}", route.path);
    let validator = validators.entry(place.clone()).or_insert_with(|| compile(schema));
    if let Err(error) = validator.validate(&body) {
        panic!("{place} does not match its description at {}: {error}", error.instance_path());
    }
}

fn compile(schema: &Value) -> Validator {
    let whole = json!({ "allOf": [schema], "components": DOCUMENT["components"] });
    jsonschema::draft202012::options().build(&whole).unwrap()
}

fn find_route(method: &str, path: &str) -> Option<&'static Route> {
    let asked: Vec<_> = path.split('?').next()?.split('/').collect();
    let fits = |route: &&Route| {
        let parts: Vec<_> = route.path.split('/').collect();
        let same = |(part, asked): (&&str, &&str)| part.starts_with('{') || part == asked;
        route.method.as_str() == method && parts.len() == asked.len() && parts.iter().zip(&asked).all(same)
    };
    routes().iter().find(fits)
}
