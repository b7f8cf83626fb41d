//! Reads the first few of a selection in the order of an index.
//!
//! Conditions the index does not answer are looked at row by row on the way. That is best when they
//! let many rows pass, and ruinous when they let few pass; so a walk that gets nowhere is given up
//! for the index of those conditions, whose few rows are then sorted.

use rusqlite::{Connection, Row, params_from_iter};

use super::selection::{Condition, Selection, all_hold};
use crate::fault::Outcome;
use crate::statement::prepare;

/// Rows looked at for each one wanted before a walk is given up, and at least.
const PATIENCE: usize = 40;
const LEAST_PATIENCE: usize = 1_000;

/// A selection to be read in an index's order.
pub(super) struct Walk<'s> {
    pub(super) selection: &'s Selection,
    /// The column the index starts with after the scope; it goes on with `ord` and `key`.
    pub(super) index: &'s str,
    pub(super) columns: &'s str,
    /// The order the index gives.
    pub(super) order: &'s str,
}

impl Walk<'_> {
    /// The first `wanted` rows.
    pub(super) fn first<T>(
        &self,
        connection: &Connection,
        wanted: usize,
        mut read: impl FnMut(&Row<'_>) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        if self.selection.is_list() {
            return self.sorted(connection, None, wanted, read);
        }
        let answered = if self.index == "key" { ["key", "key", "key"] } else { [self.index, "ord", "key"] };
        let (by_index, others) = self.selection.split_off(&answered);
        if others.is_empty() {
            let sql = self.selection.sql_by(self.index, self.columns, &format!("{} LIMIT ?", self.order));
            return collect(connection, &sql, self.selection, wanted, read);
        }
        match self.patiently(connection, &by_index, &others, wanted, &mut read)? {
            Some(rows) => Ok(rows),
            None => self.sorted(connection, others.first(), wanted, read),
        }
    }

    /// By the index of one value, else of this condition: knowing nothing of the values, the engine might
    /// take the order's own index again, for the sake of where the page starts.
    fn sorted<T>(
        &self,
        connection: &Connection,
        condition: Option<&Condition>,
        wanted: usize,
        read: impl FnMut(&Row<'_>) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        let tail = format!("{} LIMIT ?", self.order);
        let sql = match condition {
            Some(condition) => self.selection.sql_else_by(condition, self.columns, &tail),
            None => self.selection.sql(self.columns, &tail),
        };
        collect(connection, &sql, self.selection, wanted, read)
    }

    /// In the index's order, looking at the other conditions on the way; `None` when too few rows
    /// pass. Whether a row passes comes after its columns.
    fn patiently<T>(
        &self,
        connection: &Connection,
        by_index: &Selection,
        others: &[Condition],
        wanted: usize,
        read: &mut impl FnMut(&Row<'_>) -> Outcome<T>,
    ) -> Outcome<Option<Vec<T>>> {
        let patience = wanted.saturating_mul(PATIENCE).max(LEAST_PATIENCE);
        let (passes, tested) = all_hold(others);
        let columns = format!("{}, ({passes})", self.columns);
        let sql = by_index.sql_by(self.index, &columns, self.order);
        let mut statement = prepare(connection, &sql)?;
        let last = statement.column_count() - 1;
        let mut rows = statement.query(params_from_iter(tested.chain(by_index.values())))?;
        let (mut found, mut looked_at) = (Vec::new(), 0);
        while found.len() < wanted
            && let Some(row) = rows.next()?
        {
            looked_at += 1;
            if looked_at > patience {
                return Ok(None);
            }
            // A comparison with a missing value is neither true nor false.
            if row.get::<_, Option<bool>>(last)? == Some(true) {
                found.push(read(row)?);
            }
        }
        Ok(Some(found))
    }
}

fn collect<T>(
    connection: &Connection,
    sql: &str,
    selection: &Selection,
    wanted: usize,
    mut read: impl FnMut(&Row<'_>) -> Outcome<T>,
) -> Outcome<Vec<T>> {
    let mut statement = prepare(connection, sql)?;
    let limit = i64::try_from(wanted).unwrap_or(i64::MAX).into();
    let mut rows = statement.query(params_from_iter(selection.values().chain([&limit])))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}
