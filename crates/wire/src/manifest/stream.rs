//! One declared stream: its fields and what may be asked of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FieldDeclaration, FieldType};
use crate::StreamName;

/// How records of a stream may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Semantics {
    /// Records are added and never rewritten.
    AppendOnly,
    /// Records may change and disappear.
    MutableState,
}

/// A named selection of fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct View {
    /// Names the view.
    pub id: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The fields it shows.
    pub fields: Vec<String>,
}

/// A relation to records of another stream that hold this record's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Relationship {
    /// Names the relation.
    pub name: String,
    /// The related stream.
    pub stream: String,
    /// The field on the related stream that holds this record's key.
    pub foreign_key: String,
    /// One or many.
    pub cardinality: Cardinality,
}

/// How many related records there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// A list.
    HasMany,
    /// One or none.
    HasOne,
}

/// A relation that reads may expand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandDeclaration {
    /// The relation.
    pub relationship: Relationship,
    /// Children shown when nothing is asked.
    pub default_limit: u32,
    /// Most children that may be asked for.
    pub max_limit: u32,
}

/// A comparison a range filter may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RangeOperator {
    /// At least.
    Gte,
    /// More than.
    Gt,
    /// At most.
    Lte,
    /// Less than.
    Lt,
}

impl RangeOperator {
    /// The operator as it is spelled in parameters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gte => "gte",
            Self::Gt => "gt",
            Self::Lte => "lte",
            Self::Lt => "lt",
        }
    }

    /// Reads an operator as it is spelled in parameters.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Gte, Self::Gt, Self::Lte, Self::Lt].into_iter().find(|operator| operator.as_str() == text)
    }
}

/// The declared aggregations, as field lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Aggregations {
    /// Whether records may be counted.
    #[serde(default)]
    pub count: bool,
    /// Fields that may be summed.
    #[serde(default)]
    pub sum: Vec<String>,
    /// Fields whose least value may be asked.
    #[serde(default)]
    pub min: Vec<String>,
    /// Fields whose greatest value may be asked.
    #[serde(default)]
    pub max: Vec<String>,
    /// Fields that records may be grouped by.
    #[serde(default)]
    pub group_by: Vec<String>,
    /// Time fields that records may be bucketed by.
    #[serde(default)]
    pub group_by_time: Vec<String>,
    /// Fields whose distinct values may be counted.
    #[serde(default)]
    pub count_distinct: Vec<String>,
}

/// One declared stream.
#[derive(Clone, Debug)]
pub struct StreamDeclaration {
    pub(super) name: StreamName,
    pub(super) semantics: Semantics,
    pub(super) schema: Value,
    pub(super) fields: Vec<FieldDeclaration>,
    pub(super) primary_key: Vec<String>,
    pub(super) cursor_field: Option<String>,
    pub(super) consent_time_field: Option<String>,
    pub(super) selects_fields: bool,
    pub(super) selects_resources: bool,
    pub(super) views: Vec<View>,
    pub(super) relationships: Vec<Relationship>,
    pub(super) range_filters: Vec<(String, Vec<RangeOperator>)>,
    pub(super) lexical_fields: Vec<String>,
    pub(super) semantic_fields: Vec<String>,
    pub(super) aggregations: Aggregations,
    pub(super) expand: Vec<ExpandDeclaration>,
    pub(super) document: Value,
}

impl StreamDeclaration {
    /// The stream's name.
    pub fn name(&self) -> &StreamName {
        &self.name
    }

    /// How its records may change.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// The JSON Schema of a record's data.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The top-level properties, in the document's order.
    pub fn fields(&self) -> &[FieldDeclaration] {
        &self.fields
    }

    /// One top-level property.
    pub fn find_field(&self, name: &str) -> Option<&FieldDeclaration> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The type of a property; [`FieldType::Json`] when it is not declared.
    pub fn field_type(&self, name: &str) -> FieldType {
        self.find_field(name).map_or(FieldType::Json, FieldDeclaration::field_type)
    }

    /// The fields whose values form the record key.
    pub fn primary_key(&self) -> &[String] {
        &self.primary_key
    }

    /// The field records are ordered by.
    pub fn cursor_field(&self) -> Option<&str> {
        self.cursor_field.as_deref()
    }

    /// The field a grant's time limits speak of.
    pub fn consent_time_field(&self) -> Option<&str> {
        self.consent_time_field.as_deref()
    }

    /// Whether a selection may name fields.
    pub fn selects_fields(&self) -> bool {
        self.selects_fields
    }

    /// Whether a selection may name records.
    pub fn selects_resources(&self) -> bool {
        self.selects_resources
    }

    /// The declared views.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// One declared view.
    pub fn find_view(&self, id: &str) -> Option<&View> {
        self.views.iter().find(|view| view.id == id)
    }

    /// The declared relations.
    pub fn relationships(&self) -> &[Relationship] {
        &self.relationships
    }

    /// The fields that may be ranged over, with their operators in declared order.
    pub fn range_filters(&self) -> &[(String, Vec<RangeOperator>)] {
        &self.range_filters
    }

    /// The operators declared for one field.
    pub fn range_operators(&self, field: &str) -> &[RangeOperator] {
        self.range_filters.iter().find(|(name, _)| name == field).map_or(&[], |(_, operators)| operators)
    }

    /// The fields lexical search reads; may be dotted paths.
    pub fn lexical_fields(&self) -> &[String] {
        &self.lexical_fields
    }

    /// The fields semantic search reads.
    pub fn semantic_fields(&self) -> &[String] {
        &self.semantic_fields
    }

    /// The declared aggregations.
    pub fn aggregations(&self) -> &Aggregations {
        &self.aggregations
    }

    /// The relations reads may expand.
    pub fn expand(&self) -> &[ExpandDeclaration] {
        &self.expand
    }

    /// One expandable relation.
    pub fn find_expand(&self, name: &str) -> Option<&ExpandDeclaration> {
        self.expand.iter().find(|expand| expand.relationship.name == name)
    }

    /// The stream as its manifest declares it.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Whether the stream declares the protocol's `blob_ref` property.
    pub fn has_blobs(&self) -> bool {
        self.find_field("blob_ref").is_some()
    }
}
