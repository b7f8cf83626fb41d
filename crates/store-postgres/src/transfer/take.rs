//! Takes the rows of another store, and makes again what is derived from them.

use std::collections::BTreeSet;

use pdpp_access::Entropy;
use pdpp_store::transfer::{Cell, Order, Part, Row};
use pdpp_store::{Disclosure, FieldHistory, OnConflict};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{Instant, SubjectId};
use serde_json::{Map, Value};
use tokio_postgres::types::ToSql;

use super::give::{array, text};
use super::records::scope_of;
use super::spelling::{Typed, columns, made};
use super::{bytes, handles};
use crate::fault::{Fault, Outcome};
use crate::field_rows::FieldRows;
use crate::layout::{FieldRow, Layout};
use crate::session::{Session, Whose};
use crate::subject_row::{SubjectRow, signed, unsigned};
use crate::value::Sortable;
use crate::{ledger, manifests, quotas};

pub(super) async fn take(
    session: &Session,
    entropy: &dyn Entropy,
    whose: Whose<'_>,
    part: Part,
    rows: &[Row],
) -> Outcome<()> {
    let Whose::Subject(subject_id) = whose else { return take_plain(session, whose, part, rows).await };
    if rows.is_empty() {
        return Ok(());
    }
    match part {
        Part::Connectors => declare(session, entropy, subject_id, rows).await,
        Part::Records => take_records(session, subject_id, rows).await,
        Part::PastLives => take_past_lives(session, subject_id, rows).await,
        Part::Blobs => bytes::take_rows(session, subject_id, rows).await,
        Part::Disclosures => take_entries(session, subject_id, rows).await,
        Part::Numbers => take_numbers(session, subject_id, rows).await,
        _ => {
            take_plain(session, whose, part, rows).await?;
            handles::enter(session, subject_id, part, rows).await
        }
    }
}

/// Rows that lie here as they come.
async fn take_plain(session: &Session, whose: Whose<'_>, part: Part, rows: &[Row]) -> Outcome<()> {
    let mut columns = columns(part);
    let mut arrays: Vec<Box<dyn ToSql + Sync + Send>> = Vec::with_capacity(columns.len() + 1);
    for (at, (_, typed)) in columns.iter().enumerate() {
        arrays.push(array(rows, at, *typed)?);
    }
    if let (Whose::Subject(subject_id), Some(name)) = (whose, numbered(part)) {
        columns.push((name, Typed::Long));
        arrays.push(Box::new(numbers(session, subject_id, rows.len()).await?));
    }
    if part == Part::Grants {
        columns.push(("client_id", Typed::Text));
        arrays.push(Box::new(rows.iter().map(handles::client_of_grant).collect::<Outcome<Vec<_>>>()?));
    }
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let marks: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(at, (_, typed))| format!("${}::{}[]", at + 2, typed.sql()))
        .collect();
    let (into, first, of) = match part {
        // Of the store as a whole, and never replaced.
        Part::SealingKey => ("", "", "WHERE $1 = ''"),
        _ => ("subject_id, ", "$1, ", ""),
    };
    let (table, list, marks) = (part.name(), names.join(", "), marks.join(", "));
    let sql = format!(
        "INSERT INTO {table} ({into}{list}) SELECT {first}u.* FROM unnest({marks}) AS u ({list}) {of}
         ON CONFLICT DO NOTHING"
    );
    let subject = whose.as_str();
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&subject];
    values.extend(arrays.iter().map(|value| &**value as &(dyn ToSql + Sync)));
    session.execute(&sql, &values).await?;
    Ok(())
}

/// The number a part's rows need here, from the subject's own counter.
fn numbered(part: Part) -> Option<&'static str> {
    match (part, part.order()) {
        (Part::Scopes, _) => Some("scope_id"),
        (_, Order::Making(_)) => Some(made(part)),
        _ => None,
    }
}

