//! Checks a manifest document and reads it into declarations.
//!
//! Checked is what the program relies on: names, types, references between members, and bounds.
//! Collection-only members (run requirements, set-up forms, icons) are kept in the document and
//! not interpreted, except the two the format forbids.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check_query::check_expand;
use super::check_stream::stream;
use super::read::{Checked, ManifestFault, depth, list, object, parse, text};
use super::{MAX_DEPTH, MAX_STREAMS, Manifest, Preset, PresetStream, StreamDeclaration, minted_source};
use crate::grant::is_absolute_uri;
use crate::{ConnectorKey, GrantSource, SourceKind};

pub(super) fn manifest(document: Value) -> Checked<Manifest> {
    if depth(&document) > MAX_DEPTH {
        return Err(ManifestFault::at("", format!("nested deeper than {MAX_DEPTH}")));
    }
    let root = object(&document, "")?;
    for forbidden in ["provider_id", "storage_binding"] {
        if root.contains_key(forbidden) {
            return Err(ManifestFault::at(forbidden, "this member is not allowed"));
        }
    }
    if let Some(version) = root.get("protocol_version")
        && version != "0.1.0"
    {
        return Err(ManifestFault::at("protocol_version", "must be 0.1.0"));
    }
    let key = connector_key(root)?;
    let source = source(root, &key)?;
    let streams = streams(root)?;
    let presets = presets(root, &streams)?;
    Ok(Manifest {
        source,
        sensitivity: parse(root, "", "sensitivity")?.unwrap_or_default(),
        display_name: text(root, "", "display_name")?,
        maximum_staleness_seconds: document
            .pointer("/capabilities/refresh_policy/maximum_staleness_seconds")
            .and_then(Value::as_i64),
        presets,
        streams,
        key,
        document,
    })
}

fn connector_key(root: &Map<String, Value>) -> Checked<ConnectorKey> {
    let key = text(root, "", "connector_key")?;
    let id = text(root, "", "connector_id")?;
    let short = |id: &str| id.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let spelled = match (key, id) {
        (Some(key), Some(id)) if id == key || short(&id) == key => key,
        (Some(_), Some(_)) => return Err(ManifestFault::at("connector_id", "disagrees with connector_key")),
        (Some(key), None) => key,
        (None, Some(id)) => short(&id),
        (None, None) => return Err(ManifestFault::at("connector_key", "is missing")),
    };
    ConnectorKey::parse(spelled).map_err(|fault| ManifestFault::at("connector_key", fault.to_string()))
}

fn source(root: &Map<String, Value>, key: &ConnectorKey) -> Checked<GrantSource> {
    let declared = match root.get("source_declaration") {
        Some(declaration) => declaration.pointer("/source/id").and_then(Value::as_str).map(str::to_owned),
        None => None,
    };
    let id = declared
        .or(text(root, "", "manifest_uri")?)
        .or(text(root, "", "connector_id")?.filter(|id| id.contains("://")));
    let minted = minted_source(key);
    match id {
        // The ids we mint name their own key; nobody else may take one.
        Some(id) if id.starts_with("urn:pdpp:source:") && id != minted.id => {
            Err(ManifestFault::at("manifest_uri", format!("`{id}` belongs to another connector key")))
        }
        Some(id) if is_absolute_uri(&id) => Ok(GrantSource { kind: SourceKind::Connector, id }),
        Some(_) => Err(ManifestFault::at("manifest_uri", "must be an absolute URI")),
        None => Ok(minted),
    }
}

fn streams(root: &Map<String, Value>) -> Checked<Vec<StreamDeclaration>> {
    let declared = list(root, "", "streams")?;
    if declared.is_empty() || declared.len() > MAX_STREAMS {
        return Err(ManifestFault::at("streams", format!("must hold 1 to {MAX_STREAMS} streams")));
    }
    let mut streams = Vec::with_capacity(declared.len());
    let mut names = BTreeSet::new();
    for (index, document) in declared.iter().enumerate() {
        let stream = stream(document, &format!("streams[{index}]"))?;
        if !names.insert(stream.name.clone()) {
            return Err(ManifestFault::at(format!("streams[{index}].name"), "is declared twice"));
        }
        streams.push(stream);
    }
    for index in 0..streams.len() {
        check_expand(&streams, index)?;
    }
    Ok(streams)
}

