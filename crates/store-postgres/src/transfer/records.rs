//! Records and their ended lives, which lie under a scope's number here and under its names elsewhere.

use pdpp_store::transfer::{Cell, Part, Place, Portion, Row};

use super::give::read;
use super::spelling::columns;
use crate::fault::{Fault, Outcome};
use crate::session::Session;

const RECORDS: &str =
    "SELECT key, created_seq, version, deleted_seq, deleted_at, emitted_at, emitted_top, consent_at,
        history, blob_id, data
    FROM records WHERE subject_id = $1 AND scope_id = $2 AND key > $3 ORDER BY key LIMIT $4";
const PAST_LIVES: &str = "SELECT key, created_seq, deleted_seq, consent_at
    FROM past_lives WHERE subject_id = $1 AND scope_id = $2 AND (key, created_seq) > ($3, $5)
    ORDER BY key, created_seq LIMIT $4";

/// Scope by scope, in the order of connection and stream.
pub(super) async fn give(
    session: &Session,
    whose: &str,
    part: Part,
    after: Option<&Place>,
    limit: u32,
) -> Outcome<Portion> {
    let mut place = after.cloned().unwrap_or_else(|| Place(vec![Cell::Text(String::new()); 2]));
    let sql = "SELECT scope_id, connection_id, stream FROM scopes
               WHERE subject_id = $1 AND (connection_id, stream) >= ($2, $3) ORDER BY connection_id, stream";
    let scopes = session.query(sql, &[&whose, &text(&place, 0), &text(&place, 1)]).await?;
    let mut portion = Portion::default();
    for scope in scopes {
        let names = [1, 2].map(|at| Cell::Text(scope.get(at)));
        if place.0[..2] != names {
            place = Place(names.to_vec());
        }
        let room = i64::from(limit) - i64::try_from(portion.rows.len()).unwrap_or(i64::MAX);
        let found = of_scope(session, whose, part, scope.get(0), &place, room).await?;
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

async fn of_scope(
    session: &Session,
    whose: &str,
    part: Part,
    scope_id: i64,
    place: &Place,
    room: i64,
) -> Outcome<Vec<Row>> {
    let (key, created) =
        (text(place, 2), if let Some(Cell::Number(number)) = place.0.get(3) { *number } else { 0 });
    let found = match part {
        Part::Records => session.query(RECORDS, &[&whose, &scope_id, &key, &room]).await?,
        _ => session.query(PAST_LIVES, &[&whose, &scope_id, &key, &room, &created]).await?,
    };
    let typed = &columns(part)[2..];
    let complete = |row: &tokio_postgres::Row| -> Outcome<Row> {
        let mut cells = place.0[..2].to_vec();
        for (at, (_, kind)) in typed.iter().enumerate() {
            cells.push(read(row, at, *kind)?);
        }
        Ok(cells)
    };
    found.iter().map(complete).collect()
}

/// The number of the scope a row names by connection and stream, and the connector it is of.
pub(super) async fn scope_of(session: &Session, whose: &str, row: &Row) -> Outcome<(i64, String)> {
    let sql = "SELECT scope_id, connector_key FROM scopes WHERE subject_id = $1 AND connection_id = $2 AND stream = $3";
    let names = [0, 1].map(|at| if let Cell::Text(text) = &row[at] { text.as_str() } else { "" });
    let found = session.query_opt(sql, &[&whose, &names[0], &names[1]]).await?;
    let found =
        found.ok_or_else(|| Fault::damaged("a record is of a connection or stream that was not copied"))?;
    Ok((found.get(0), found.get(1)))
}

fn text(place: &Place, at: usize) -> &str {
    if let Some(Cell::Text(text)) = place.0.get(at) { text } else { "" }
}
