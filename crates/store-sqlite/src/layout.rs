//! How the declared fields of a stream lie in its table `fields_<n>`.
//!
//! One row per live record: its scope, its key, `ord` (the cursor field's value), and a column
//! `f<i>` per other scalar field. Every column leads an index that goes on with `ord` and `key`, so
//! that a filtered page comes out of the index in its order.

use std::fmt::Write as _;

use pdpp_access::Scalar;
use pdpp_store::{columns, text_key};
use pdpp_wire::Instant;
use pdpp_wire::manifest::{FieldType, StreamDeclaration};
use rusqlite::types::Value as SqlValue;
use serde_json::{Map, Value};

/// A declared field's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedColumn {
    /// Its name in the table.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) field_type: FieldType,
}

/// The columns of one stream's table.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    table: i64,
    cursor: Option<(String, FieldType)>,
    consent: Option<String>,
    others: Vec<(String, FieldType)>,
}

impl Layout {
    /// The layout a declaration asks for, in the table of this number.
    pub(crate) fn of(table: i64, declaration: &StreamDeclaration) -> Self {
        let cursor = declaration.cursor_field();
        let (mut ordering, mut others) = (None, Vec::new());
        for column in columns(declaration) {
            if Some(column.field.as_str()) == cursor {
                ordering = Some((column.field, column.field_type));
            } else {
                others.push((column.field, column.field_type));
            }
        }
        Self { table, cursor: ordering, consent: declaration.consent_time_field().map(str::to_owned), others }
    }

    /// Spells the layout; two layouts are the same when their spellings are.
    pub(crate) fn spelling(&self) -> String {
        let spell = |(field, field_type): &(String, FieldType)| {
            Value::from(vec![field.clone(), format!("{field_type:?}")])
        };
        serde_json::json!({
            "cursor": self.cursor.as_ref().map(spell),
            "consent": self.consent,
            "columns": self.others.iter().map(spell).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// Whether an earlier spelling has the same consent time field.
    pub(crate) fn has_consent_of(&self, spelling: &str) -> bool {
        let earlier: Value = serde_json::from_str(spelling).unwrap_or_default();
        earlier["consent"].as_str() == self.consent.as_deref()
    }

    /// The table's name.
    pub(crate) fn table(&self) -> String {
        format!("fields_{}", self.table)
    }

    /// The column of a field, if it has one.
    pub(crate) fn column(&self, field: &str) -> Option<TypedColumn> {
        if let Some((cursor, field_type)) = &self.cursor
            && cursor == field
        {
            return Some(TypedColumn { name: "ord".to_owned(), field_type: *field_type });
        }
        let index = self.others.iter().position(|(name, _)| name == field)?;
        Some(TypedColumn { name: format!("f{index}"), field_type: self.others[index].1 })
    }

    /// The cursor field's type, if the stream has one.
    pub(crate) fn order_type(&self) -> Option<FieldType> {
        self.cursor.as_ref().map(|(_, field_type)| *field_type)
    }

    /// Makes the table and its indexes.
    pub(crate) fn create_sql(&self) -> String {
        let table = self.table();
        let mut columns = String::new();
        let mut indexes = format!(
            "CREATE INDEX {table}_ord ON {table} (scope_id, ord, key);
             CREATE INDEX {table}_key ON {table} (scope_id, key);"
        );
        for index in 0..self.others.len() {
            let _ = write!(columns, ", f{index} ANY");
            let _ =
                write!(indexes, "CREATE INDEX {table}_f{index} ON {table} (scope_id, f{index}, ord, key);");
        }
        format!(
            "CREATE TABLE {table} (
                 record_id INTEGER PRIMARY KEY, scope_id INTEGER NOT NULL, key TEXT NOT NULL, ord ANY{columns}
             ) STRICT;
             {indexes}"
        )
    }

    /// Writes one row; its values are [`Self::row`].
    pub(crate) fn insert_sql(&self) -> String {
        let marks = ", ?".repeat(self.others.len());
        let columns: String = (0..self.others.len()).fold(String::new(), |mut columns, index| {
            let _ = write!(columns, ", f{index}");
            columns
        });
        let table = self.table();
        format!("INSERT INTO {table} (record_id, scope_id, key, ord{columns}) VALUES (?, ?, ?, ?{marks})")
    }

    /// Takes one row away.
    pub(crate) fn delete_sql(&self) -> String {
        format!("DELETE FROM {} WHERE record_id = ?", self.table())
    }

    /// A record's values for [`Self::insert_sql`].
    pub(crate) fn row(
        &self,
        record_id: i64,
        scope_id: i64,
        key: &str,
        data: &Map<String, Value>,
    ) -> Vec<SqlValue> {
        let value = |(field, field_type): &(String, FieldType)| column_value(*field_type, data.get(field));
        let ord = self.cursor.as_ref().map_or(SqlValue::Null, value);
        let mut row = Vec::with_capacity(4 + self.others.len());
        row.extend([record_id.into(), scope_id.into(), key.to_owned().into(), ord]);
        row.extend(self.others.iter().map(value));
        row
    }

    /// The record's consent time, if its stream has one and it holds a readable time.
    pub(crate) fn consent_at(&self, data: &Map<String, Value>) -> Option<i64> {
        let text = data.get(self.consent.as_deref()?)?.as_str()?;
        Instant::parse(text).map(Instant::micros)
    }
}

fn column_value(field_type: FieldType, value: Option<&Value>) -> SqlValue {
    match value {
        // The common case without a copy of the text first.
        Some(Value::String(text)) if field_type == FieldType::Text => text_value(text),
        Some(value) => Scalar::of_value(field_type, value).map_or(SqlValue::Null, |scalar| bound(&scalar)),
        None => SqlValue::Null,
    }
}

/// A scalar as it stands in a column.
pub(crate) fn bound(scalar: &Scalar) -> SqlValue {
    match scalar {
        Scalar::Boolean(flag) => i64::from(*flag).into(),
        Scalar::Integer(number) => (*number).into(),
        Scalar::Number(number) => (*number).into(),
        Scalar::Text(text) => text_value(text),
        Scalar::Instant(at) => at.micros().into(),
    }
}

/// A text as it stands in a column: itself, or the bytes of its digest when it is long.
fn text_value(text: &str) -> SqlValue {
    let key = text_key(text);
    match key.strip_prefix('\u{1}').map(digest_bytes) {
        Some(Some(digest)) => SqlValue::Blob(digest),
        _ => SqlValue::Text(key),
    }
}

fn digest_bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    hex.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}