fn presets(root: &Map<String, Value>, streams: &[StreamDeclaration]) -> Checked<Vec<Preset>> {
    let member = if root.contains_key("selection_presets") { "selection_presets" } else { "profiles" };
    let Some(declared) = root.get(member) else {
        return Ok(Vec::new());
    };
    let declared = declared.as_array().ok_or_else(|| ManifestFault::at(member, "must be a list"))?;
    let said = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    declared
        .iter()
        .map(|entry| {
            let id = said(entry, "id").ok_or_else(|| ManifestFault::at(member, "a preset needs an id"))?;
            let chosen = entry.get("streams").and_then(Value::as_array).cloned().unwrap_or_default();
            let chosen = chosen
                .iter()
                .map(|stream| {
                    let name = said(stream, "name").unwrap_or_default();
                    if !streams.iter().any(|declared| declared.name.as_str() == name) {
                        return Err(ManifestFault::at(
                            member,
                            format!("`{id}` names unknown stream `{name}`"),
                        ));
                    }
                    let fields = stream
                        .get("fields")
                        .and_then(Value::as_array)
                        .map(|fields| fields.iter().filter_map(Value::as_str).map(str::to_owned).collect());
                    Ok(PresetStream { name, view: said(stream, "view"), fields })
                })
                .collect::<Checked<Vec<_>>>()?;
            Ok(Preset { label: said(entry, "label").unwrap_or_else(|| id.clone()), id, streams: chosen })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::super::{FieldType, RangeOperator};
    use super::*;

    fn sample() -> Value {
        json!({
            "protocol_version": "0.1.0", "connector_key": "my-notes", "display_name": "My notes",
            "streams": [{
                "name": "notes", "semantics": "mutable_state",
                "schema": {"type": "object", "required": ["id", "text"], "properties": {
                    "id": {"type": "string"}, "title": {"type": ["string", "null"]}, "text": {"type": "string"},
                    "stars": {"type": "integer"}, "tags": {"type": "array"},
                    "updated_at": {"type": "string", "format": "date-time"}}},
                "primary_key": "id", "cursor_field": "updated_at", "consent_time_field": "updated_at",
                "selection": {"fields": true, "resources": true},
                "views": [{"id": "short", "label": "Short", "fields": ["id", "title"]}],
                "query": {"range_filters": {"updated_at": ["gte", "lt"]}, "search": {"lexical_fields": ["text"]},
                    "aggregations": {"count": true, "sum": ["stars"], "group_by_time": ["updated_at"]}}
            }]
        })
    }

    #[track_caller]
    fn check(pointer: &str, value: Value, expected: Expect) {
        let mut document = sample();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        document.pointer_mut(parent).unwrap()[member] = value;
        let outcome = manifest(document).map_or_else(|fault| fault.to_string(), |_| "valid".into());
        expected.assert_eq(&outcome);
    }

    #[test]
    fn a_manifest_without_a_uri_gets_a_source_id_of_ours() {
        let manifest = manifest(sample()).unwrap();
        assert_eq!(manifest.source().id, "urn:pdpp:source:my-notes");
        let stream = manifest.find_stream("notes").unwrap();
        assert_eq!(stream.field_type("title"), FieldType::Text);
        assert_eq!(stream.field_type("tags"), FieldType::Json);
        assert_eq!(stream.range_operators("updated_at"), [RangeOperator::Gte, RangeOperator::Lt]);
    }

    #[test]
    fn names_and_keys_are_checked() {
        check(
            "/connector_key",
            json!("My Notes"),
            expect!["manifest at connector_key: connector key must match ^[a-z0-9][a-z0-9._-]*$"],
        );
        check(
            "/connector_id",
            json!("other"),
            expect!["manifest at connector_id: disagrees with connector_key"],
        );
        check(
            "/streams/0/name",
            json!("*"),
            expect!["manifest at streams[0].name: stream name `*` is reserved"],
        );
        check(
            "/streams/0/primary_key",
            json!("nope"),
            expect!["manifest at streams[0].primary_key: `nope` is not a declared property"],
        );
        check("/provider_id", json!("x"), expect!["manifest at provider_id: this member is not allowed"]);
        check("/streams", json!([]), expect!["manifest at streams: must hold 1 to 512 streams"]);
    }

    #[test]
    fn declared_queries_must_fit_their_fields() {
        check(
            "/streams/0/cursor_field",
            json!("title"),
            expect!["manifest at streams[0].cursor_field: `title` must be a number or a date"],
        );
        check(
            "/streams/0/consent_time_field",
            json!("stars"),
            expect!["manifest at streams[0].consent_time_field: `stars` must be a date or date-time string"],
        );
        check(
            "/streams/0/query/aggregations/sum",
            json!(["title"]),
            expect!["manifest at streams[0].query.aggregations.sum: `title` must be a number"],
        );
        check(
            "/streams/0/query/search/lexical_fields",
            json!(["stars"]),
            expect!["manifest at streams[0].query.search: `stars` must be text"],
        );
        check("/streams/0/query/search/lexical_fields", json!(["tags.0.name"]), expect!["valid"]);
        check(
            "/streams/0/query/range_filters",
            json!({"stars": ["like"]}),
            expect!["manifest at streams[0].query.range_filters: `stars` must list gte, gt, lte or lt"],
        );
        check(
            "/streams/0/query/expand",
            json!([{"name": "x"}]),
            expect!["manifest at streams[0].query.expand: `x` names no relationship"],
        );
    }

    #[test]
    fn an_id_of_ours_names_its_own_key() {
        check("/manifest_uri", json!("urn:pdpp:source:my-notes"), expect!["valid"]);
        check(
            "/manifest_uri",
            json!("urn:pdpp:source:chat"),
            expect!["manifest at manifest_uri: `urn:pdpp:source:chat` belongs to another connector key"],
        );
    }

    #[test]
    fn only_local_schema_references_are_taken() {
        check(
            "/streams/0/schema/properties/title",
            json!({"$ref": "https://example.org/x"}),
            expect!["manifest at streams[0].schema: `https://example.org/x` is not a local reference"],
        );
    }
}
