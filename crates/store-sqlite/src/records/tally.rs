//! How often each value of a column occurs, told in the column's order over all parts.
//!
//! Each part comes out of its index in that order, so one value of each is all that is kept.

use std::cmp::Ordering;

use pdpp_wire::manifest::FieldType;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Rows, params_from_iter};

use super::aggregate::Selected;
use super::order::compare_mixed;
use super::target::Part;
use crate::fault::Outcome;
use crate::layout::TypedColumn;
use crate::sequence::unsigned;
use crate::statement::prepare;

/// A column's value.
#[derive(Clone, Debug)]
pub(super) enum Held {
    Missing,
    Whole(i64),
    /// A number that is not whole.
    Other(f64),
    Text(String),
    /// The digest of a long text.
    Digest(Vec<u8>),
}

/// One value and how often it occurs.
pub(super) struct Tally<'t> {
    pub(super) held: Held,
    pub(super) count: u64,
    /// The record with the least key, where the column may not hold what was stored.
    pub(super) sample: Option<Sample<'t>>,
}

/// A record: its key, and the part that holds it.
pub(super) type Sample<'t> = (String, &'t Part<'t>);

/// Hands over each value once.
pub(super) fn each<'t>(
    connection: &Connection,
    selected: &Selected<'t>,
    column: &TypedColumn,
    mut take: impl FnMut(Tally<'t>) -> Outcome<()>,
) -> Outcome<()> {
    // Long texts stand in the column as digests, times without their spelling.
    let samples = matches!(column.field_type, FieldType::Text | FieldType::Instant);
    let name = &column.name;
    let columns = format!("t.{name}, COUNT(*){}", if samples { ", MIN(t.key)" } else { "" });
    let tail = format!("GROUP BY t.{name} ORDER BY t.{name}");
    let prepared = selected.iter().map(|(_, selection)| prepare(connection, &selection.sql(&columns, &tail)));
    let mut statements = prepared.collect::<Result<Vec<_>, _>>()?;
    let mut cursors = Vec::with_capacity(statements.len());
    for (statement, (part, selection)) in statements.iter_mut().zip(selected) {
        let rows = statement.query(params_from_iter(selection.values()))?;
        let mut cursor = Cursor { rows, part, samples, next: None };
        cursor.advance()?;
        cursors.push(cursor);
    }
    while let Some(tally) = least(&mut cursors)? {
        take(tally)?;
    }
    Ok(())
}

/// The least value any part is at, counted over all that are at it.
fn least<'t>(cursors: &mut [Cursor<'_, 't>]) -> Outcome<Option<Tally<'t>>> {
    let values = cursors.iter().filter_map(|cursor| cursor.next.as_ref().map(|tally| &tally.held));
    let Some(least) = values.min_by(|a, b| a.compare(b)).cloned() else { return Ok(None) };
    let mut whole: Option<Tally<'t>> = None;
    for cursor in cursors {
        if cursor.next.as_ref().is_some_and(|tally| tally.held.compare(&least).is_eq()) {
            let next = cursor.advance()?;
            whole = match (whole, next) {
                (Some(whole), Some(next)) => Some(whole.with(next)),
                (whole, next) => whole.or(next),
            };
        }
    }
    Ok(whole)
}

/// One part's way through the column's values.
struct Cursor<'r, 't> {
    rows: Rows<'r>,
    part: &'t Part<'t>,
    samples: bool,
    next: Option<Tally<'t>>,
}

impl<'t> Cursor<'_, 't> {
    /// Steps on, and hands over the value it was at.
    fn advance(&mut self) -> Outcome<Option<Tally<'t>>> {
        let next = match self.rows.next()? {
            None => None,
            Some(row) => Some(Tally {
                held: Held::read(row.get_ref(0)?)?,
                count: unsigned(row.get(1)?)?,
                sample: if self.samples { Some((row.get(2)?, self.part)) } else { None },
            }),
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}

impl<'t> Tally<'t> {
    /// Together with the same value's tally in a later part.
    fn with(self, other: Tally<'t>) -> Self {
        let sample = match (self.sample, other.sample) {
            (Some(own), Some(other)) if other.0 < own.0 => Some(other),
            (own, other) => own.or(other),
        };
        Self { held: self.held, count: self.count + other.count, sample }
    }
}

impl Held {
    fn read(value: ValueRef<'_>) -> Outcome<Self> {
        Ok(match value {
            ValueRef::Null => Self::Missing,
            ValueRef::Integer(number) => Self::Whole(number),
            ValueRef::Real(number) => Self::Other(number),
            ValueRef::Text(_) => Self::Text(value.as_str().map_err(rusqlite::Error::from)?.to_owned()),
            ValueRef::Blob(digest) => Self::Digest(digest.to_owned()),
        })
    }

    /// Compares as the engine does.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(b),
            (Self::Whole(a), Self::Other(b)) => compare_mixed(*a, *b),
            (Self::Other(a), Self::Whole(b)) => compare_mixed(*b, *a).reverse(),
            (Self::Other(a), Self::Other(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Digest(a), Self::Digest(b)) => a.cmp(b),
            (a, b) => a.class().cmp(&b.class()),
        }
    }

    /// The engine's order of types.
    fn class(&self) -> u8 {
        match self {
            Self::Missing => 0,
            Self::Whole(_) | Self::Other(_) => 1,
            Self::Text(_) => 2,
            Self::Digest(_) => 3,
        }
    }
}
