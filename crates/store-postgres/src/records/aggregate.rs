//! Numbers about many records, over all parts of a plan together.

use std::pin::pin;

use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;
use pdpp_access::{AggregatePlan, Direction, Grouping, Metric};
use pdpp_store::{Aggregate, TimeBuckets};
use serde_json::{Number, Value};

use super::condition::{Column, Condition};
use super::selection::{Drive, Selection, count};
use super::stored::stored_values;
use super::target::{Part, Target};
use super::{buckets, groups, tally, window};
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;

/// The parts that can see anything, each with what it selects.
pub(super) type Selected<'t> = Vec<(&'t Part<'t>, Selection)>;

pub(super) async fn aggregate(session: &Session, plan: &AggregatePlan) -> Outcome<Aggregate> {
    let target = Target::resolve(session, plan.read()).await?;
    let mut selected: Selected<'_> = Vec::new();
    for part in &target.parts {
        if let Some(selection) = Selection::of(&target, part, plan.filter())? {
            selected.push((part, selection));
        }
    }
    let counts = selected.iter().map(|(_, selection)| count(session, Some(selection)));
    let filtered_record_count = unsigned(try_join_all(counts).await?.iter().sum())?;
    let field = |name: &str| {
        let place = target.layout.place(name).map(|place| place.field);
        place.ok_or_else(|| Fault::overtaken("a field has no column"))
    };
    let over = Over { session, target: &target, selected: &selected };
    let groups = match plan.grouping() {
        Grouping::None => {
            let value = match plan.metric() {
                Metric::Count => Value::from(filtered_record_count),
                Metric::Sum(name) => over.sum(field(name)?).await?,
                Metric::Min(name) => over.extreme(name, field(name)?, Direction::Ascending).await?,
                Metric::Max(name) => over.extreme(name, field(name)?, Direction::Descending).await?,
                Metric::CountDistinct(name) => over.distinct(field(name)?).await?,
            };
            return Ok(Aggregate { filtered_record_count, value: Some(value), groups: None, other_count: 0 });
        }
        Grouping::By(name) => {
            groups::by_value(session, &target, &selected, (name, field(name)?), plan.limit()).await?
        }
        Grouping::ByTime { field: name, granularity, zone, .. } => {
            let buckets = TimeBuckets::new(*granularity, zone);
            let buckets = buckets::by_time(session, &selected, field(name)?, buckets).await?;
            buckets.first(filtered_record_count, plan.limit())
        }
    };
    let shown: u64 = groups.iter().map(|group| group.count).sum();
    let other_count = filtered_record_count.saturating_sub(shown);
    Ok(Aggregate { filtered_record_count, value: None, groups: Some(groups), other_count })
}

/// What numbers are asked about.
struct Over<'t> {
    session: &'t Session,
    target: &'t Target<'t>,
    selected: &'t Selected<'t>,
}

impl Over<'_> {
    /// Exact over whole numbers; others are added up with what rounding loses kept aside.
    async fn sum(&self, field: i32) -> Outcome<Value> {
        let (mut wholes, mut others, mut is_whole) = (0_i128, 0.0_f64, true);
        for (_, selection) in self.selected {
            let mut bindings = selection.bindings();
            let from = selection.with_field(&mut bindings, field);
            let sql = format!("SELECT coalesce(sum(x.whole), 0)::text, count(x.broken) {from}");
            let row = bindings.query_one(self.session, &sql).await?;
            let whole = row.get::<_, &str>(0).parse::<i128>();
            wholes += whole.map_err(|_| Fault::damaged("a sum of whole numbers is none"))?;
            if row.get::<_, i64>(1) > 0 {
                is_whole = false;
                others += self.sum_broken(selection, field).await?;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a sum with fractions is not exact anyway")]
        let approximate = wholes as f64 + others;
        Ok(match (is_whole, i64::try_from(wholes), u64::try_from(wholes)) {
            (true, Ok(sum), _) => sum.into(),
            (true, _, Ok(sum)) => sum.into(),
            _ => Number::from_f64(approximate).map_or(Value::Null, Value::Number),
        })
    }

    /// The server would add up in whatever order and lose at every step; so the numbers are added here.
    async fn sum_broken(&self, selection: &Selection, field: i32) -> Outcome<f64> {
        let mut bindings = selection.bindings();
        let from = selection.with_field(&mut bindings, field);
        let sql = format!("SELECT x.broken {from} WHERE x.broken IS NOT NULL");
        let mut rows = pin!(bindings.stream(self.session, &sql).await?);
        let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
        while let Some(row) = rows.try_next().await? {
            let number: f64 = row.get(0);
            let next = sum + number;
            lost += if sum.abs() > number.abs() { (sum - next) + number } else { (number - next) + sum };
            sum = next;
        }
        Ok(if lost.is_finite() { sum + lost } else { sum })
    }

    /// The stored value of the record that has the extreme one; of several, that with the least key.
    async fn extreme(&self, name: &str, field: i32, from: Direction) -> Outcome<Value> {
        let ends =
            self.selected.iter().map(|(_, selection)| window::end(self.session, selection, field, from));
        let ends = try_join_all(ends).await?.into_iter().flatten();
        let best = match from {
            Direction::Ascending => ends.min(),
            Direction::Descending => ends.max(),
        };
        let Some(best) = best else { return Ok(Value::Null) };
        let keys = self.selected.iter().map(|(_, selection)| self.least_key(selection, field, &best));
        let keys = try_join_all(keys).await?.into_iter().zip(self.selected);
        let mut holder: Option<tally::Sample<'_>> = None;
        for (key, (part, _)) in keys.filter_map(|(key, selected)| Some((key?, selected))) {
            if holder.as_ref().is_none_or(|(least, _)| key < *least) {
                holder = Some((key, part));
            }
        }
        let holder = holder.ok_or_else(|| Fault::damaged("an extreme value belongs to no record"))?;
        let values = stored_values(self.session, self.target, &[holder], name).await?;
        Ok(values.into_iter().next().unwrap_or_default())
    }

    /// The least key of the records that have this value.
    async fn least_key(&self, selection: &Selection, field: i32, value: &[u8]) -> Outcome<Option<String>> {
        let (mut bindings, mut conditions) = (selection.bindings(), selection.conditions.clone());
        conditions.push(Condition::equal_bytes(Column::Field(field), value.to_owned(), true));
        let drive = if selection.is_list() { Drive::List } else { Drive::Field(field) };
        let rows = selection.select(&mut bindings, drive, "t.key", &conditions);
        let sql = format!("SELECT min(x.key) FROM ({rows} {} OFFSET 0) AS x", drive.order("ASC"));
        Ok(bindings.query_one(self.session, &sql).await?.get(0))
    }

    /// How many different values there are, whichever part they are in.
    async fn distinct(&self, field: i32) -> Outcome<Value> {
        if let [(_, only)] = &self.selected[..] {
            let mut bindings = only.bindings();
            let from = only.with_field(&mut bindings, field);
            let sql = format!(
                "SELECT count(*) FROM (SELECT DISTINCT x.value {from} WHERE x.value IS NOT NULL) AS y"
            );
            return Ok(unsigned(bindings.query_one(self.session, &sql).await?.get(0))?.into());
        }
        let mut different = 0_u64;
        let one_more = |tally: tally::Tally<'_>| different += u64::from(tally.held.is_some());
        tally::each(self.session, self.selected, field, one_more).await?;
        Ok(different.into())
    }
}
