//! One stream's description: everything declared, and what this token may do with each field.
//!
//! The declaration is shown whole. Only the flags react to the grant: a field counts as granted
//! when every connection in the plan grants it, which is also when a parameter may name it.

use pdpp_access::{Authorizer, ExpandState, ReadPlan};
use pdpp_wire::manifest::{Cardinality, ExpandDeclaration, FieldDeclaration, StreamDeclaration};
use pdpp_wire::{
    AggregationCapabilities, Capability, ExpandCapability, ExpandReason, FieldCapability, Freshness,
    SelectionSupport, StreamDocument, StreamMetadataObject,
};
use serde_json::{Map, Value};

use crate::search::SearchModes;

/// Describes the stream of a plan.
pub(crate) fn describe(
    authorizer: Authorizer<'_>,
    plan: &ReadPlan,
    freshness: Freshness,
    search: &SearchModes,
) -> StreamDocument {
    let declaration = plan.declaration();
    let fields = declaration.fields().iter();
    StreamDocument {
        object: StreamMetadataObject::Value,
        name: declaration.name().clone(),
        description: declaration.document().get("description").and_then(Value::as_str).map(str::to_owned),
        semantics: declaration.semantics(),
        schema: object(declaration.schema()),
        primary_key: declaration.primary_key().to_vec(),
        cursor_field: declaration.cursor_field().map(str::to_owned),
        consent_time_field: declaration.consent_time_field().map(str::to_owned),
        selection: SelectionSupport {
            fields: declaration.selects_fields(),
            resources: declaration.selects_resources(),
        },
        views: declaration.views().to_vec(),
        relationships: declaration.relationships().to_vec(),
        query: declaration.document().get("query").map(object).unwrap_or_default(),
        field_capabilities: fields
            .map(|field| (field.name().to_owned(), capability(plan, field, search)))
            .collect(),
        expand_capabilities: declaration
            .expand()
            .iter()
            .map(|entry| expandable(authorizer, plan, entry))
            .collect(),
        freshness,
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn capability(plan: &ReadPlan, field: &FieldDeclaration, search: &SearchModes) -> FieldCapability {
    let declaration = plan.declaration();
    let name = field.name();
    let granted = plan.parts().iter().all(|part| part.granted().contains(name));
    let operators = declaration.range_operators(name);
    // What is declared can be used only where the server has an index of that kind.
    let searched = |fields: &[String], is_offered: bool| {
        let is_declared = fields.iter().any(|path| top_level(declaration, path) == name);
        let capability = Capability::new(is_declared, granted);
        Capability { usable: capability.usable && is_offered, ..capability }
    };
    FieldCapability {
        field_type: field.display_type().map(str::to_owned),
        role: field.role().map(str::to_owned),
        schema: field.schema().clone(),
        granted,
        exact_filter: Some(Capability::new(field.field_type().is_scalar(), granted)),
        range_filter: Some(Capability {
            operators: (!operators.is_empty()).then(|| operators.to_vec()),
            ..Capability::new(!operators.is_empty(), granted)
        }),
        lexical_search: searched(declaration.lexical_fields(), search.lexical.is_some()),
        semantic_search: searched(declaration.semantic_fields(), search.semantic.is_some()),
        aggregation: aggregations(declaration, name, granted),
    }
}

/// The field a search path lives under: the path itself if it is a declared name.
fn top_level<'p>(declaration: &StreamDeclaration, path: &'p str) -> &'p str {
    match declaration.find_field(path) {
        Some(_) => path,
        None => path.split('.').next().unwrap_or(path),
    }
}

fn aggregations(declaration: &StreamDeclaration, name: &str, granted: bool) -> AggregationCapabilities {
    let declared = declaration.aggregations();
    let flag = |fields: &[String]| Capability::new(fields.iter().any(|field| field == name), granted);
    AggregationCapabilities {
        count_distinct: flag(&declared.count_distinct),
        group_by: flag(&declared.group_by),
        group_by_time: flag(&declared.group_by_time),
        max: flag(&declared.max),
        min: flag(&declared.min),
        sum: flag(&declared.sum),
    }
}

fn expandable(
    authorizer: Authorizer<'_>,
    plan: &ReadPlan,
    declaration: &ExpandDeclaration,
) -> ExpandCapability {
    let relation = &declaration.relationship;
    let state = authorizer.expand_state(plan, declaration);
    let many = relation.cardinality == Cardinality::HasMany;
    ExpandCapability {
        name: relation.name.clone(),
        stream: relation.stream.clone(),
        target_stream: relation.stream.clone(),
        cardinality: relation.cardinality,
        child_parent_key_field: relation.foreign_key.clone(),
        foreign_key: relation.foreign_key.clone(),
        default_limit: many.then_some(declaration.default_limit),
        max_limit: many.then_some(declaration.max_limit),
        granted: state == ExpandState::Usable,
        usable: state == ExpandState::Usable,
        reason: match state {
            ExpandState::Usable => None,
            ExpandState::NotGranted => Some(ExpandReason::RelatedStreamNotGranted),
            ExpandState::Unknown => Some(ExpandReason::RelatedStreamUnknown),
        },
    }
}

#[cfg(test)]
mod tests {
    use pdpp_wire::manifest::Manifest;
    use serde_json::json;

    use super::top_level;

    #[test]
    fn a_search_path_that_is_a_declared_name_belongs_to_no_other_field() {
        let document = json!({"connector_key": "x", "streams": [{
            "name": "notes", "primary_key": "id",
            "schema": {"properties": {"id": {"type": "string"}, "a": {"type": "object"}, "a.b": {"type": "string"}}},
        }]});
        let manifest = Manifest::from_document(document).unwrap();
        let notes = manifest.find_stream("notes").unwrap();
        assert_eq!(
            [top_level(notes, "a.b"), top_level(notes, "a.c"), top_level(notes, "a")],
            ["a.b", "a", "a"]
        );
    }
}
