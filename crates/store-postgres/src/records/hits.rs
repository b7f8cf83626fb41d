//! Records a search found: looked up together for each part of the plan, and told in the order given.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::try_join_all;
use pdpp_access::{SearchPart, SearchPlan};
use pdpp_store::RecordRow;
use pdpp_wire::RecordKey;

use super::find::find_all;
use super::rows::record_key;
use super::selection::Selection;
use super::target::Target;
use crate::fault::Outcome;
use crate::session::Session;

pub(super) async fn find(
    session: &Session,
    plan: &SearchPlan,
    hits: &[(usize, RecordKey)],
) -> Outcome<Vec<RecordRow>> {
    let mut asked: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for (index, key) in hits {
        asked.entry(*index).or_default().insert(key.as_str());
    }
    let parts = asked.into_iter().filter_map(|(index, keys)| Some((index, plan.parts().get(index)?, keys)));
    let found = try_join_all(parts.map(|(index, part, keys)| look(session, plan, index, part, keys))).await?;
    let found: HashMap<_, _> =
        found.into_iter().flatten().map(|row| ((row.part, row.key.clone()), row)).collect();
    Ok(hits.iter().filter_map(|hit| found.get(hit).cloned()).collect())
}

/// Those of a part's records that are there and may be seen.
async fn look(
    session: &Session,
    plan: &SearchPlan,
    index: usize,
    part: &SearchPart,
    keys: BTreeSet<&str>,
) -> Outcome<Vec<RecordRow>> {
    let target = Target::resolve(session, part.read()).await?;
    let ([at], Some(selection)) = (&target.parts[..], selection(&target, plan, part)?) else {
        return Ok(Vec::new());
    };
    let rows = find_all(session, at, &selection.only(keys)).await?;
    Ok(rows.into_iter().map(|row| RecordRow { part: index, ..row }).collect())
}

fn selection(target: &Target<'_>, plan: &SearchPlan, part: &SearchPart) -> Outcome<Option<Selection>> {
    let Some(at) = target.parts.first() else { return Ok(None) };
    let Some(mut selection) = Selection::of(target, at, plan.filter())? else { return Ok(None) };
    let is_possible = part.within().is_none_or(|bound| selection.within(&target.layout, bound));
    Ok(is_possible.then_some(selection))
}

/// The records the filter leaves, unless there are more than so many.
pub(super) async fn filtered(
    session: &Session,
    plan: &SearchPlan,
    most: u32,
) -> Outcome<Option<Vec<(usize, RecordKey)>>> {
    let targets = try_join_all(plan.parts().iter().map(|part| Target::resolve(session, part.read()))).await?;
    let mut keys = Vec::new();
    for (index, (part, target)) in plan.parts().iter().zip(&targets).enumerate() {
        let Some(selection) = selection(target, plan, part)? else { continue };
        let room = i64::from(most) - i64::try_from(keys.len()).unwrap_or(i64::MAX);
        let mut bindings = selection.bindings();
        let limit = bindings.bind(room + 1);
        let sql = format!("{} LIMIT {limit}", selection.select_all(&mut bindings, "t.key"));
        for row in bindings.query(session, &sql).await? {
            keys.push((index, record_key(row.get(0))?));
        }
        if keys.len() > most as usize {
            return Ok(None);
        }
    }
    keys.sort_unstable();
    Ok(Some(keys))
}
