//! Checks one stream: its schema, its keys, and that declared queries fit their fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check_query::{aggregations, check_blob_ref, expand, range_filters};
use super::read::{Checked, ManifestFault, flag, names, object, parse, text};
use super::schema_cost::check_schema;
use super::{FieldDeclaration, FieldType, MAX_FIELDS, Semantics, StreamDeclaration};
use crate::StreamName;

pub(super) fn stream(document: &Value, path: &str) -> Checked<StreamDeclaration> {
    let root = object(document, path)?;
    let at = |member: &str| format!("{path}.{member}");
    let name = text(root, path, "name")?.ok_or_else(|| ManifestFault::at(at("name"), "is missing"))?;
    let name = StreamName::parse(name).map_err(|fault| ManifestFault::at(at("name"), fault.to_string()))?;
    let schema = root.get("schema").ok_or_else(|| ManifestFault::at(at("schema"), "is missing"))?.clone();
    check_schema(&schema, &at("schema"))?;
    let fields = fields(&schema, &at("schema"))?;
    let semantics = match root.get("semantics").and_then(Value::as_str) {
        Some("append_only" | "append") => Semantics::AppendOnly,
        Some("mutable_state") | None => Semantics::MutableState,
        Some(_) => {
            return Err(ManifestFault::at(at("semantics"), "must be append_only or mutable_state"));
        }
    };
    let mut stream = StreamDeclaration {
        name,
        semantics,
        primary_key: primary_key(root, path)?,
        cursor_field: text(root, path, "cursor_field")?,
        consent_time_field: text(root, path, "consent_time_field")?,
        selects_fields: flag(document, "/selection/fields"),
        selects_resources: flag(document, "/selection/resources"),
        views: parse(root, path, "views")?.unwrap_or_default(),
        relationships: parse(root, path, "relationships")?.unwrap_or_default(),
        range_filters: range_filters(document, &at("query.range_filters"))?,
        lexical_fields: names(document, "/query/search/lexical_fields", &at("query.search.lexical_fields"))?,
        semantic_fields: names(
            document,
            "/query/search/semantic_fields",
            &at("query.search.semantic_fields"),
        )?,
        aggregations: aggregations(document, &at("query.aggregations"))?,
        expand: Vec::new(),
        document: document.clone(),
        schema,
        fields,
    };
    check_stream(&stream, path)?;
    stream.expand = expand(&stream, document, &at("query.expand"))?;
    Ok(stream)
}

fn fields(schema: &Value, path: &str) -> Checked<Vec<FieldDeclaration>> {
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .ok_or_else(|| ManifestFault::at(format!("{path}.properties"), "is missing"))?;
    if properties.is_empty() || properties.len() > MAX_FIELDS {
        return Err(ManifestFault::at(
            format!("{path}.properties"),
            format!("must hold 1 to {MAX_FIELDS} fields"),
        ));
    }
    let required: BTreeSet<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    properties
        .iter()
        .map(|(name, schema)| {
            if name.is_empty() || name.len() > 256 || name.chars().any(char::is_control) {
                return Err(ManifestFault::at(
                    format!("{path}.properties"),
                    format!("{name:?} is no field name"),
                ));
            }
            let said = |member: &str| schema.get(member).and_then(Value::as_str).map(str::to_owned);
            Ok(FieldDeclaration {
                field_type: FieldType::of_schema(schema),
                role: said("x_pdpp_role"),
                display_type: said("x_pdpp_type"),
                required: required.contains(name.as_str()),
                schema: schema.clone(),
                name: name.clone(),
            })
        })
        .collect()
}

fn primary_key(root: &Map<String, Value>, path: &str) -> Checked<Vec<String>> {
    let at = format!("{path}.primary_key");
    let parts: Vec<String> = match root.get("primary_key") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(parts)) => parts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => return Err(ManifestFault::at(at, "must be a field name or a list of them")),
    };
    if parts.is_empty() || parts.len() > 8 {
        return Err(ManifestFault::at(at, "must name 1 to 8 fields"));
    }
    Ok(parts)
}

fn check_stream(stream: &StreamDeclaration, path: &str) -> Checked<()> {
    check_fits(stream, path)?;
    check_views(stream, path)?;
    check_search(stream, path)?;
    check_blob_ref(stream, path)
}

/// Every field a member names exists and has a type the member can use.
fn check_fits(stream: &StreamDeclaration, path: &str) -> Checked<()> {
    type Fit = fn(FieldType) -> bool;
    const ORDERED: (Fit, &str) = (FieldType::is_ordered, "a number or a date");
    const SCALAR: (Fit, &str) = (FieldType::is_scalar, "a single scalar type");
    const INSTANT: (Fit, &str) =
        (|field_type| field_type == FieldType::Instant, "a date or date-time string");
    const NUMERIC: (Fit, &str) = (FieldType::is_numeric, "a number");
    const ANY: (Fit, &str) = (|_| true, "declared");
    let sums = &stream.aggregations;
    let ranged: Vec<String> = stream.range_filters.iter().map(|(name, _)| name.clone()).collect();
    let table: [(&str, &[String], (Fit, &str)); 10] = [
        ("primary_key", &stream.primary_key, ANY),
        ("cursor_field", stream.cursor_field.as_slice(), ORDERED),
        ("consent_time_field", stream.consent_time_field.as_slice(), INSTANT),
        ("query.range_filters", &ranged, ORDERED),
        ("query.aggregations.sum", &sums.sum, NUMERIC),
        ("query.aggregations.min", &sums.min, ORDERED),
        ("query.aggregations.max", &sums.max, ORDERED),
        ("query.aggregations.group_by", &sums.group_by, SCALAR),
        ("query.aggregations.count_distinct", &sums.count_distinct, SCALAR),
        ("query.aggregations.group_by_time", &sums.group_by_time, INSTANT),
    ];
    for (member, names, (fits, need)) in table {
        for name in names {
            if !fits(known(stream, path, member, name)?) {
                return Err(ManifestFault::at(
                    format!("{path}.{member}"),
                    format!("`{name}` must be {need}"),
                ));
            }
        }
    }
    Ok(())
}

fn check_views(stream: &StreamDeclaration, path: &str) -> Checked<()> {
    let mut ids = BTreeSet::new();
    for view in &stream.views {
        if !ids.insert(&view.id) || view.fields.is_empty() {
            let problem = format!("`{}` is empty or declared twice", view.id);
            return Err(ManifestFault::at(format!("{path}.views"), problem));
        }
        for name in &view.fields {
            known(stream, path, "views", name)?;
        }
    }
    Ok(())
}

/// Search reads text: a text field, or a dotted path below an object or array.
fn check_search(stream: &StreamDeclaration, path: &str) -> Checked<()> {
    for name in stream.lexical_fields.iter().chain(&stream.semantic_fields) {
        let whole = stream.find_field(name).is_some();
        let top = if whole { name } else { name.split('.').next().unwrap_or(name) };
        let field_type = known(stream, path, "query.search", top)?;
        if field_type != FieldType::Text && (whole || field_type != FieldType::Json) {
            return Err(ManifestFault::at(format!("{path}.query.search"), format!("`{name}` must be text")));
        }
    }
    Ok(())
}

fn known(stream: &StreamDeclaration, path: &str, member: &str, name: &str) -> Checked<FieldType> {
    stream.find_field(name).map(|field| field.field_type).ok_or_else(|| {
        ManifestFault::at(format!("{path}.{member}"), format!("`{name}` is not a declared property"))
    })
}
