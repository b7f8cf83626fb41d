//! One declared top-level property, and what kind of value it holds.

use serde_json::Value;

/// What a property holds, as far as queries can use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// `true` or `false`.
    Boolean,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Text.
    Text,
    /// A string with format `date` or `date-time`.
    Instant,
    /// Objects, arrays, unions of several types, or undeclared: readable, not queryable.
    Json,
}

impl FieldType {
    /// Whether exact filters and groups can use it.
    pub const fn is_scalar(self) -> bool {
        !matches!(self, Self::Json)
    }

    /// Whether it can be summed.
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Number)
    }

    /// Whether it can be ranged over and sorted by.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::Integer | Self::Number | Self::Instant)
    }

    /// Reads the type from a property's schema: exactly one non-null type, or [`FieldType::Json`].
    pub fn of_schema(schema: &Value) -> Self {
        let one = match schema.get("type") {
            Some(Value::String(name)) => name.as_str(),
            Some(Value::Array(names)) => {
                let mut named_types = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                match (named_types.next(), named_types.next()) {
                    (Some(one), None) => one,
                    _ => return Self::Json,
                }
            }
            _ => return Self::Json,
        };
        match one {
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => match schema.get("format").and_then(Value::as_str) {
                Some("date" | "date-time") => Self::Instant,
                _ => Self::Text,
            },
            _ => Self::Json,
        }
    }
}

/// One declared top-level property.
#[derive(Clone, Debug)]
pub struct FieldDeclaration {
    pub(super) name: String,
    pub(super) field_type: FieldType,
    pub(super) role: Option<String>,
    pub(super) display_type: Option<String>,
    pub(super) required: bool,
    pub(super) schema: Value,
}

impl FieldDeclaration {
    /// The property's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn field_type(&self) -> FieldType {
        self.field_type
    }

    /// Its display role (`x_pdpp_role`), if declared.
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// Its display type (`x_pdpp_type`), if declared.
    pub fn display_type(&self) -> Option<&str> {
        self.display_type.as_deref()
    }

    /// Whether the schema requires it: the consent floor of its stream.
    pub fn required(&self) -> bool {
        self.required
    }

    /// Its own schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}
