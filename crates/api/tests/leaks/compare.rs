//! Whether two answers are the same, to the byte or to the model.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Answer, NEXT_CHANGES, NEXT_CURSOR};

/// One answer of a server.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Headers that may differ: they name the request, not the answer.
const FREE_HEADERS: [&str; 3] = ["request-id", "x-request-id", "date"];

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The token this answer gives out under a name.
    pub(crate) fn token(&self, name: &str) -> Option<String> {
        self.json().get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// The answer with every opaque text replaced by what it stands for.
    pub(crate) fn plain(&self, carried: &[(String, String)]) -> Self {
        let Ok(mut text) = String::from_utf8(self.body.clone()) else { return self.clone() };
        let mut known = carried.to_vec();
        for (name, stands_for) in [("next_cursor", NEXT_CURSOR), ("next_changes_since", NEXT_CHANGES)] {
            known.extend(self.token(name).map(|token| (token, stands_for.to_owned())));
        }
        known.extend(self.headers.get("request-id").map(|id| (id.clone(), "~request~".to_owned())));
        for (token, stands_for) in known {
            text = text.replace(&token, &stands_for);
        }
        let mut plain = Self { body: text.into_bytes(), ..self.clone() };
        plain.headers.retain(|name, _| !FREE_HEADERS.contains(&name.as_str()));
        plain
    }
}

/// Compares two plain answers byte for byte. The lengths of tokens count too.
pub(crate) fn same_as_twin(ours: &Reply, twins: &Reply) -> Result<(), String> {
    if ours.status != twins.status {
        return Err(format!("status {} here, {} in the twin", ours.status, twins.status));
    }
    if ours.body == twins.body {
        return match ours.headers == twins.headers {
            true => Ok(()),
            false => Err(format!("headers {:?} here, {:?} in the twin", ours.headers, twins.headers)),
        };
    }
    let text = |reply: &Reply| String::from_utf8_lossy(&reply.body).into_owned();
    let (ours_text, twins_text) = (text(ours), text(twins));
    Err(match first_difference(&ours.json(), &twins.json(), "$", true) {
        Some(difference) => difference,
        None => format!("bytes differ:\n  here {ours_text}\n  twin {twins_text}"),
    })
}

/// Compares a plain answer with the model's.
pub(crate) fn same_as_model(ours: &Reply, expected: &Answer) -> Result<(), String> {
    match expected {
        Answer::Fault(codes, offered) => {
            let code = ours.code();
            if !codes.contains(code.as_str()) || status_of(&code) != Some(ours.status) {
                return Err(format!("{} {code:?}, the model says {codes:?}", ours.status));
            }
            let Some(offered) = offered.as_ref().filter(|_| ours.status == 409) else { return Ok(()) };
            differ(&by_connection(&ours.json()["error"]["available_connections"]), &by_connection(offered))
        }
        Answer::Json { body, .. } => {
            if ours.status != 200 {
                return Err(format!(
                    "{} {}, the model answers 200",
                    ours.status,
                    String::from_utf8_lossy(&ours.body)
                ));
            }
            let mut given = ours.json();
            for warning in
                given.pointer_mut("/meta/warnings").and_then(Value::as_array_mut).into_iter().flatten()
            {
                warning.as_object_mut().map(|members| members.remove("message"));
            }
            differ(&given, body)
        }
        Answer::Bytes { status, bytes } => match ours.status == *status && ours.body == *bytes {
            true => Ok(()),
            false => Err(format!(
                "{} {:?}, the model says {status} {:?}",
                ours.status,
                String::from_utf8_lossy(&ours.body),
                String::from_utf8_lossy(bytes)
            )),
        },
    }
}

fn differ(given: &Value, expected: &Value) -> Result<(), String> {
    first_difference(given, expected, "$", false).map_or(Ok(()), Err)
}

fn by_connection(list: &Value) -> Value {
    let mut list = list.as_array().cloned().unwrap_or_default();
    list.sort_by_key(|entry| entry["connection_id"].to_string());
    Value::Array(list)
}

/// The first place where two documents differ. Numbers are compared by value unless told otherwise.
fn first_difference(ours: &Value, theirs: &Value, path: &str, exact: bool) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
            for name in names {
                let path = format!("{path}.{name}");
                let difference = match (ours.get(name), theirs.get(name)) {
                    (Some(ours), Some(theirs)) => first_difference(ours, theirs, &path, exact),
                    (ours, theirs) => Some(told(&path, ours, theirs)),
                };
                if difference.is_some() {
                    return difference;
                }
            }
            None
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            let pairs = ours.iter().zip(theirs).enumerate();
            let mut inside = pairs.filter_map(|(index, (ours, theirs))| {
                first_difference(ours, theirs, &format!("{path}[{index}]"), exact)
            });
            let lengths = ours.len() != theirs.len();
            inside.next().or_else(|| {
                let at = ours.len().min(theirs.len());
                lengths.then(|| told(&format!("{path}[{at}]"), ours.get(at), theirs.get(at)))
            })
        }
        (Value::Number(a), Value::Number(b)) if !exact && a.as_f64() == b.as_f64() => None,
        _ if ours == theirs => None,
        _ => Some(told(path, Some(ours), Some(theirs))),
    }
}

fn told(path: &str, ours: Option<&Value>, theirs: Option<&Value>) -> String {
    let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    format!("at {path}: {} against {}", show(ours), show(theirs))
}

/// The status that belongs to each code of the read surface.
fn status_of(code: &str) -> Option<u16> {
    Some(match code {
        "invalid_request"
        | "invalid_argument"
        | "invalid_cursor"
        | "invalid_expand"
        | "invalid_sort"
        | "invalid_field_path"
        | "invalid_window"
        | "unknown_field"
        | "connector_instance_inactive"
        | "connector_instance_connector_mismatch" => 400,
        "field_not_granted"
        | "insufficient_scope"
        | "grant_stream_not_allowed"
        | "grant_revoked"
        | "grant_expired" => 403,
        "not_found"
        | "blob_not_found"
        | "connection_not_found"
        | "connector_instance_not_found"
        | "stream_not_declared"
        | "field_not_found"
        | "query_not_found" => 404,
        "ambiguous_connection" | "ambiguous_schema_detail" => 409,
        "cursor_expired" => 410,
        "invalid_range" => 416,
        "field_not_text" => 422,
        _ => return None,
    })
}
