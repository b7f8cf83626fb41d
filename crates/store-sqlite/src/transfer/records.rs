//! Records, which lie under numbers of this store's own, and their ended lives.

use pdpp_store::transfer::{Cell, Part, Place, Portion, Row};
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::give::{bind, read};
use crate::fault::{Fault, Outcome};

const RECORDS: &str =
    "SELECT key, created_seq, version, deleted_seq, deleted_at, emitted_at, emitted_top, consent_at,
        history, blob_id, data
    FROM records WHERE scope_id = ? AND key > ? ORDER BY key LIMIT ?";
const PAST_LIVES: &str = "SELECT r.key, p.created_seq, p.deleted_seq, p.consent_at
    FROM records AS r CROSS JOIN past_lives AS p ON p.record_id = r.id
    WHERE r.scope_id = ? AND (r.key, p.created_seq) > (?, ?) ORDER BY r.key, p.created_seq LIMIT ?";

/// Scope by scope, in the order of connection and stream.
pub(super) fn give(
    connection: &Connection,
    whose: &str,
    part: Part,
    after: Option<&Place>,
    limit: u32,
) -> Outcome<Portion> {
    let mut place =
        after.cloned().unwrap_or(Place(vec![Cell::Text(String::new()), Cell::Text(String::new())]));
    let mut portion = Portion::default();
    let scopes = scopes_from(connection, whose, &place)?;
    for (id, connection_id, stream) in scopes {
        let names = [Cell::Text(connection_id), Cell::Text(stream)];
        if place.0[..2] != names {
            place = Place(names.to_vec());
        }
        let room = i64::from(limit) - i64::try_from(portion.rows.len()).unwrap_or(i64::MAX);
        let found = of_scope(connection, part, id, &place, room)?;
        if let Some(last) = found.last() {
            place = Place(last[..if part == Part::Records { 3 } else { 4 }].to_vec());
        }
        portion.rows.extend(found);
        if portion.rows.len() >= limit as usize {
            portion.next = Some(place);
            break;
        }
    }
    Ok(portion)
}

fn scopes_from(connection: &Connection, whose: &str, place: &Place) -> Outcome<Vec<(i64, String, String)>> {
    let sql = "SELECT id, connection_id, stream FROM scopes
               WHERE subject_id = ? AND (connection_id, stream) >= (?, ?) ORDER BY connection_id, stream";
    let [connection_id, stream] = [&place.0[0], &place.0[1]].map(bind);
    let values = [whose.to_owned().into(), connection_id, stream];
    let mut statement = connection.prepare_cached(sql)?;
    let rows =
        statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn of_scope(connection: &Connection, part: Part, scope: i64, place: &Place, room: i64) -> Outcome<Vec<Row>> {
    let key = place.0.get(2).map_or_else(|| String::new().into(), bind);
    let (sql, values) = match part {
        Part::Records => (RECORDS, vec![scope.into(), key, room.into()]),
        _ => {
            (PAST_LIVES, vec![scope.into(), key, place.0.get(3).map_or_else(|| 0.into(), bind), room.into()])
        }
    };
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params_from_iter(values))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let kinds = part.columns()[2..].iter().enumerate();
        let cells = kinds.map(|(at, (_, kind))| read(row.get_ref(at)?, *kind));
        let mut whole: Row = place.0[..2].to_vec();
        whole.extend(cells.collect::<Outcome<Row>>()?);
        rows.push(whole);
    }
    Ok(rows)
}

/// The number of the scope a row names by connection and stream.
pub(super) fn scope_of(connection: &Connection, whose: &str, row: &Row) -> Outcome<i64> {
    let sql = "SELECT id FROM scopes WHERE subject_id = ? AND connection_id = ? AND stream = ?";
    let values = [whose.to_owned().into(), bind(&row[0]), bind(&row[1])];
    let found =
        connection.prepare_cached(sql)?.query_row(params_from_iter(values), |row| row.get(0)).optional()?;
    found.ok_or_else(|| Fault::damaged("a record is of a connection or stream that was not copied"))
}
