//! Writes the rows of a stream's fields anew, after its declaration changed how they are laid out.
//!
//! Records are read a piece at a time in the order of their keys, and everything stays in the manifest's own
//! transaction: until it ends, readers see the earlier declaration with the earlier rows.

use pdpp_wire::SubjectId;
use serde_json::{Map, Value};

use crate::fault::{Fault, Outcome};
use crate::field_rows::FieldRows;
use crate::layout::{FieldRow, Layout};
use crate::session::Session;
use crate::value::Sortable;

/// Records read and written at once.
const PIECE: i64 = 1_000;
/// Large records are read fewer at once: no piece holds much more data than this, in bytes.
const PIECE_BYTES: i64 = 64 * 1024 * 1024;

/// Lays out every connection's share of a connector's stream anew.
pub(crate) async fn lay_out_anew(
    session: &Session,
    subject_id: &SubjectId,
    (connector_key, stream): (&str, &str),
    layout: &Layout,
    earlier: &str,
) -> Outcome<()> {
    // Emptying a large stream takes as long as it takes.
    session.batch("SET LOCAL statement_timeout = '1h'").await?;
    let id = subject_id.as_str();
    let sql = "SELECT scope_id FROM scopes WHERE subject_id = $1 AND connector_key = $2 AND stream = $3";
    for scope in session.query(sql, &[&id, &connector_key, &stream]).await? {
        let scope_id: i64 = scope.get(0);
        if !layout.has_consent_of(earlier) {
            forget_consent(session, subject_id, scope_id).await?;
        }
        let empty = "DELETE FROM record_fields WHERE subject_id = $1 AND scope_id = $2";
        session.execute(empty, &[&id, &scope_id]).await?;
        let mut after = String::new();
        while let Some(last) = lay_out_piece(session, subject_id, scope_id, layout, &after).await? {
            after = last;
        }
    }
    Ok(())
}

/// A tombstone's time was that of the earlier consent time field; for another it cannot be known.
async fn forget_consent(session: &Session, subject_id: &SubjectId, scope_id: i64) -> Outcome<()> {
    for sql in [
        "UPDATE records SET consent_at = NULL
         WHERE subject_id = $1 AND scope_id = $2 AND deleted_seq IS NOT NULL AND consent_at IS NOT NULL",
        "UPDATE past_lives SET consent_at = NULL
         WHERE subject_id = $1 AND scope_id = $2 AND consent_at IS NOT NULL",
    ] {
        session.execute(sql, &[&subject_id.as_str(), &scope_id]).await?;
    }
    Ok(())
}

/// One live record's new rows.
struct Relaid {
    key: String,
    ord: Option<Sortable>,
    rows: Vec<FieldRow>,
    consent_at: Option<i64>,
}

/// Writes the rows of the records after a key; says the last key it looked at.
async fn lay_out_piece(
    session: &Session,
    subject_id: &SubjectId,
    scope_id: i64,
    layout: &Layout,
    after: &str,
) -> Outcome<Option<String>> {
    // Tombstones are read too (they hold no data): asking for live ones would offer the planner another index.
    let sql = "SELECT key, data FROM (
                   SELECT key, data, sum(octet_length(data)) OVER (ORDER BY key) AS running,
                          row_number() OVER (ORDER BY key) AS nth
                   FROM (SELECT key, data FROM records WHERE subject_id = $1 AND scope_id = $2 AND key > $3
                         ORDER BY key LIMIT $4) AS next
               ) AS piece WHERE nth = 1 OR coalesce(running, 0) <= $5 ORDER BY key";
    let id = subject_id.as_str();
    let rows = session.query(sql, &[&id, &scope_id, &after, &PIECE, &PIECE_BYTES]).await?;
    let Some(last) = rows.last() else { return Ok(None) };
    let last: String = last.get(0);
    let mut relaid = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(data) = row.get::<_, Option<&str>>(1) else { continue };
        let data: Map<String, Value> =
            serde_json::from_str(data).map_err(|_| Fault::damaged("a stored record is not JSON"))?;
        relaid.push(Relaid {
            key: row.get(0),
            ord: layout.ord(&data),
            rows: layout.rows(&data).collect(),
            consent_at: layout.consent_at(&data),
        });
    }
    drop(rows);
    let mut fields = FieldRows::default();
    for record in &relaid {
        for row in &record.rows {
            fields.push(&record.key, row, record.ord.as_ref());
        }
    }
    tokio::try_join!(
        fields.insert(session, subject_id, scope_id),
        put_in_order(session, subject_id, scope_id, &relaid)
    )?;
    Ok(Some(last))
}

/// Gives records their new place and time. An insertion that always meets a row finds it by its key, whatever the
/// planner believes about the table; the columns it must name besides are those of the row it meets.
async fn put_in_order(
    session: &Session,
    subject_id: &SubjectId,
    scope_id: i64,
    relaid: &[Relaid],
) -> Outcome<()> {
    let sql = "INSERT INTO records (subject_id, scope_id, key, created_seq, version, emitted_at, emitted_top,
                                    consent_at, ord)
               SELECT $1, $2, u.key, 0, 0, 0, 0, u.consent_at, u.ord
               FROM unnest($3::text[], $4::bigint[], $5::bytea[]) AS u (key, consent_at, ord)
               ON CONFLICT (subject_id, scope_id, key) DO UPDATE
               SET consent_at = excluded.consent_at, ord = excluded.ord";
    let keys: Vec<_> = relaid.iter().map(|record| record.key.as_str()).collect();
    let times: Vec<_> = relaid.iter().map(|record| record.consent_at).collect();
    let ords: Vec<_> = relaid.iter().map(|record| record.ord.as_ref().map(Sortable::as_bytes)).collect();
    session.execute(sql, &[&subject_id.as_str(), &scope_id, &keys, &times, &ords]).await?;
    Ok(())
}
