//! How the declared fields of a stream are numbered in `record_fields`, and what a record's rows there hold.
//!
//! Every scalar field has a number, the cursor field too; its value stands in `ord` as well, beside each row.

use pdpp_access::Source;
use pdpp_store::columns;
use pdpp_wire::manifest::{FieldType, StreamDeclaration};
use pdpp_wire::{Instant, SubjectId};
use serde_json::{Map, Value};

use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::value::Sortable;

/// A declared field's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its number in `record_fields`.
    pub(crate) field: i32,
    /// What it holds.
    pub(crate) field_type: FieldType,
    /// Whether it is the cursor field, so that `ord` holds the same.
    pub(crate) is_order: bool,
}

/// The fields of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    fields: Vec<(String, FieldType)>,
    cursor: Option<usize>,
    consent: Option<String>,
}

/// One field's row of one record.
#[derive(Clone, Debug)]
pub(crate) struct FieldRow {
    pub(crate) field: i32,
    pub(crate) value: Option<Sortable>,
}

impl Layout {
    /// The layout a declaration asks for.
    pub(crate) fn of(declaration: &StreamDeclaration) -> Self {
        let fields: Vec<_> =
            columns(declaration).into_iter().map(|column| (column.field, column.field_type)).collect();
        let cursor = declaration.cursor_field();
        Self {
            cursor: fields.iter().position(|(name, _)| Some(name.as_str()) == cursor),
            consent: declaration.consent_time_field().map(str::to_owned),
            fields,
        }
    }

    /// The layout of a plan's stream. A declaration that was replaced after the asker learned of it may lay it out
    /// otherwise; then the asker has to ask again.
    pub(crate) async fn find(
        session: &Session,
        subject_id: &SubjectId,
        source: &Source,
        declaration: &StreamDeclaration,
    ) -> Outcome<Self> {
        let sql = "SELECT declaration_version, layout FROM layouts
                   WHERE subject_id = $1 AND connector_key = $2 AND stream = $3";
        let names = (subject_id.as_str(), source.key().as_str(), declaration.name().as_str());
        let Some(row) = session.query_opt(sql, &[&names.0, &names.1, &names.2]).await? else {
            return Err(Fault::overtaken("the stream is not declared any more"));
        };
        let layout = Self::of(declaration);
        if row.get::<_, &str>(0) == source.declaration_version || row.get::<_, &str>(1) == layout.spelling() {
            return Ok(layout);
        }
        Err(Fault::overtaken("the stream's declaration was replaced"))
    }

    /// Spells the layout; two layouts are the same when their spellings are.
    pub(crate) fn spelling(&self) -> String {
        let spell = |(field, field_type): &(String, FieldType)| {
            Value::from(vec![field.clone(), format!("{field_type:?}")])
        };
        serde_json::json!({
            "cursor": self.cursor,
            "consent": self.consent,
            "fields": self.fields.iter().map(spell).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// Whether an earlier spelling has the same consent time field.
    pub(crate) fn has_consent_of(&self, spelling: &str) -> bool {
        let earlier: Value = serde_json::from_str(spelling).unwrap_or_default();
        earlier["consent"].as_str() == self.consent.as_deref()
    }

    /// Where a field stands, if it is a scalar.
    pub(crate) fn place(&self, field: &str) -> Option<Place> {
        let index = self.fields.iter().position(|(name, _)| name == field)?;
        Some(Place {
            field: i32::try_from(index).ok()?,
            field_type: self.fields[index].1,
            is_order: self.cursor == Some(index),
        })
    }

    /// The cursor field's type, if the stream has one.
    pub(crate) fn order_type(&self) -> Option<FieldType> {
        self.cursor.map(|index| self.fields[index].1)
    }

    /// The record's place in its stream's order.
    pub(crate) fn ord(&self, data: &Map<String, Value>) -> Option<Sortable> {
        let (name, field_type) = &self.fields[self.cursor?];
        Sortable::of_value(*field_type, data.get(name))
    }

    /// The record's rows, one for each field.
    pub(crate) fn rows(&self, data: &Map<String, Value>) -> impl Iterator<Item = FieldRow> {
        self.fields.iter().zip(0..).map(|((name, field_type), field)| FieldRow {
            field,
            value: Sortable::of_value(*field_type, data.get(name)),
        })
    }

    /// The record's consent time, if its stream has one and it holds a readable time.
    pub(crate) fn consent_at(&self, data: &Map<String, Value>) -> Option<i64> {
        let text = data.get(self.consent.as_deref()?)?.as_str()?;
        Instant::parse(text).map(Instant::micros)
    }
}
