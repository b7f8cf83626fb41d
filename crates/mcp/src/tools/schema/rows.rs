//! One row for each stream of each source, from any shape of the schema.
//!
//! Streams of a connector share its list of connections. There may be very many of both, so the list is made once and
//! is neither copied nor compared nor walked for each stream.

use std::sync::Arc;

use serde_json::Value;

/// A stream under one source.
#[derive(Clone, Debug)]
pub(crate) struct Row<'d> {
    pub(crate) name: &'d str,
    pub(crate) connector_key: Option<&'d str>,
    pub(crate) display_name: Option<&'d str>,
    pub(crate) connections: Connections<'d>,
    /// The stream as the server described it.
    pub(crate) stream: &'d Value,
}

/// The connections of a stream.
pub(crate) type Connections<'d> = Arc<[Connection<'d>]>;

/// A connection a stream can be read under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection<'d> {
    pub(crate) id: &'d str,
    pub(crate) label: Option<&'d str>,
}

/// The rows of a document: those of its connectors, else its own.
pub(crate) fn rows(document: &Value) -> Vec<Row<'_>> {
    let under_connectors: Vec<Row<'_>> = list(document, "connectors")
        .iter()
        .flat_map(|connector| {
            let shared = connections(connector);
            list(connector, "streams").iter().filter_map(move |stream| row(stream, connector, &shared))
        })
        .collect();
    if !under_connectors.is_empty() {
        return under_connectors;
    }
    let none = Connections::default();
    list(document, "streams").iter().filter_map(|stream| row(stream, &Value::Null, &none)).collect()
}

/// The connections of all rows, those that neighbours share once.
pub(crate) fn connections_of<'r, 'd>(
    rows: &'r [Row<'d>],
) -> impl Iterator<Item = Connection<'d>> + use<'r, 'd> {
    let lists = rows.chunk_by(|one, other| Arc::ptr_eq(&one.connections, &other.connections));
    lists.flat_map(|chunk| chunk[0].connections.iter().copied())
}

/// The rows in groups of one connector each.
pub(super) fn by_connector<'r, 'd>(rows: &'r [Row<'d>]) -> impl Iterator<Item = &'r [Row<'d>]> {
    rows.chunk_by(|one, other| one.connector_key == other.connector_key)
}

impl Row<'_> {
    /// Whether both can be read under the same connections.
    pub(super) fn shares_connections(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.connections, &other.connections) || self.connections == other.connections
    }
}

/// A row; `shared` are the connections of the connector.
fn row<'d>(stream: &'d Value, connector: &'d Value, shared: &Connections<'d>) -> Option<Row<'d>> {
    // The oldest servers list streams by name alone.
    let name = stream.as_str().or_else(|| text(stream, "name")).filter(|name| !name.is_empty())?;
    let source = |value: &'d Value| value.get("source").unwrap_or(&Value::Null);
    let places = [stream, source(stream), connector, source(connector)];
    let first =
        |names: &[&str]| places.iter().find_map(|place| names.iter().find_map(|name| text(place, name)));
    let own = connections(stream);
    let connections = match text(stream, "connection_id") {
        Some(id) if own.is_empty() => {
            [Connection { id, label: text(stream, "connection_display_name") }].into()
        }
        _ if own.is_empty() && stream.get("granted_connections").is_none() => Arc::clone(shared),
        _ => own,
    };
    Some(Row {
        name,
        connector_key: first(&["connector_key", "connector_id"]),
        display_name: first(&["display_name", "connector_display_name"]),
        connections,
        stream,
    })
}

fn connections(holder: &Value) -> Connections<'_> {
    let connection =
        |entry| Some(Connection { id: text(entry, "connection_id")?, label: text(entry, "display_name") });
    list(holder, "granted_connections").iter().filter_map(connection).collect()
}

pub(super) fn list<'d>(value: &'d Value, name: &str) -> &'d [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text<'d>(value: &'d Value, name: &str) -> Option<&'d str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}
