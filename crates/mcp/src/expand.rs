//! The expand gate: a stream that declares no relations is not asked for any.
//!
//! The answer comes from the live schema on every call, so a change counts at once. Whatever the gate cannot
//! know, the resource server decides: a failed lookup or an unknown stream lets the call pass.

use pdpp_client::Request;
use pdpp_wire::Code;
use serde_json::{Map, Value};

use crate::Adapter;
use crate::arguments::{Arguments, scalar_text};
use crate::failure::Failure;
use crate::stream_rows::{rows_of, schema_of};
use crate::text::quoted;

/// Refuses `expand` and `expand_limit` where the stream has nothing to expand.
pub(crate) async fn gate(
    adapter: &Adapter,
    arguments: &Arguments,
    stream: &str,
    connection_id: Option<&str>,
) -> Result<(), Failure> {
    let relations = relations(arguments);
    if relations.is_empty() {
        return Ok(());
    }
    let Ok(schema) = schema_of(adapter, stream, connection_id).await else { return Ok(()) };
    let rows = rows_of(&schema, stream);
    if rows.is_empty() || rows.into_iter().any(has_relations) {
        return Ok(());
    }
    let asked: Vec<String> = relations.iter().take(10).map(|relation| quoted(relation, 80)).collect();
    let message = format!(
        "The stream {} has no relations to expand (asked for {}). See `expand_capabilities` in GET /v1/schema, \
         and repeat the call without `expand` and `expand_limit`.",
        quoted(stream, 200),
        asked.join(", "),
    );
    Err(Failure::adapter(Code::InvalidExpand, message).param("expand"))
}

/// The request with both parameters, unchanged.
pub(crate) fn expanded(request: Request, arguments: &Arguments) -> Request {
    let request = request.each("expand", arguments.texts("expand"));
    let limits = arguments.object("expand_limit").into_iter().flatten();
    limits.fold(request, |request, (relation, limit)| {
        request.query(format!("expand_limit[{relation}]"), scalar_text(limit))
    })
}

fn relations(arguments: &Arguments) -> Vec<&str> {
    let mut relations = arguments.texts("expand");
    let limited =
        arguments.object("expand_limit").into_iter().flatten().map(|(relation, _)| relation.as_str());
    relations.extend(limited.filter(|relation| !arguments.texts("expand").contains(relation)));
    relations
}

fn has_relations(row: &Map<String, Value>) -> bool {
    match row.get("expand_capabilities") {
        Some(Value::Array(relations)) => !relations.is_empty(),
        Some(Value::Object(relations)) => !relations.is_empty(),
        _ => false,
    }
}
