//! Records a search found: looked up one by one, each under its own part of the plan.

use pdpp_access::{SearchPart, SearchPlan};
use pdpp_store::RecordRow;
use pdpp_wire::RecordKey;
use rusqlite::{CachedStatement, Connection, params_from_iter};

use super::rows::{self, record_key};
use super::selection::Selection;
use super::target::Target;
use crate::fault::Outcome;
use crate::statement::prepare;

pub(super) fn find(
    connection: &Connection,
    plan: &SearchPlan,
    hits: &[(usize, RecordKey)],
) -> Outcome<Vec<RecordRow>> {
    let mut found = Vec::with_capacity(hits.len());
    let mut records = rows::ByKey::new(connection)?;
    let mut looked: Vec<Option<Looked<'_>>> = plan.parts().iter().map(|_| None).collect();
    for (index, key) in hits {
        let Some(part) = plan.parts().get(*index) else { continue };
        let place = &mut looked[*index];
        if place.is_none() {
            *place = Some(Looked::at(connection, plan, part)?);
        }
        if let Some(looked) = place
            && let Some(row) = looked.find(&mut records, part, key)?
        {
            found.push(RecordRow { part: *index, ..row });
        }
    }
    Ok(found)
}

/// One part, ready to be asked.
struct Looked<'p> {
    target: Target<'p>,
    seen: Seen<'p>,
}

/// Which of a part's records can be seen.
enum Seen<'c> {
    Nothing,
    All,
    /// Those the statement finds, given the selection's values and last the record's number.
    Some(CachedStatement<'c>, Selection),
}

impl<'p> Looked<'p> {
    fn at(connection: &'p Connection, plan: &SearchPlan, part: &'p SearchPart) -> Outcome<Self> {
        let target = Target::resolve(connection, part.read())?;
        let seen = match selection(&target, plan, part)? {
            None => Seen::Nothing,
            // The grant's own list is checked before anything is looked up.
            Some(seen) => match seen.without_list() {
                seen if seen.is_whole_scope() => Seen::All,
                seen => {
                    let mut one = seen.clone();
                    one.and_equal("record_id", 0.into());
                    Seen::Some(prepare(connection, &one.sql("1", ""))?, seen)
                }
            },
        };
        Ok(Self { target, seen })
    }

    fn find(
        &mut self,
        records: &mut rows::ByKey<'_>,
        part: &SearchPart,
        key: &RecordKey,
    ) -> Outcome<Option<RecordRow>> {
        let [at] = &self.target.parts[..] else { return Ok(None) };
        let Some(scope) = at.scope else { return Ok(None) };
        if part.part().resources().is_some_and(|keys| !keys.contains(key)) {
            return Ok(None);
        }
        if matches!(self.seen, Seen::Nothing) {
            return Ok(None);
        }
        let Some(stored) = records.find_live(scope.id, key)? else { return Ok(None) };
        if let Seen::Some(statement, seen) = &mut self.seen {
            let number = stored.id.into();
            if !statement.exists(params_from_iter(seen.values().chain([&number])))? {
                return Ok(None);
            }
        }
        stored.show(at).map(Some)
    }
}

fn selection(target: &Target<'_>, plan: &SearchPlan, part: &SearchPart) -> Outcome<Option<Selection>> {
    let Some(at) = target.parts.first() else { return Ok(None) };
    let Some(mut selection) = Selection::of(target, at, plan.filter())? else { return Ok(None) };
    let is_possible = part.within().is_none_or(|bound| selection.within(&target.layout, bound));
    Ok(is_possible.then_some(selection))
}

/// The records the filter leaves, unless there are more than so many.
pub(super) fn filtered(
    connection: &Connection,
    plan: &SearchPlan,
    most: u32,
) -> Outcome<Option<Vec<(usize, RecordKey)>>> {
    let mut keys = Vec::new();
    for (index, part) in plan.parts().iter().enumerate() {
        let target = Target::resolve(connection, part.read())?;
        let Some(selection) = selection(&target, plan, part)? else { continue };
        let room = i64::from(most) - i64::try_from(keys.len()).unwrap_or(i64::MAX);
        let mut statement = prepare(connection, &selection.sql("t.key", "LIMIT ?"))?;
        let limit = (room + 1).into();
        let mut rows = statement.query(params_from_iter(selection.values().chain([&limit])))?;
        while let Some(row) = rows.next()? {
            keys.push((index, record_key(row.get(0)?)?));
        }
        if keys.len() > most as usize {
            return Ok(None);
        }
    }
    keys.sort_unstable();
    Ok(Some(keys))
}
