//! One page of records: each part's next few, merged in the plan's order.

use std::cmp::Ordering;

use futures_util::future::try_join_all;
use pdpp_access::{Direction, OrderBy, Position, Predicate, RecordsPlan};
use pdpp_store::{PageBudget, RecordsPage};
use pdpp_wire::ConnectionId;

use super::condition::{Column, Condition};
use super::selection::{Drive, Selection, count};
use super::target::{Part, Target};
use super::walk::{After, By, Walk};
use super::{expand, rows, window};
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;
use crate::value::{Held, Sortable};

pub(super) async fn list(session: &Session, plan: &RecordsPlan) -> Outcome<RecordsPage> {
    let target = Target::resolve(session, plan.read()).await?;
    let limit = usize::try_from(plan.limit()).unwrap_or(usize::MAX);
    let mut scans = Vec::with_capacity(target.parts.len());
    for part in &target.parts {
        if let Some(selection) = Selection::of(&target, part, plan.filter())? {
            scans.push(Scan { session, target: &target, part, plan, selection });
        }
    }
    let few = scans.iter().map(|scan| scan.next_few(limit.saturating_add(1)));
    let mut candidates: Vec<_> = try_join_all(few).await?.into_iter().flatten().collect();
    let direction = plan.order().direction;
    candidates.sort_unstable_by(|a, b| a.compare(b, direction));
    let wanted = candidates.iter().take(limit).map(|candidate| (candidate.part, candidate.key.clone()));
    let groups = vec![wanted.collect()];
    let mut page = rows::show(session, target.subject_id, groups, &mut PageBudget::default())
        .await?
        .pop()
        .unwrap_or_default();
    let last = page.len().checked_sub(1).filter(|_| page.len() < candidates.len());
    let next = last.map(|last| candidates[last].position()).transpose()?;
    expand::attach(session, &target, plan.expand(), &mut page).await?;
    let total = if plan.count() || plan.window() {
        Some(total(session, &target, plan.filter()).await?)
    } else {
        None
    };
    let window = if plan.window() { window::bounds(session, &target, plan).await? } else { None };
    Ok(RecordsPage { rows: page, next, total, window })
}

/// A record that may be on the page.
struct Candidate<'t> {
    part: &'t Part<'t>,
    key: String,
    /// Its value in the page's order; it stands among the records without one when there is none.
    ord: Option<Vec<u8>>,
    missing: bool,
}

impl Candidate<'_> {
    fn connection_id(&self) -> &ConnectionId {
        self.part.plan.connection_id()
    }

    fn compare(&self, other: &Self, direction: Direction) -> Ordering {
        let within = self
            .ord
            .cmp(&other.ord)
            .then_with(|| self.key.cmp(&other.key))
            .then_with(|| self.connection_id().cmp(other.connection_id()));
        self.missing.cmp(&other.missing).then(match direction {
            Direction::Ascending => within,
            Direction::Descending => within.reverse(),
        })
    }

    fn position(&self) -> Outcome<Position> {
        let damaged = || Fault::damaged("a cursor column holds neither number nor time");
        let read =
            |bytes: &Vec<u8>| Held::read(bytes).and_then(|held| held.order_value()).ok_or_else(damaged);
        Ok(Position {
            value: self.ord.as_ref().map(read).transpose()?,
            key: rows::record_key(self.key.clone())?,
            connection_id: self.connection_id().clone(),
        })
    }
}

/// One part's way through the page's order.
struct Scan<'t> {
    session: &'t Session,
    target: &'t Target<'t>,
    part: &'t Part<'t>,
    plan: &'t RecordsPlan,
    selection: Selection,
}

impl<'t> Scan<'t> {
    async fn next_few(&self, wanted: usize) -> Outcome<Vec<Candidate<'t>>> {
        let after = self.plan.after();
        match &self.plan.order().by {
            OrderBy::Key => self.by_key(wanted, after, false).await,
            OrderBy::Field(field) => {
                if self.target.layout.place(field).is_none_or(|place| !place.is_order) {
                    return Err(Fault::overtaken("the order of the stream was replaced"));
                }
                let among_missing = after.is_some_and(|after| after.value.is_none());
                let mut few = Vec::new();
                if !among_missing && self.selection.may_be_ordered(true) {
                    few = self.by_value(wanted, after).await?;
                }
                if few.len() < wanted && self.selection.may_be_ordered(false) {
                    let rest = wanted - few.len();
                    few.extend(self.by_key(rest, after.filter(|_| among_missing), true).await?);
                }
                Ok(few)
            }
        }
    }

    async fn by_value(&self, wanted: usize, after: Option<&Position>) -> Outcome<Vec<Candidate<'t>>> {
        let mut selection = self.selection.clone();
        let ord = after.and_then(|after| after.value).map(Sortable::of_order);
        if ord.is_none() {
            selection.and(Condition::present(Column::Ord));
        }
        let walk = Walk {
            drive: selection.equal_field().map_or(Drive::Ord, Drive::Field),
            selection: &selection,
            by: By::Ord,
            direction: self.plan.order().direction,
            after: after.zip(ord.as_ref()).map(|(after, ord)| After {
                beyond: self.beyond(after),
                ord: Some(ord.as_bytes()),
                key: after.key.as_str(),
            }),
        };
        let rows = walk.first(self.session, wanted).await?;
        let candidate = |row: tokio_postgres::Row| Candidate {
            part: self.part,
            key: row.get(0),
            ord: row.get(1),
            missing: false,
        };
        Ok(rows.into_iter().map(candidate).collect())
    }

    /// By key alone; `missing` walks only the records without an order value.
    async fn by_key(
        &self,
        wanted: usize,
        after: Option<&Position>,
        missing: bool,
    ) -> Outcome<Vec<Candidate<'t>>> {
        let mut selection = self.selection.clone();
        let drive = match self.target.order_field() {
            Some(field) if !missing => Drive::Key(field),
            // Without a cursor field no record has a value; saying so lets an index of live records give the order.
            _ => {
                let drive = selection.equal_field().map_or(Drive::Ord, Drive::Field);
                selection.and(Condition::missing(Column::Ord));
                drive
            }
        };
        let walk = Walk {
            selection: &selection,
            drive,
            by: By::Key,
            direction: self.plan.order().direction,
            after: after.map(|after| After {
                beyond: self.beyond(after),
                ord: None,
                key: after.key.as_str(),
            }),
        };
        let rows = walk.first(self.session, wanted).await?;
        let candidate =
            |row: tokio_postgres::Row| Candidate { part: self.part, key: row.get(0), ord: None, missing };
        Ok(rows.into_iter().map(candidate).collect())
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
async fn total(session: &Session, target: &Target<'_>, filter: &[Predicate]) -> Outcome<u64> {
    let selections = target.parts.iter().map(|part| Selection::of(target, part, filter));
    let selections = selections.collect::<Outcome<Vec<_>>>()?;
    let counts = try_join_all(selections.iter().map(|selection| count(session, selection.as_ref()))).await?;
    unsigned(counts.iter().sum())
}
