//! Checks what a stream declares about queries: ranges, aggregations, relations, blobs.

use serde_json::Value;

use super::read::{Checked, ManifestFault, object};
use super::{Aggregations, Cardinality, ExpandDeclaration, RangeOperator, StreamDeclaration};

pub(super) fn check_blob_ref(stream: &StreamDeclaration, path: &str) -> Checked<()> {
    let Some(field) = stream.find_field("blob_ref") else {
        return Ok(());
    };
    let declares = |name: &str, kind: &str| {
        field.schema.pointer(&format!("/properties/{name}")).is_some_and(|schema| match schema.get("type") {
            Some(Value::String(one)) => one == kind,
            Some(Value::Array(many)) => many.iter().any(|one| one == kind),
            _ => false,
        })
    };
    let strings = ["blob_id", "mime_type", "sha256"].iter().all(|name| declares(name, "string"));
    let requires = field
        .schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|r| r.iter().any(|n| n == "blob_id"));
    if strings && declares("size_bytes", "integer") && requires {
        return Ok(());
    }
    Err(ManifestFault::at(
        format!("{path}.schema.properties.blob_ref"),
        "must declare blob_id, mime_type, sha256 (strings) and size_bytes (integer), and require blob_id",
    ))
}

pub(super) fn range_filters(document: &Value, path: &str) -> Checked<Vec<(String, Vec<RangeOperator>)>> {
    let Some(declared) = document.pointer("/query/range_filters") else {
        return Ok(Vec::new());
    };
    object(declared, path)?
        .iter()
        .map(|(name, operators)| {
            let operators: Vec<RangeOperator> = serde_json::from_value(operators.clone())
                .map_err(|_| ManifestFault::at(path, format!("`{name}` must list gte, gt, lte or lt")))?;
            Ok((name.clone(), operators))
        })
        .collect()
}

pub(super) fn aggregations(document: &Value, path: &str) -> Checked<Aggregations> {
    match document.pointer("/query/aggregations") {
        None => Ok(Aggregations::default()),
        Some(declared) => {
            serde_json::from_value(declared.clone()).map_err(|e| ManifestFault::at(path, e.to_string()))
        }
    }
}

pub(super) fn expand(
    stream: &StreamDeclaration,
    document: &Value,
    path: &str,
) -> Checked<Vec<ExpandDeclaration>> {
    let Some(declared) = document.pointer("/query/expand") else {
        return Ok(Vec::new());
    };
    let declared = declared.as_array().ok_or_else(|| ManifestFault::at(path, "must be a list"))?;
    declared
        .iter()
        .map(|entry| {
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
            let relationship = stream.relationships.iter().find(|relationship| relationship.name == name);
            let relationship = relationship
                .ok_or_else(|| ManifestFault::at(path, format!("`{name}` names no relationship")))?
                .clone();
            let limit =
                |member: &str| entry.get(member).map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok()));
            let (default, max) = (limit("default_limit"), limit("max_limit"));
            let one = relationship.cardinality == Cardinality::HasOne;
            if one && (default.is_some() || max.is_some()) {
                return Err(ManifestFault::at(path, format!("`{name}` is has_one and takes no limits")));
            }
            let max_limit = max.unwrap_or(Some(50));
            let default_limit = default.unwrap_or(max_limit.map(|max| max.min(10)));
            match (default_limit, max_limit) {
                (Some(default_limit), Some(max_limit))
                    if 0 < default_limit && default_limit <= max_limit && max_limit <= 1000 =>
                {
                    Ok(ExpandDeclaration { relationship, default_limit, max_limit })
                }
                _ => Err(ManifestFault::at(
                    path,
                    format!("`{name}` needs 1 <= default_limit <= max_limit <= 1000"),
                )),
            }
        })
        .collect()
}

pub(super) fn check_expand(streams: &[StreamDeclaration], index: usize) -> Checked<()> {
    for ExpandDeclaration { relationship, .. } in &streams[index].expand {
        let path = format!("streams[{index}].query.expand");
        // An undeclared related stream is reported to readers as `related_stream_unknown`.
        let Some(child) = streams.iter().find(|stream| stream.name.as_str() == relationship.stream) else {
            continue;
        };
        if !child.find_field(&relationship.foreign_key).is_some_and(|field| field.field_type.is_scalar()) {
            let problem = format!(
                "`{}` is not a scalar property of `{}`",
                relationship.foreign_key, relationship.stream
            );
            return Err(ManifestFault::at(path, problem));
        }
    }
    Ok(())
}
