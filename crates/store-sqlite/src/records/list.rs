//! One page of records: each part's next few, merged in the plan's order.

use std::cmp::Ordering;

use pdpp_access::{Direction, OrderBy, OrderValue, Position, Predicate, RecordsPlan};
use pdpp_store::{PageBudget, RecordRow, RecordsPage, WindowBounds};
use pdpp_wire::{ConnectionId, Instant};
use rusqlite::{Connection, params_from_iter};

use super::selection::{Selection, count};
use super::target::{Part, Target};
use super::walk::Walk;
use super::{expand, order, rows};
use crate::fault::{Fault, Outcome};
use crate::sequence::unsigned;
use crate::statement::prepare;

pub(super) fn list(connection: &Connection, plan: &RecordsPlan) -> Outcome<RecordsPage> {
    let target = Target::resolve(connection, plan.read())?;
    let limit = usize::try_from(plan.limit()).unwrap_or(usize::MAX);
    let mut candidates = Vec::new();
    for part in &target.parts {
        if let Some(selection) = Selection::of(&target, part, plan.filter())? {
            let scan = Scan { connection, target: &target, part, plan, selection };
            candidates.extend(scan.next_few(limit.saturating_add(1))?);
        }
    }
    let direction = plan.order().direction;
    candidates.sort_unstable_by(|a, b| a.compare(b, direction));
    let mut page = fetch(connection, &candidates[..limit.min(candidates.len())])?;
    let last = page.len().checked_sub(1).filter(|_| page.len() < candidates.len());
    let next = last.map(|last| candidates[last].position()).transpose()?;
    expand::attach(connection, &target, plan.expand(), &mut page)?;
    let total =
        if plan.count() || plan.window() { Some(total(connection, &target, plan.filter())?) } else { None };
    let window = if plan.window() { bounds(connection, &target, plan)? } else { None };
    Ok(RecordsPage { rows: page, next, total, window })
}

/// The candidates' records, as far as a page's bytes go.
fn fetch(connection: &Connection, candidates: &[Candidate<'_>]) -> Outcome<Vec<RecordRow>> {
    let (mut page, mut budget) = (Vec::with_capacity(candidates.len()), PageBudget::default());
    let mut records = rows::ById::new(connection)?;
    for candidate in candidates {
        let Some(row) = records.show_within(candidate.record_id, candidate.part, &mut budget)? else {
            break;
        };
        page.push(row);
    }
    Ok(page)
}

/// A record that may be on the page.
struct Candidate<'t> {
    part: &'t Part<'t>,
    record_id: i64,
    key: String,
    value: Option<OrderValue>,
    /// Whether it stands among the records without a value.
    missing: bool,
}

impl Candidate<'_> {
    fn connection_id(&self) -> &ConnectionId {
        self.part.plan.connection_id()
    }

    fn compare(&self, other: &Self, direction: Direction) -> Ordering {
        let value = match (self.value, other.value) {
            (Some(a), Some(b)) => order::compare(a, b),
            _ => Ordering::Equal,
        };
        let within = value
            .then_with(|| self.key.cmp(&other.key))
            .then_with(|| self.connection_id().cmp(other.connection_id()));
        self.missing.cmp(&other.missing).then(match direction {
            Direction::Ascending => within,
            Direction::Descending => within.reverse(),
        })
    }

    fn position(&self) -> Outcome<Position> {
        Ok(Position {
            value: self.value,
            key: rows::record_key(self.key.clone())?,
            connection_id: self.connection_id().clone(),
        })
    }
}

/// One part's way through the page's order.
struct Scan<'t> {
    connection: &'t Connection,
    target: &'t Target<'t>,
    part: &'t Part<'t>,
    plan: &'t RecordsPlan,
    selection: Selection,
}