async fn numbers(session: &Session, subject_id: &SubjectId, count: usize) -> Outcome<Vec<i64>> {
    let mut subject = SubjectRow::lock(session, subject_id).await?;
    let numbers = (0..count).map(|_| subject.count()).collect();
    subject.store(session, subject_id).await?;
    Ok(numbers)
}

/// Puts declarations in force, with the layouts their streams need.
async fn declare(
    session: &Session,
    entropy: &dyn Entropy,
    subject_id: &SubjectId,
    rows: &[Row],
) -> Outcome<()> {
    for row in rows {
        let sql = "SELECT document FROM snapshots WHERE subject_id = $1 AND version = $2";
        let found = session.query_opt(sql, &[&subject_id.as_str(), &text(row, 1)?]).await?;
        let found =
            found.ok_or_else(|| Fault::damaged("a connector names a declaration that was not copied"))?;
        let manifest = Manifest::parse(found.get(0)).map_err(|fault| Fault::damaged(fault.to_string()))?;
        manifests::put(session, entropy, subject_id, &manifest, OnConflict::Replace).await?;
    }
    Ok(())
}

/// What a live record has beside its row.
struct Derived {
    key: String,
    ord: Option<Sortable>,
    rows: Vec<FieldRow>,
}

async fn take_records(session: &Session, subject_id: &SubjectId, rows: &[Row]) -> Outcome<()> {
    let columns = columns(Part::Records);
    let id = subject_id.as_str();
    for rows in rows.chunk_by(|one, other| one[..2] == other[..2]) {
        let (scope_id, connector_key) = scope_of(session, id, &rows[0]).await?;
        let layout = layout_of(session, id, &connector_key, text(&rows[0], 1)?.as_deref()).await?;
        let (mut live, mut derived, mut ords) = (0_i64, Vec::new(), Vec::new());
        let (mut sequences, mut listed) = (Vec::new(), Vec::new());
        for row in rows {
            let key = text(row, 2)?.ok_or_else(|| Fault::damaged("a copied record has no key"))?;
            for sequence in places(row)? {
                sequences.push(sequence);
                listed.push(key.clone());
            }
            let fields = match (text(row, 12)?, &layout) {
                (Some(data), Some(layout)) => {
                    let data: Map<String, Value> = serde_json::from_str(&data)
                        .map_err(|_| Fault::damaged("a copied record is not JSON"))?;
                    Some(Derived { key, ord: layout.ord(&data), rows: layout.rows(&data).collect() })
                }
                _ => None,
            };
            live += i64::from(!matches!(row[12], Cell::Null));
            ords.push(
                fields.as_ref().and_then(|fields| fields.ord.as_ref().map(|ord| ord.as_bytes().to_vec())),
            );
            derived.extend(fields);
        }
        let mut arrays = Vec::new();
        for (at, (_, typed)) in columns.iter().enumerate().skip(2) {
            arrays.push(array(rows, at, *typed)?);
        }
        let sql = "INSERT INTO records (subject_id, scope_id, key, created_seq, version, deleted_seq, deleted_at,
                       emitted_at, emitted_top, consent_at, history, blob_id, data, ord)
                   SELECT $1, $2, u.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                       $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bytea[])
                       AS u";
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&id, &scope_id];
        values.extend(arrays.iter().map(|value| &**value as &(dyn ToSql + Sync)));
        values.push(&ords);
        session.execute(sql, &values).await?;
        let list = "INSERT INTO revisions (subject_id, scope_id, sequence, key)
                    SELECT $1, $2, u.* FROM unnest($3::bigint[], $4::text[]) AS u";
        session.execute(list, &[&id, &scope_id, &sequences, &listed]).await?;
        let mut fields = FieldRows::default();
        for record in &derived {
            for row in &record.rows {
                fields.push(&record.key, row, record.ord.as_ref());
            }
        }
        fields.insert(session, subject_id, scope_id).await?;
        let count = "UPDATE scopes SET live_count = live_count + $3 WHERE subject_id = $1 AND scope_id = $2";
        session.execute(count, &[&id, &scope_id, &live]).await?;
    }
    Ok(())
}

