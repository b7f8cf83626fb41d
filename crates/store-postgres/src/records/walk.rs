//! Reads the first few of a selection in the order of an index.
//!
//! Conditions the index does not answer are looked at row by row on the way. That is best when they let many rows
//! pass, and ruinous when they let few pass; so a walk that gets nowhere is given up for the index of those
//! conditions, whose few rows are then sorted.

use pdpp_access::Direction;
use tokio_postgres::Row;

use super::condition::{Column, Condition, Narrows};
use super::selection::{Drive, Selection, passes};
use super::statement::Bindings;
use crate::fault::Outcome;
use crate::session::Session;

/// Rows looked at for each one wanted before a walk is given up, and at least.
const PATIENCE: usize = 40;
const LEAST_PATIENCE: usize = 1_000;

/// A selection to be read in an index's order.
pub(super) struct Walk<'s> {
    pub(super) selection: &'s Selection,
    pub(super) drive: Drive,
    pub(super) by: By,
    pub(super) direction: Direction,
    pub(super) after: Option<After<'s>>,
}

/// What the rows are wanted in the order of; the drive gives the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A field's value, `ord`, key: the drive is the field.
    Value,
    /// `ord`, key: the drive is the order, or a field that has one value.
    Ord,
    /// The key: the drive is the keys, or one that has one value and no `ord`.
    Key,
}

/// Where to go on from.
#[derive(Clone, Copy, Debug)]
pub(super) struct After<'s> {
    /// The comparison with the position.
    pub(super) beyond: &'static str,
    /// The position's `ord`, when it is in the order of that.
    pub(super) ord: Option<&'s [u8]>,
    pub(super) key: &'s str,
}

impl Walk<'_> {
    /// The first rows: `key`, `ord`, and `value` when that is what they are in the order of.
    pub(super) async fn first(&self, session: &Session, wanted: usize) -> Outcome<Vec<Row>> {
        if self.selection.is_list() {
            return self.sorted(session, Drive::List, wanted).await;
        }
        let (own, others): (Vec<_>, Vec<_>) =
            self.selection.conditions.iter().partition(|condition| self.answers(condition));
        let Some(first) = others.first() else {
            let mut bindings = self.selection.bindings();
            let sql = self.ordered(&mut bindings, &own, self.columns(), wanted);
            return bindings.query(session, &sql).await;
        };
        if let Some(rows) = self.patiently(session, &own, &others, wanted).await? {
            return Ok(rows);
        }
        // By the index of one value, else of the first condition.
        let much = |condition: &&Condition| {
            condition.narrows() == Narrows::Much && matches!(condition.column, Column::Field(_))
        };
        let narrow = self.selection.conditions.iter().find(much).unwrap_or(first);
        self.sorted(session, Drive::of(narrow.column), wanted).await
    }

    /// Whether the drive's index has what a condition looks at, where it can start and end by it.
    fn answers(&self, condition: &Condition) -> bool {
        match (condition.column, self.drive) {
            (Column::Ord, Drive::Ord) => true,
            (Column::Ord, Drive::Field(_)) => self.by != By::Value,
            (Column::Field(field), Drive::Field(own)) => field == own,
            _ => false,
        }
    }

    fn columns(&self) -> &'static str {
        if self.by == By::Value { "t.key, t.ord, t.value" } else { "t.key, t.ord" }
    }

    /// In the drive's own order.
    fn ordered(&self, bindings: &mut Bindings, own: &[&Condition], columns: &str, limit: usize) -> String {
        let sql = self.selection.select(bindings, self.drive, columns, own.iter().copied());
        let (beyond, order) = (self.beyond(bindings), self.drive.order(keyword(self.direction)));
        format!("{sql}{beyond} {order} LIMIT {}", bindings.bind(limit_of(limit)))
    }

    fn beyond(&self, bindings: &mut Bindings) -> String {
        match self.after {
            None => String::new(),
            Some(After { beyond, ord: Some(ord), key }) => {
                let position = (bindings.bind(ord.to_owned()), bindings.bind(key.to_owned()));
                format!(" AND (t.ord, t.key) {beyond} ({}, {})", position.0, position.1)
            }
            Some(After { beyond, ord: None, key }) => {
                format!(" AND t.key {beyond} {}", bindings.bind(key.to_owned()))
            }
        }
    }

    /// In the index's order, looking at the other conditions on the way; `None` when too few rows pass.
    async fn patiently(
        &self,
        session: &Session,
        own: &[&Condition],
        others: &[&Condition],
        wanted: usize,
    ) -> Outcome<Option<Vec<Row>>> {
        let patience = wanted.saturating_mul(PATIENCE).max(LEAST_PATIENCE);
        let mut bindings = self.selection.bindings();
        let pass = passes(others.iter().copied(), self.drive, &mut bindings);
        let columns = format!("{}, ({pass}) AS passes", self.columns());
        let looked = self.ordered(&mut bindings, own, &columns, patience);
        let limit = bindings.bind(limit_of(wanted));
        let sql = format!("SELECT * FROM ({looked}) AS x WHERE passes LIMIT {limit}");
        let found = bindings.query(session, &sql).await?;
        let is_done = found.len() >= wanted || self.selection.is_of_at_most(patience);
        Ok((is_done || self.ends_within(session, own, patience).await?).then_some(found))
    }

    /// Whether the walk comes to its end within so many rows.
    async fn ends_within(&self, session: &Session, own: &[&Condition], patience: usize) -> Outcome<bool> {
        let mut bindings = self.selection.bindings();
        let rows = self.ordered(&mut bindings, own, "1", patience.saturating_add(1));
        let count = bindings.query_one(session, &format!("SELECT count(*) FROM ({rows}) AS x")).await?;
        Ok(count.get::<_, i64>(0) <= limit_of(patience))
    }

    /// By another index, and sorted.
    async fn sorted(&self, session: &Session, drive: Drive, wanted: usize) -> Outcome<Vec<Row>> {
        let (mut bindings, direction) = (self.selection.bindings(), keyword(self.direction));
        let sql = if let (By::Value, Drive::Field(field)) = (self.by, self.drive) {
            let from = self.selection.with_field(&mut bindings, field);
            format!("SELECT x.key, NULL::bytea, x.value {from} ORDER BY x.value {direction}")
        } else {
            let all = &self.selection.conditions;
            let rows = self.selection.select(&mut bindings, drive, self.columns(), all);
            let (beyond, order) = (self.beyond(&mut bindings), drive.order("ASC"));
            let by = match self.by {
                By::Key => format!("x.key {direction}"),
                _ => format!("x.ord {direction}, x.key {direction}"),
            };
            format!("SELECT x.key, x.ord FROM ({rows}{beyond} {order} OFFSET 0) AS x ORDER BY {by}")
        };
        let sql = format!("{sql} LIMIT {}", bindings.bind(limit_of(wanted)));
        bindings.query(session, &sql).await
    }
}

fn limit_of(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

const fn keyword(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "ASC",
        Direction::Descending => "DESC",
    }
}