impl<'t> Scan<'t> {
    fn next_few(&self, wanted: usize) -> Outcome<Vec<Candidate<'t>>> {
        let after = self.plan.after();
        match &self.plan.order().by {
            OrderBy::Key => self.by_key(wanted, after, false),
            OrderBy::Field(field) => {
                if self.target.layout.column(field).is_none_or(|column| column.name != "ord") {
                    return Err(Fault::overtaken("the order of the stream was replaced"));
                }
                let among_missing = after.is_some_and(|after| after.value.is_none());
                let mut few = if among_missing { Vec::new() } else { self.by_value(wanted, after)? };
                if few.len() < wanted {
                    let rest = wanted - few.len();
                    few.extend(self.by_key(rest, after.filter(|_| among_missing), true)?);
                }
                Ok(few)
            }
        }
    }

    fn by_value(&self, wanted: usize, after: Option<&Position>) -> Outcome<Vec<Candidate<'t>>> {
        let mut selection = self.selection.clone();
        let direction = order::keyword(self.plan.order().direction);
        match after.and_then(|after| Some((after, after.value?))) {
            Some((after, value)) => {
                let key = after.key.as_str().to_owned().into();
                selection.and_row_value("ord", "key", self.beyond(after), [order::bind(value), key]);
            }
            None => selection.and("ord", "IS NOT NULL", []),
        }
        let index = selection.equal_column().unwrap_or("ord").to_owned();
        let order = format!("ORDER BY t.ord {direction}, t.key {direction}");
        let walk = Walk {
            selection: &selection,
            index: &index,
            columns: "t.record_id, t.key, t.ord",
            order: &order,
        };
        walk.first(self.connection, wanted, |row| {
            let value = order::read(row.get_ref(2)?, self.target.layout.order_type())?;
            Ok(Candidate { part: self.part, record_id: row.get(0)?, key: row.get(1)?, value, missing: false })
        })
    }

    /// By key alone; `missing` walks only the records without an order value.
    fn by_key(&self, wanted: usize, after: Option<&Position>, missing: bool) -> Outcome<Vec<Candidate<'t>>> {
        let mut selection = self.selection.clone();
        let direction = order::keyword(self.plan.order().direction);
        let equal = selection.equal_column().map(str::to_owned);
        // Without a cursor field no record has a value; saying so lets a filter's index give the order.
        let is_unordered = self.target.layout.order_type().is_none();
        let index = if missing || (is_unordered && equal.is_some()) {
            selection.and_missing("ord");
            equal.unwrap_or_else(|| "ord".to_owned())
        } else {
            "key".to_owned()
        };
        if let Some(after) = after {
            selection.and(
                "key",
                &format!("{} ?", self.beyond(after)),
                [after.key.as_str().to_owned().into()],
            );
        }
        let order = format!("ORDER BY t.key {direction}");
        let walk =
            Walk { selection: &selection, index: &index, columns: "t.record_id, t.key", order: &order };
        walk.first(self.connection, wanted, |row| {
            Ok(Candidate { part: self.part, record_id: row.get(0)?, key: row.get(1)?, value: None, missing })
        })
    }

    /// The comparison with a position. A record of the same value and key comes after it when its
    /// connection does.
    fn beyond(&self, after: &Position) -> &'static str {
        let direction = self.plan.order().direction;
        let connections = self.part.plan.connection_id().cmp(&after.connection_id);
        match (direction, connections) {
            (Direction::Ascending, Ordering::Greater) => ">=",
            (Direction::Ascending, _) => ">",
            (Direction::Descending, Ordering::Less) => "<=",
            (Direction::Descending, _) => "<",
        }
    }
}

/// The exact number of records over all pages.
fn total(connection: &Connection, target: &Target<'_>, filter: &[Predicate]) -> Outcome<u64> {
    let mut total = 0;
    for part in &target.parts {
        let selection = Selection::of(target, part, filter)?;
        total += count(connection, part, selection.as_ref())?;
    }
    unsigned(total)
}

/// Least and greatest consent time over all pages, if the plan may tell them and there is one.
fn bounds(connection: &Connection, target: &Target<'_>, plan: &RecordsPlan) -> Outcome<Option<WindowBounds>> {
    let Some(column) = plan.window_field().and_then(|field| target.layout.column(field)) else {
        return Ok(None);
    };
    let mut bounds: Option<WindowBounds> = None;
    for part in &target.parts {
        let Some(selection) = Selection::of(target, part, plan.filter())? else { continue };
        if let [Some(earliest), Some(latest)] = ends(connection, &selection, &column.name)? {
            bounds = Some(match bounds {
                None => WindowBounds { earliest, latest },
                Some(so_far) => WindowBounds {
                    earliest: so_far.earliest.min(earliest),
                    latest: so_far.latest.max(latest),
                },
            });
        }
    }
    Ok(bounds)
}

/// Least and greatest value of a time column: one pass over a few records, or a look at each end of
/// an index over many.
fn ends(connection: &Connection, selection: &Selection, column: &str) -> Outcome<[Option<Instant>; 2]> {
    let [min, max] = ["MIN", "MAX"].map(|function| format!("{function}(t.{column})"));
    let run = |columns: &str| -> Outcome<[Option<i64>; 2]> {
        let mut statement = prepare(connection, &selection.sql(columns, ""))?;
        let last = statement.column_count() - 1;
        let ends = statement
            .query_row(params_from_iter(selection.values()), |row| Ok([row.get(0)?, row.get(last)?]))?;
        Ok(ends)
    };
    let [earliest, latest] = if selection.equal_column().is_some() || selection.is_list() {
        run(&format!("{min}, {max}"))?
    } else {
        [run(&min)?[0], run(&max)?[0]]
    };
    Ok([earliest, latest].map(|micros| micros.map(Instant::from_micros)))
}
