//! What the schema document says about one stream, in whichever shape a server sends it.

use pdpp_client::Request;
use serde_json::{Map, Value};

use crate::Adapter;
use crate::failure::Failure;

/// Asks the live schema about a stream; servers that do not know the compact view are asked again without it.
pub(crate) async fn schema_of(
    adapter: &Adapter,
    stream: &str,
    connection_id: Option<&str>,
) -> Result<Value, Failure> {
    let request = |view: Option<&str>| {
        Request::get(["v1", "schema"])
            .maybe("view", view)
            .query("stream", stream)
            .maybe("connection_id", connection_id)
    };
    match adapter.json(&request(Some("compact"))).await {
        Err(failure) if failure.http_status == Some(400) => Ok(adapter.json(&request(None)).await?.body),
        answer => Ok(answer?.body),
    }
}

/// The rows of the stream, from `streams` and from `connectors[].streams`, under at most one `data`. A bare name
/// is no row: it says nothing about the stream.
pub(crate) fn rows_of<'v>(schema: &'v Value, stream: &str) -> Vec<&'v Map<String, Value>> {
    let documents = [Some(schema), schema.get("data")];
    let lists = documents.into_iter().flatten().flat_map(|document| {
        let connectors = document.get("connectors").and_then(Value::as_array);
        let nested = connectors.into_iter().flatten().filter_map(|connector| connector.get("streams"));
        document.get("streams").into_iter().chain(nested)
    });
    let rows = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_object);
    let named = |row: &&Map<String, Value>| {
        ["name", "stream", "stream_name"].iter().any(|name| row.get(*name).is_some_and(|it| it == stream))
    };
    rows.filter(named).collect()
}
