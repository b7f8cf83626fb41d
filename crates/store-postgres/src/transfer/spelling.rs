//! How the columns of a part are called and typed here.

use pdpp_store::transfer::{Kind, Part};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Long,
    Integer,
    Short,
    Boolean,
    Text,
    Bytes,
}

impl Typed {
    /// As a statement spells it.
    pub(super) const fn sql(self) -> &'static str {
        match self {
            Self::Long => "bigint",
            Self::Integer => "integer",
            Self::Short => "smallint",
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::Bytes => "bytea",
        }
    }
}

/// A column here.
pub(super) fn column(part: Part, name: &'static str, kind: Kind) -> (&'static str, Typed) {
    match (part, name, kind) {
        (Part::Clients, "subject_id", _) => ("registered_by", Typed::Text),
        (_, "position" | "attempts", _) => (name, Typed::Integer),
        (Part::ChangeLog, "kind", _) => (name, Typed::Short),
        (_, "consumed", _) => (name, Typed::Boolean),
        (_, _, Kind::Number) => (name, Typed::Long),
        (_, _, Kind::Text) => (name, Typed::Text),
        (_, _, Kind::Bytes) => (name, Typed::Bytes),
    }
}

/// The columns of a part here.
pub(super) fn columns(part: Part) -> Vec<(&'static str, Typed)> {
    part.columns().iter().map(|(name, kind)| column(part, name, *kind)).collect()
}

/// The number that says in which order rows of a part were made.
pub(super) const fn made(part: Part) -> &'static str {
    match part {
        Part::Disclosures => "id",
        _ => "ordinal",
    }
}
