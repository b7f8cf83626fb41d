//! Completions: the streams, connections and fields that the grant really has, while a person types.
//!
//! They come from the live schema. A completion is a convenience, so whatever goes wrong gives an empty list.

use std::collections::HashSet;

use pdpp_evidence::neutralise;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use serde_json::Value;

use crate::Adapter;
use crate::prompts;
use crate::tools::schema::rows::{connections_of, rows};
use crate::tools::schema::{Wanted, granted_fields, prepared, read};

const STREAM_TEMPLATE: &str = "pdpp://stream/{name}";
/// The longest value that is offered.
const MAX_BYTES: usize = 512;

/// What is being completed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stream,
    Connection,
    Field,
}

/// Completes one argument.
pub(crate) async fn complete(adapter: &Adapter, request: &CompleteRequestParams) -> CompleteResult {
    let Some(kind) = kind(request) else { return CompleteResult::default() };
    let chosen = |name: &str| {
        let value = request.context.as_ref()?.get_argument(name)?;
        (!value.is_empty()).then_some(value.as_str())
    };
    let stream = chosen("stream").filter(|_| kind != Kind::Stream);
    let connection_id = chosen("connection_id").filter(|_| kind != Kind::Connection);
    let wanted = Wanted { stream, connection_id, full: false };
    let Ok(reply) = read(adapter, wanted).await else { return CompleteResult::default() };
    let mut values = candidates(kind, &prepared(reply.body, wanted));
    let typed = request.argument.value.to_lowercase();
    values.retain(|value| value.to_lowercase().contains(&typed));
    // What begins with the typed text comes first; the order is otherwise the server's.
    values.sort_by_key(|value| !value.to_lowercase().starts_with(&typed));
    result(values)
}

fn kind(request: &CompleteRequestParams) -> Option<Kind> {
    let argument = request.argument.name.as_str();
    match &request.r#ref {
        Reference::Resource(resource) if resource.uri == STREAM_TEMPLATE && argument == "name" => {
            Some(Kind::Stream)
        }
        Reference::Prompt(prompt) if prompts::takes(&prompt.name, argument) => match argument {
            "stream" => Some(Kind::Stream),
            "connection_id" => Some(Kind::Connection),
            "field_path" => Some(Kind::Field),
            _ => None,
        },
        _ => None,
    }
}

fn candidates(kind: Kind, document: &Value) -> Vec<String> {
    let mut seen = HashSet::new();
    let rows = rows(document);
    let values: Vec<&str> = match kind {
        Kind::Stream => rows.iter().map(|row| row.name).collect(),
        Kind::Connection => connections_of(&rows).map(|connection| connection.id).collect(),
        Kind::Field => rows.iter().flat_map(granted_fields).collect(),
    };
    values
        .into_iter()
        // A name that cannot be shown as it is cannot be offered: shown otherwise, it would open nothing.
        .filter(|value| value.len() <= MAX_BYTES && neutralise(value).replaced == 0)
        .filter(|value| seen.insert(*value))
        .map(str::to_owned)
        .collect()
}

fn result(mut values: Vec<String>) -> CompleteResult {
    let total = u32::try_from(values.len()).ok();
    let more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(values, total, more).map(CompleteResult::new).unwrap_or_default()
}
