//! How many records each part sees, and when the latest visible change was emitted.

use pdpp_access::ReadPlan;
use pdpp_store::Summary;
use pdpp_wire::Instant;
use rusqlite::{Connection, params_from_iter};

use super::rows::visible_change;
use super::selection::{Selection, count, is_visible};
use super::target::{Part, Target};
use crate::fault::Outcome;
use crate::sequence::unsigned;
use crate::statement::prepare;

/// How many of the latest emissions are looked at before the visible records are gone through
/// instead: a grant that sees little of a stream must not pay for all of it.
const LATEST: usize = 2_000;

pub(super) fn summarize(connection: &Connection, plan: &ReadPlan) -> Outcome<Vec<Summary>> {
    let target = Target::resolve(connection, plan)?;
    target.parts.iter().map(|part| summarize_part(connection, &target, part)).collect()
}

fn summarize_part(connection: &Connection, target: &Target<'_>, part: &Part<'_>) -> Outcome<Summary> {
    let selection = Selection::of(target, part, &[])?;
    let record_count = unsigned(count(connection, part, selection.as_ref())?)?;
    let last_updated = match selection {
        Some(selection) if record_count > 0 => match walk_latest(connection, target, part)? {
            Walk::Done(latest) => latest,
            Walk::TooLong => walk_visible(connection, part, &selection)?,
        },
        _ => None,
    };
    Ok(Summary { record_count, last_updated })
}

/// What became of a walk over the latest emissions.
enum Walk {
    Done(Option<Instant>),
    TooLong,
}

/// From the latest emission down, until nothing earlier can be later.
fn walk_latest(connection: &Connection, target: &Target<'_>, part: &Part<'_>) -> Outcome<Walk> {
    let Some(scope) = part.scope else { return Ok(Walk::Done(None)) };
    let sql = "SELECT id, key, created_seq, emitted_at, history, emitted_top FROM records
               INDEXED BY records_by_emission
               WHERE scope_id = ? AND deleted_seq IS NULL ORDER BY emitted_top DESC";
    let mut statement = prepare(connection, sql)?;
    let mut rows = statement.query([scope.id])?;
    let (mut best, mut seen) = (None, 0);
    while let Some(row) = rows.next()? {
        let top = Instant::from_micros(row.get(5)?);
        if best.is_some_and(|best| top <= best) {
            break;
        }
        seen += 1;
        if seen > LATEST && !part.plan.sees_every_record() {
            return Ok(Walk::TooLong);
        }
        let key = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        if is_visible(connection, target, part, key, row.get(0)?)? {
            let history: Option<String> = row.get(4)?;
            let (_, at) = visible_change(history.as_deref(), row.get(2)?, row.get(3)?, part.plan.granted())?;
            best = best.max(Some(at));
        }
    }
    Ok(Walk::Done(best))
}

fn walk_visible(connection: &Connection, part: &Part<'_>, selection: &Selection) -> Outcome<Option<Instant>> {
    let mut statement = prepare(connection, &selection.sql("t.record_id", ""))?;
    let mut ids = statement.query(params_from_iter(selection.values()))?;
    let mut emission =
        prepare(connection, "SELECT created_seq, emitted_at, history FROM records WHERE id = ?")?;
    let mut best = None;
    while let Some(row) = ids.next()? {
        let (created_seq, emitted_at, history): (i64, i64, Option<String>) =
            emission.query_row([row.get::<_, i64>(0)?], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let (_, at) = visible_change(history.as_deref(), created_seq, emitted_at, part.plan.granted())?;
        best = best.max(Some(at));
    }
    Ok(best)
}
