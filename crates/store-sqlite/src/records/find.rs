//! One record, under each part that holds it.

use pdpp_access::RecordPlan;
use pdpp_store::RecordRow;
use rusqlite::Connection;

use super::selection::is_visible;
use super::target::Target;
use super::{expand, rows};
use crate::fault::Outcome;

pub(super) fn find(connection: &Connection, plan: &RecordPlan) -> Outcome<Vec<RecordRow>> {
    let target = Target::resolve(connection, plan.read())?;
    let mut found = Vec::new();
    for part in &target.parts {
        let Some(scope) = part.scope else { continue };
        let Some(stored) = rows::find_live(connection, scope.id, plan.key())? else { continue };
        if is_visible(connection, &target, part, plan.key().as_str(), stored.id)? {
            found.push(stored.show(part)?);
        }
    }
    expand::attach(connection, &target, plan.expand(), &mut found)?;
    Ok(found)
}
