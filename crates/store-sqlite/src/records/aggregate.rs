//! Numbers about many records, over all parts of a plan together.

use std::cmp::Ordering;

use pdpp_access::{AggregatePlan, Grouping, Metric, OrderValue};
use pdpp_store::{Aggregate, TimeBuckets};
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Number, Value};

use super::selection::{Selection, count};
use super::target::{Part, Target};
use super::{buckets, groups, order, rows};
use crate::fault::{Fault, Outcome};
use crate::layout::TypedColumn;
use crate::sequence::unsigned;
use crate::statement::prepare;

/// The parts that can see anything, each with what it selects.
pub(super) type Selected<'t> = Vec<(&'t Part<'t>, Selection)>;

pub(super) fn aggregate(connection: &Connection, plan: &AggregatePlan) -> Outcome<Aggregate> {
    let target = Target::resolve(connection, plan.read())?;
    let mut selected: Selected<'_> = Vec::new();
    let mut total = 0;
    for part in &target.parts {
        if let Some(selection) = Selection::of(&target, part, plan.filter())? {
            total += count(connection, part, Some(&selection))?;
            selected.push((part, selection));
        }
    }
    let filtered_record_count = unsigned(total)?;
    let column =
        |field: &str| target.layout.column(field).ok_or_else(|| Fault::overtaken("a field has no column"));
    let groups = match plan.grouping() {
        Grouping::None => {
            let value = match plan.metric() {
                Metric::Count => Value::from(filtered_record_count),
                Metric::Sum(field) => sum(connection, &selected, &column(field)?)?,
                Metric::Min(field) => extreme(connection, &selected, field, &column(field)?, Extreme::Least)?,
                Metric::Max(field) => {
                    extreme(connection, &selected, field, &column(field)?, Extreme::Greatest)?
                }
                Metric::CountDistinct(field) => distinct(connection, &selected, &column(field)?)?,
            };
            return Ok(Aggregate { filtered_record_count, value: Some(value), groups: None, other_count: 0 });
        }
        Grouping::By(field) => groups::by_value(connection, &selected, field, &column(field)?, plan.limit())?,
        Grouping::ByTime { field, granularity, zone, .. } => {
            let buckets = TimeBuckets::new(*granularity, zone);
            let buckets = buckets::by_time(connection, &selected, &column(field)?, buckets)?;
            buckets.first(filtered_record_count, plan.limit())
        }
    };
    let shown: u64 = groups.iter().map(|group| group.count).sum();
    let other_count = filtered_record_count.saturating_sub(shown);
    Ok(Aggregate { filtered_record_count, value: None, groups: Some(groups), other_count })
}

/// Exact over whole numbers: the engine adds both halves of each apart, where it cannot overflow.
fn sum(connection: &Connection, selected: &Selected<'_>, column: &TypedColumn) -> Outcome<Value> {
    let name = &column.name;
    let whole = format!("CASE WHEN typeof(t.{name}) = 'integer' THEN t.{name} END");
    let other = format!("CASE WHEN typeof(t.{name}) = 'real' THEN t.{name} END");
    let columns = format!(
        "COALESCE(SUM({whole} >> 32), 0), COALESCE(SUM({whole} & 4294967295), 0), COUNT({other}), TOTAL({other})"
    );
    let (mut wholes, mut others, mut is_whole) = (0_i128, 0.0_f64, true);
    for (_, selection) in selected {
        let mut statement = prepare(connection, &selection.sql(&columns, ""))?;
        let (high, low, count, real): (i64, i64, i64, f64) = statement
            .query_row(params_from_iter(selection.values()), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
        wholes += (i128::from(high) << 32) + i128::from(low);
        others += real;
        is_whole &= count == 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a sum with fractions is not exact anyway")]
    let approximate = wholes as f64 + others;
    Ok(match (is_whole, i64::try_from(wholes), u64::try_from(wholes)) {
        (true, Ok(sum), _) => sum.into(),
        (true, _, Ok(sum)) => sum.into(),
        _ => Number::from_f64(approximate).map_or(Value::Null, Value::Number),
    })
}

#[derive(Clone, Copy)]
enum Extreme {
    Least,
    Greatest,
}

/// The stored value of the record that has the extreme one; of several, that with the least key.
fn extreme(
    connection: &Connection,
    selected: &Selected<'_>,
    field: &str,
    column: &TypedColumn,
    which: Extreme,
) -> Outcome<Value> {
    let (function, better) = match which {
        Extreme::Least => ("MIN", Ordering::Less),
        Extreme::Greatest => ("MAX", Ordering::Greater),
    };
    let mut best: Option<OrderValue> = None;
    for (_, selection) in selected {
        let mut statement =
            prepare(connection, &selection.sql(&format!("{function}(t.{})", column.name), ""))?;
        let mut rows = statement.query(params_from_iter(selection.values()))?;
        let Some(row) = rows.next()? else { continue };
        let value = order::read(row.get_ref(0)?, Some(column.field_type))?;
        best = match (best, value) {
            (Some(best), Some(value)) if order::compare(value, best) != better => Some(best),
            (best, None) => best,
            (_, value) => value,
        };
    }
    let Some(best) = best else { return Ok(Value::Null) };
    let mut holder: Option<(String, &Part<'_>)> = None;
    for (part, selection) in selected {
        let mut selection = selection.clone();
        selection.and_equal(&column.name, order::bind(best));
        let mut statement = prepare(connection, &selection.sql_by(&column.name, "MIN(t.key)", ""))?;
        let key: Option<String> =
            statement.query_row(params_from_iter(selection.values()), |row| row.get(0))?;
        if let Some(key) = key
            && holder.as_ref().is_none_or(|(least, _)| key < *least)
        {
            holder = Some((key, part));
        }
    }
    let (key, part) = holder.ok_or_else(|| Fault::damaged("an extreme value belongs to no record"))?;
    stored_value(connection, part, key, field)
}

/// How many different values there are, whichever part they are in.
fn distinct(connection: &Connection, selected: &Selected<'_>, column: &TypedColumn) -> Outcome<Value> {
    let name = &column.name;
    let values = || params_from_iter(selected.iter().flat_map(|(_, selection)| selection.values()));
    let sql = match selected.as_slice() {
        [] => return Ok(0.into()),
        [(_, only)] => only.sql(&format!("COUNT(DISTINCT t.{name})"), ""),
        several => {
            let each: Vec<_> = several
                .iter()
                .map(|(_, selection)| selection.sql(&format!("t.{name} AS value"), ""))
                .collect();
            format!("SELECT COUNT(DISTINCT value) FROM ({})", each.join(" UNION ALL "))
        }
    };
    let count: i64 = prepare(connection, &sql)?.query_row(values(), |row| row.get(0))?;
    Ok(unsigned(count)?.into())
}

/// A field of one record, as it was stored.
pub(super) fn stored_value(
    connection: &Connection,
    part: &Part<'_>,
    key: String,
    field: &str,
) -> Outcome<Value> {
    let damaged = || Fault::damaged("a field row has no record");
    let scope = part.scope.ok_or_else(damaged)?;
    let stored = rows::find_live(connection, scope.id, &rows::record_key(key)?)?.ok_or_else(damaged)?;
    let mut data: Map<String, Value> =
        serde_json::from_str(&stored.json()?).map_err(|_| Fault::damaged("a stored record is not JSON"))?;
    Ok(data.remove(field).unwrap_or_default())
}
