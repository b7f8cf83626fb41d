//! Counts by time: instants come out of the index in order.

use pdpp_store::TimeBuckets;
use rusqlite::{Connection, params_from_iter};

use super::aggregate::Selected;
use crate::fault::Outcome;
use crate::layout::TypedColumn;
use crate::statement::prepare;

/// Counts every record that has a time.
pub(super) fn by_time<'z>(
    connection: &Connection,
    selected: &Selected<'_>,
    column: &TypedColumn,
    mut buckets: TimeBuckets<'z>,
) -> Outcome<TimeBuckets<'z>> {
    let name = &column.name;
    for (_, selection) in selected {
        let mut selection = selection.clone();
        selection.and(name, "IS NOT NULL", []);
        let sql = selection.sql(&format!("t.{name}"), &format!("ORDER BY t.{name}"));
        let mut statement = prepare(connection, &sql)?;
        let mut rows = statement.query(params_from_iter(selection.values()))?;
        while let Some(row) = rows.next()? {
            buckets.add(row.get(0)?, 1);
        }
    }
    Ok(buckets)
}