/// Where a record stands in the change feed.
fn places(row: &Row) -> Outcome<BTreeSet<i64>> {
    let number = |at: usize| if let Cell::Number(number) = &row[at] { Some(*number) } else { None };
    if let Some(deleted) = number(5) {
        return Ok(BTreeSet::from([deleted]));
    }
    let (Some(created), Some(emitted)) = (number(3), number(7)) else {
        return Err(Fault::damaged("a copied record has no creation"));
    };
    let history = match text(row, 10)? {
        None => FieldHistory::created(unsigned(created)?, Instant::from_micros(emitted)),
        Some(text) => {
            serde_json::from_str(&text).map_err(|_| Fault::damaged("a record's history does not parse"))?
        }
    };
    history.sequences().map(signed).collect()
}

/// The fields of a stream; none when it is not declared any more.
async fn layout_of(
    session: &Session,
    id: &str,
    connector_key: &str,
    stream: Option<&str>,
) -> Outcome<Option<Layout>> {
    let sql = "SELECT d.document FROM connectors AS c
               JOIN snapshots AS d ON d.subject_id = c.subject_id AND d.version = c.version
               WHERE c.subject_id = $1 AND c.connector_key = $2";
    let Some(row) = session.query_opt(sql, &[&id, &connector_key]).await? else { return Ok(None) };
    let manifest = Manifest::parse(row.get(0)).map_err(|fault| Fault::damaged(fault.to_string()))?;
    Ok(manifest.find_stream(stream.unwrap_or_default()).map(Layout::of))
}

async fn take_past_lives(session: &Session, subject_id: &SubjectId, rows: &[Row]) -> Outcome<()> {
    let columns = columns(Part::PastLives);
    let id = subject_id.as_str();
    for rows in rows.chunk_by(|one, other| one[..2] == other[..2]) {
        let (scope_id, _) = scope_of(session, id, &rows[0]).await?;
        let mut arrays = Vec::new();
        for (at, (_, typed)) in columns.iter().enumerate().skip(2) {
            arrays.push(array(rows, at, *typed)?);
        }
        let sql = "INSERT INTO past_lives (subject_id, scope_id, key, created_seq, deleted_seq, consent_at)
                   SELECT $1, $2, u.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) AS u";
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&id, &scope_id];
        values.extend(arrays.iter().map(|value| &**value as &(dyn ToSql + Sync)));
        session.execute(sql, &values).await?;
    }
    Ok(())
}

async fn take_entries(session: &Session, subject_id: &SubjectId, rows: &[Row]) -> Outcome<()> {
    let mut entries: Vec<Disclosure> = Vec::with_capacity(rows.len());
    for row in rows {
        let entry = text(row, 1)?.unwrap_or_default();
        let damaged = |_| Fault::damaged("a copied entry of the ledger does not parse");
        entries.push(serde_json::from_str(&entry).map_err(damaged)?);
    }
    ledger::append(session, subject_id, &entries).await
}

async fn take_numbers(session: &Session, subject_id: &SubjectId, rows: &[Row]) -> Outcome<()> {
    let [Cell::Number(sequence), ..] = rows[0][..] else {
        return Err(Fault::damaged("a subject's numbers are none"));
    };
    let subject = SubjectRow::lock(session, subject_id).await?;
    // Connections came on the way; whoever remembers this store's catalogue must look again.
    let subject = SubjectRow { sequence, generation: subject.generation + 1, ..subject };
    subject.store(session, subject_id).await?;
    let number =
        |at: usize| if let Some(Cell::Number(number)) = rows[0].get(at) { Some(*number) } else { None };
    let sql =
        "UPDATE subjects SET quota_records = $2, quota_bytes = $3, quota_requests = $4 WHERE subject_id = $1";
    session.execute(sql, &[&subject_id.as_str(), &number(1), &number(2), &number(3)]).await?;
    quotas::recount(session, subject_id).await
}
