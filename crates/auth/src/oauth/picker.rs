//! What the owner may choose from when a client leaves the choice open: everything that holds records, with nothing
//! chosen.

use pdpp_access::{Catalogue, Connection, Source};
use pdpp_wire::manifest::{FieldDeclaration, StreamDeclaration};
use serde_json::{Value, json};

/// The sources with readable connections; a connection is readable once a record has arrived.
pub(super) fn offer(catalogue: &Catalogue) -> Value {
    let sources = catalogue.sources.iter().map(|source| (source, readable(source)));
    let sources = sources.filter(|(_, connections)| !connections.is_empty());
    let offered = sources.map(|(source, connections)| {
        json!({
            "source": source.manifest.source(),
            "display_name": source.manifest.display_name(),
            "source_declaration": { "version": source.declaration_version },
            "connections": connections
                .iter()
                .map(|one| json!({ "connection_id": one.connection_id, "display_name": one.display_name }))
                .collect::<Vec<_>>(),
            "streams": source.manifest.streams().iter().map(stream).collect::<Vec<_>>(),
        })
    });
    json!({ "sources": offered.collect::<Vec<_>>() })
}

fn readable(source: &Source) -> Vec<&Connection> {
    source.connections.iter().filter(|connection| connection.is_readable()).collect()
}

fn stream(declaration: &StreamDeclaration) -> Value {
    let fields = declaration.fields().iter();
    json!({
        "name": declaration.name(),
        "description": declaration.document().get("description"),
        "display": declaration.document().get("display"),
        "fields": fields.clone().map(FieldDeclaration::name).collect::<Vec<_>>(),
        "required_fields": fields.filter(|field| field.required()).map(FieldDeclaration::name).collect::<Vec<_>>(),
        "selects_fields": declaration.selects_fields(),
        "time_field": declaration.consent_time_field(),
    })
}
