//! Rows of `record_fields`, gathered and written many at a time.

use pdpp_wire::SubjectId;

use crate::fault::Outcome;
use crate::layout::FieldRow;
use crate::session::Session;
use crate::value::Sortable;

/// Puts rows that are not there.
const INSERT: &str = "INSERT INTO record_fields (subject_id, scope_id, field, key, value, whole, broken, ord)
     SELECT $1, $2, u.field, u.key, u.value, u.whole, u.broken, u.ord
     FROM unnest($3::integer[], $4::text[], $5::bytea[], $6::bigint[], $7::double precision[], $8::bytea[])
          AS u (field, key, value, whole, broken, ord)";

/// Puts rows in the place of those that are there.
const REPLACE: &str =
    "INSERT INTO record_fields (subject_id, scope_id, field, key, value, whole, broken, ord)
     SELECT $1, $2, u.field, u.key, u.value, u.whole, u.broken, u.ord
     FROM unnest($3::integer[], $4::text[], $5::bytea[], $6::bigint[], $7::double precision[], $8::bytea[])
          AS u (field, key, value, whole, broken, ord)
     ON CONFLICT (subject_id, scope_id, field, key) DO UPDATE
     SET value = excluded.value, whole = excluded.whole, broken = excluded.broken, ord = excluded.ord";

/// Rows on their way in, column by column, as arrays want them.
#[derive(Debug, Default)]
pub(crate) struct FieldRows<'r> {
    fields: Vec<i32>,
    keys: Vec<&'r str>,
    values: Vec<Option<&'r [u8]>>,
    wholes: Vec<Option<i64>>,
    brokens: Vec<Option<f64>>,
    ords: Vec<Option<&'r [u8]>>,
}

impl<'r> FieldRows<'r> {
    /// Adds one field of one record.
    pub(crate) fn push(&mut self, key: &'r str, row: &'r FieldRow, ord: Option<&'r Sortable>) {
        let value = row.value.as_ref();
        self.fields.push(row.field);
        self.keys.push(key);
        self.values.push(value.map(Sortable::as_bytes));
        self.wholes.push(value.and_then(Sortable::whole));
        self.brokens.push(value.and_then(Sortable::broken));
        self.ords.push(ord.map(Sortable::as_bytes));
    }

    /// Writes rows of which none is there.
    pub(crate) async fn insert(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        scope_id: i64,
    ) -> Outcome<()> {
        self.write(session, INSERT, subject_id, scope_id).await
    }

    /// Writes rows, also over those that are there.
    pub(crate) async fn replace(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        scope_id: i64,
    ) -> Outcome<()> {
        self.write(session, REPLACE, subject_id, scope_id).await
    }

    async fn write(
        &self,
        session: &Session,
        sql: &str,
        subject_id: &SubjectId,
        scope_id: i64,
    ) -> Outcome<()> {
        if self.fields.is_empty() {
            return Ok(());
        }
        let Self { fields, keys, values, wholes, brokens, ords } = self;
        let subject_id = subject_id.as_str();
        session.execute(sql, &[&subject_id, &scope_id, fields, keys, values, wholes, brokens, ords]).await?;
        Ok(())
    }
}
