//! Takes the rows of another store, and makes again what is derived from them.

use std::collections::BTreeSet;

use pdpp_access::Entropy;
use pdpp_store::transfer::{Cell, Order, Part, Row};
use pdpp_store::{Disclosure, OnConflict};
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::Manifest;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};
use serde_json::{Map, Value};

use super::give::bind;
use super::records::scope_of;
use crate::fault::{Fault, Outcome};
use crate::ingest::read_history;
use crate::layout::Layout;
use crate::sequence::{SubjectRow, signed};
use crate::{ledger, manifests, quotas};

pub(super) fn take(
    connection: &Connection,
    entropy: &dyn Entropy,
    whose: &str,
    part: Part,
    rows: Vec<Row>,
) -> Outcome<()> {
    match part {
        Part::Connectors => rows.iter().try_for_each(|row| declare(connection, entropy, whose, row)),
        Part::Records => take_records(connection, whose, &rows),
        Part::PastLives => rows.iter().try_for_each(|row| take_past_life(connection, whose, row)),
        Part::Disclosures => rows.iter().try_for_each(|row| take_entry(connection, row)),
        Part::Numbers => rows.iter().try_for_each(|row| take_numbers(connection, whose, row)),
        _ => take_plain(connection, whose, part, &rows),
    }
}

/// Rows that lie here as they come.
fn take_plain(connection: &Connection, whose: &str, part: Part, rows: &[Row]) -> Outcome<()> {
    let subject = || -> Outcome<SqlValue> {
        match part {
            Part::ChangeLog => Ok(SubjectRow::ensure(connection, &subject_id(whose)?)?.id.into()),
            _ => Ok(whose.to_owned().into()),
        }
    };
    // What every row has beside its own columns.
    let (first, value) = match part {
        Part::ChangeLog => (Some("subject"), Some(subject()?)),
        Part::RefreshTokens | Part::Clients | Part::SealingKey | Part::EventQueue => (None, None),
        _ => (Some("subject_id"), Some(subject()?)),
    };
    let columns = part.columns().iter().map(|(name, _)| match (part, *name) {
        (Part::SubscriptionGrants | Part::EventQueue, "subscription_id") => "subscription",
        (_, name) => name,
    });
    let columns: Vec<_> = first.into_iter().chain(columns).collect();
    // A second copy of the same row changes nothing; the key that seals cursors is never replaced.
    let or = match (part, part.order()) {
        (Part::SealingKey, _) => "OR IGNORE ",
        (_, Order::Key(_)) => "OR REPLACE ",
        (_, Order::Making(_)) => "",
    };
    let marks = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT {or}INTO {} ({}) VALUES ({marks})", part.name(), columns.join(", "));
    let mut insert = connection.prepare_cached(&sql)?;
    for row in rows {
        let mut cells: Vec<SqlValue> = row.iter().map(bind).collect();
        if matches!(part, Part::SubscriptionGrants | Part::EventQueue) {
            let sql = "SELECT id FROM event_subscriptions WHERE subscription_id = ?";
            cells[0] = connection.prepare_cached(sql)?.query_row([&cells[0]], |row| row.get(0))?;
        }
        insert.execute(params_from_iter(value.iter().chain(&cells)))?;
    }
    Ok(())
}

/// Puts a declaration in force, with the tables its streams need.
fn declare(connection: &Connection, entropy: &dyn Entropy, whose: &str, row: &Row) -> Outcome<()> {
    let sql = "SELECT document FROM snapshots WHERE subject_id = ? AND version = ?";
    let document: Option<String> =
        connection.query_row(sql, params![whose, bind(&row[1])], |row| row.get(0)).optional()?;
    let document =
        document.ok_or_else(|| Fault::damaged("a connector names a declaration that was not copied"))?;
    let manifest = Manifest::parse(&document).map_err(|fault| Fault::damaged(fault.to_string()))?;
    manifests::put(connection, entropy, &subject_id(whose)?, &manifest, OnConflict::Replace)?;
    Ok(())
}

