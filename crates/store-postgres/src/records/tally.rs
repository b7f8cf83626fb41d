//! How often each value of a field occurs, told in the values' order over all parts.
//!
//! Each part comes in that order, so one piece of each is all that is kept.

use super::aggregate::Selected;
use super::portal::Portal;
use super::target::Part;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;
use crate::value::Held;

/// One value and how often it occurs.
pub(super) struct Tally<'t> {
    /// `None` for the records without one.
    pub(super) held: Option<Held>,
    pub(super) count: u64,
    /// The record with the least key.
    pub(super) sample: Sample<'t>,
}

/// A record: its key, and the part that holds it.
pub(super) type Sample<'t> = (String, &'t Part<'t>);

/// Hands over each value once; the records without one come last.
pub(super) async fn each<'t>(
    session: &Session,
    selected: &Selected<'t>,
    field: i32,
    mut take: impl FnMut(Tally<'t>),
) -> Outcome<()> {
    let mut cursors = Vec::with_capacity(selected.len());
    for (number, (part, selection)) in selected.iter().enumerate() {
        let mut bindings = selection.bindings();
        let from = selection.with_field(&mut bindings, field);
        let sql = format!("SELECT x.value, count(*), min(x.key) {from} GROUP BY x.value ORDER BY x.value");
        let portal = Portal::open(session, &format!("tally_{number}"), &bindings, &sql).await?;
        let mut cursor = Cursor { portal, part, next: None };
        cursor.advance().await?;
        cursors.push(cursor);
    }
    while let Some(counted) = least(&mut cursors).await? {
        let held = counted.value.0.map(|bytes| Held::read(&bytes).ok_or_else(damaged)).transpose()?;
        take(Tally { held, count: counted.count, sample: counted.sample });
    }
    Ok(())
}

fn damaged() -> Fault {
    Fault::damaged("a field holds no value of ours")
}

/// A value's bytes. What is missing comes after everything, as the server has it.
#[derive(Clone, PartialEq, Eq)]
struct Value(Option<Vec<u8>>);

impl Value {
    fn place(&self) -> (bool, Option<&[u8]>) {
        (self.0.is_none(), self.0.as_deref())
    }
}

/// One value as a part counts it.
struct Counted<'t> {
    value: Value,
    count: u64,
    sample: Sample<'t>,
}

/// The least value any part is at, counted over all that are at it.
async fn least<'t>(cursors: &mut [Cursor<'_, 't>]) -> Outcome<Option<Counted<'t>>> {
    let values = cursors.iter().filter_map(|cursor| cursor.next.as_ref().map(|counted| &counted.value));
    let Some(least) = values.min_by(|a, b| a.place().cmp(&b.place())).cloned() else { return Ok(None) };
    let mut whole: Option<Counted<'t>> = None;
    for cursor in cursors {
        if cursor.next.as_ref().is_some_and(|counted| counted.value == least) {
            let next = cursor.advance().await?;
            whole = match (whole, next) {
                (Some(whole), Some(next)) => Some(whole.with(next)),
                (whole, next) => whole.or(next),
            };
        }
    }
    Ok(whole)
}

/// One part's way through the field's values.
struct Cursor<'s, 't> {
    portal: Portal<'s>,
    part: &'t Part<'t>,
    next: Option<Counted<'t>>,
}

impl<'t> Cursor<'_, 't> {
    /// Steps on, and hands over the value it was at.
    async fn advance(&mut self) -> Outcome<Option<Counted<'t>>> {
        let next = match self.portal.next().await? {
            None => None,
            Some(row) => Some(Counted {
                value: Value(row.get(0)),
                count: unsigned(row.get(1))?,
                sample: (row.get(2), self.part),
            }),
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}

impl<'t> Counted<'t> {
    /// Together with the same value in a later part.
    fn with(self, other: Counted<'t>) -> Self {
        let sample = if other.sample.0 < self.sample.0 { other.sample } else { self.sample };
        Self { value: self.value, count: self.count + other.count, sample }
    }
}
