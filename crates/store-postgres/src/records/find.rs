//! One record, under each part that holds it.

use futures_util::future::try_join_all;
use pdpp_access::RecordPlan;
use pdpp_store::RecordRow;

use super::expand;
use super::rows::{STORED, Stored};
use super::selection::Selection;
use super::target::{Part, Target};
use crate::fault::Outcome;
use crate::session::Session;

pub(super) async fn find(session: &Session, plan: &RecordPlan) -> Outcome<Vec<RecordRow>> {
    let target = Target::resolve(session, plan.read()).await?;
    let mut asked = Vec::new();
    for part in &target.parts {
        if let Some(selection) = Selection::of(&target, part, &[])? {
            asked.push((part, selection.only([plan.key().as_str()])));
        }
    }
    let found = asked.iter().map(|(part, selection)| find_all(session, part, selection));
    let mut found: Vec<_> = try_join_all(found).await?.into_iter().flatten().collect();
    expand::attach(session, &target, plan.expand(), &mut found).await?;
    Ok(found)
}

/// The listed records of a selection, as a part shows them.
pub(super) async fn find_all(
    session: &Session,
    part: &Part<'_>,
    selection: &Selection,
) -> Outcome<Vec<RecordRow>> {
    let mut bindings = selection.bindings();
    let sql = selection.select_all(&mut bindings, STORED);
    let rows = bindings.query(session, &sql).await?;
    rows.iter().map(|row| Stored::read(row).show(part)).collect()
}