fn take_records(connection: &Connection, whose: &str, rows: &[Row]) -> Outcome<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO records (scope_id, key, created_seq, version, deleted_seq, deleted_at, emitted_at, emitted_top,
             consent_at, history, blob_id, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut list = connection.prepare_cached("INSERT INTO revisions VALUES (?, ?, ?)")?;
    for rows in rows.chunk_by(|a, b| a[..2] == b[..2]) {
        let scope = scope_of(connection, whose, &rows[0])?;
        let layout = layout_of(connection, scope)?;
        let mut live = 0;
        for row in rows {
            insert.execute(params_from_iter(
                [SqlValue::from(scope)].into_iter().chain(row[2..].iter().map(bind)),
            ))?;
            let id = connection.last_insert_rowid();
            for sequence in places(row)? {
                list.execute([scope, sequence, id])?;
            }
            if let Cell::Text(data) = &row[12] {
                live += 1;
                let data: Map<String, Value> =
                    serde_json::from_str(data).map_err(|_| Fault::damaged("a copied record is not JSON"))?;
                let Cell::Text(key) = &row[2] else {
                    return Err(Fault::damaged("a copied record has no key"));
                };
                if let Some(layout) = &layout {
                    let mut fields = connection.prepare_cached(&layout.insert_sql())?;
                    fields.execute(params_from_iter(layout.row(id, scope, key, &data)))?;
                }
            }
        }
        connection.execute("UPDATE scopes SET live_count = live_count + ? WHERE id = ?", [live, scope])?;
    }
    Ok(())
}

/// Where a record stands in the change feed.
fn places(row: &Row) -> Outcome<BTreeSet<i64>> {
    let number = |at: usize| if let Cell::Number(number) = &row[at] { Some(*number) } else { None };
    if let Some(deleted) = number(5) {
        return Ok(BTreeSet::from([deleted]));
    }
    let history = if let Cell::Text(text) = &row[10] { Some(text.as_str()) } else { None };
    let (Some(created), Some(emitted)) = (number(3), number(7)) else {
        return Err(Fault::damaged("a copied record has no creation"));
    };
    read_history(history, created, emitted)?.sequences().map(signed).collect()
}

/// The columns of a scope's stream; none when the stream is not declared any more.
fn layout_of(connection: &Connection, scope: i64) -> Outcome<Option<Layout>> {
    let sql = "SELECT f.id, s.stream, d.document FROM scopes AS s
               JOIN field_tables AS f
                   ON f.subject_id = s.subject_id AND f.connector_key = s.connector_key AND f.stream = s.stream
               JOIN connectors AS c ON c.subject_id = s.subject_id AND c.connector_key = s.connector_key
               JOIN snapshots AS d ON d.subject_id = c.subject_id AND d.version = c.version WHERE s.id = ?";
    let found: Option<(i64, String, String)> =
        connection.query_row(sql, [scope], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((table, stream, document)) = found else { return Ok(None) };
    let manifest = Manifest::parse(&document).map_err(|fault| Fault::damaged(fault.to_string()))?;
    Ok(manifest.find_stream(&stream).map(|stream| Layout::of(table, stream)))
}

fn take_past_life(connection: &Connection, whose: &str, row: &Row) -> Outcome<()> {
    let scope = scope_of(connection, whose, row)?;
    let sql = "INSERT OR REPLACE INTO past_lives (record_id, created_seq, deleted_seq, consent_at)
               SELECT id, ?3, ?4, ?5 FROM records WHERE scope_id = ?1 AND key = ?2";
    let values = [SqlValue::from(scope)].into_iter().chain(row[2..].iter().map(bind));
    connection.prepare_cached(sql)?.execute(params_from_iter(values))?;
    Ok(())
}

fn take_entry(connection: &Connection, row: &Row) -> Outcome<()> {
    let Cell::Text(entry) = &row[1] else {
        return Err(Fault::damaged("a copied entry of the ledger is empty"));
    };
    let entry: Disclosure = serde_json::from_str(entry)
        .map_err(|_| Fault::damaged("a copied entry of the ledger does not parse"))?;
    ledger::append(connection, &entry)
}

fn take_numbers(connection: &Connection, whose: &str, row: &Row) -> Outcome<()> {
    let subject = SubjectRow::ensure(connection, &subject_id(whose)?)?;
    let [Cell::Number(sequence), quota @ ..] = &row[..] else {
        return Err(Fault::damaged("a subject's numbers are none"));
    };
    // Connections came on the way; whoever remembers this store's catalogue must look again.
    SubjectRow { sequence: *sequence, generation: subject.generation + 1, ..subject }.store(connection)?;
    let sql =
        "UPDATE subjects SET quota_records = ?, quota_bytes = ?, quota_requests = ? WHERE subject_id = ?";
    let values = quota.iter().map(bind).chain([whose.to_owned().into()]);
    connection.execute(sql, params_from_iter(values))?;
    quotas::recount(connection, &subject_id(whose)?)
}

fn subject_id(text: &str) -> Outcome<SubjectId> {
    SubjectId::parse(text.to_owned()).map_err(|_| Fault::damaged("a subject's id"))
}
