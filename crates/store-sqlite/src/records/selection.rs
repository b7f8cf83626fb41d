//! What one part of a plan may see, as SQL over its stream's fields: built from declared columns
//! only, with every value bound.

use pdpp_access::{Predicate, Test, TimeBound};
use pdpp_wire::manifest::{FieldType, RangeOperator};
use rusqlite::Connection;
use rusqlite::types::Value as SqlValue;

use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::layout::{Layout, bound};
use crate::statement::prepare;

/// A `FROM … WHERE …` under construction. The fields' table is called `t`.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    from: String,
    conditions: String,
    values: Vec<SqlValue>,
    /// Nothing but the scope restricts it.
    whole_scope: bool,
}

impl Selection {
    /// The part's records that satisfy a filter; `None` when the part cannot see any.
    pub(crate) fn of(target: &Target<'_>, part: &Part<'_>, filter: &[Predicate]) -> Outcome<Option<Self>> {
        let Some(scope) = part.scope else { return Ok(None) };
        let mut selection = Self::of_scope(&target.layout, scope.id);
        if let Some(keys) = part.plan.resources() {
            selection.only_keys(&target.layout, keys.iter().map(pdpp_wire::RecordKey::as_str));
        }
        if let Some(bound) = part.plan.time()
            && !selection.within(&target.layout, bound)
        {
            return Ok(None);
        }
        for predicate in filter {
            selection.satisfying(&target.layout, predicate)?;
        }
        Ok(Some(selection))
    }

    fn of_scope(layout: &Layout, scope_id: i64) -> Self {
        Self {
            from: format!("{} AS t", layout.table()),
            conditions: "t.scope_id = ?".to_owned(),
            values: vec![scope_id.into()],
            whole_scope: true,
        }
    }

    /// Only these records. The list leads the join, so the cost follows it and not the archive.
    fn only_keys<'k>(&mut self, layout: &Layout, keys: impl Iterator<Item = &'k str>) {
        let list = keys.collect::<serde_json::Value>().to_string();
        let table = layout.table();
        self.from = format!("json_each(?) AS wanted CROSS JOIN {table} AS t INDEXED BY {table}_key");
        self.values.insert(0, list.into());
        self.and("t.key = wanted.value", []);
    }

    /// Only records of this time; false when the declaration has no such time, and so nothing is visible.
    fn within(&mut self, layout: &Layout, bound: &TimeBound) -> bool {
        let Some(column) =
            layout.column(&bound.field).filter(|column| column.field_type == FieldType::Instant)
        else {
            return false;
        };
        let name = column.name;
        match (bound.since, bound.until) {
            (None, None) => self.and(&format!("t.{name} IS NOT NULL"), []),
            (since, until) => {
                if let Some(since) = since {
                    self.and(&format!("t.{name} >= ?"), [since.micros().into()]);
                }
                if let Some(until) = until {
                    self.and(&format!("t.{name} < ?"), [until.micros().into()]);
                }
            }
        }
        true
    }

    fn satisfying(&mut self, layout: &Layout, predicate: &Predicate) -> Outcome<()> {
        let column = layout
            .column(predicate.field())
            .ok_or_else(|| Fault::overtaken("a filtered field has no column"))?;
        let name = column.name;
        match predicate.test() {
            Test::Equals(scalar) => self.and(&format!("t.{name} = ?"), [bound(scalar)]),
            Test::Missing => self.and(&format!("t.{name} IS NULL"), []),
            Test::Range(operator, scalar) => {
                let operator = match operator {
                    RangeOperator::Gte => ">=",
                    RangeOperator::Gt => ">",
                    RangeOperator::Lte => "<=",
                    RangeOperator::Lt => "<",
                };
                self.and(&format!("t.{name} {operator} ?"), [bound(scalar)]);
            }
        }
        Ok(())
    }

    /// Adds a condition whose values come after those before it.
    pub(crate) fn and(&mut self, condition: &str, values: impl IntoIterator<Item = SqlValue>) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
        self.values.extend(values);
        self.whole_scope = false;
    }

    /// Whether it selects all records of its scope.
    pub(crate) fn is_whole_scope(&self) -> bool {
        self.whole_scope
    }

    /// The statement, with what follows the conditions.
    pub(crate) fn sql(&self, columns: &str, tail: &str) -> String {
        format!("SELECT {columns} FROM {} WHERE {} {tail}", self.from, self.conditions)
    }

    /// The bound values.
    pub(crate) fn values(&self) -> &[SqlValue] {
        &self.values
    }

    /// How many records it selects.
    pub(crate) fn count(&self, connection: &Connection) -> Outcome<i64> {
        let mut statement = prepare(connection, &self.sql("COUNT(*)", ""))?;
        Ok(statement.query_row(rusqlite::params_from_iter(&self.values), |row| row.get(0))?)
    }
}

/// How many records a part sees under a filter.
pub(crate) fn count(connection: &Connection, part: &Part<'_>, selection: Option<&Selection>) -> Outcome<i64> {
    match (selection, part.scope) {
        (Some(selection), Some(scope)) if selection.is_whole_scope() => Ok(scope.live_count),
        (Some(selection), _) => selection.count(connection),
        (None, _) => Ok(0),
    }
}

/// Whether a live record satisfies a part's grant.
pub(crate) fn is_visible(
    connection: &Connection,
    target: &Target<'_>,
    part: &Part<'_>,
    key: &str,
    record_id: i64,
) -> Outcome<bool> {
    if part.plan.resources().is_some_and(|keys| !keys.contains(key)) {
        return Ok(false);
    }
    let (Some(bound), Some(scope)) = (part.plan.time(), part.scope) else { return Ok(part.scope.is_some()) };
    let mut selection = Selection::of_scope(&target.layout, scope.id);
    if !selection.within(&target.layout, bound) {
        return Ok(false);
    }
    // By its own number: the scope is only checked, not searched.
    selection.and("t.record_id = ?", [record_id.into()]);
    Ok(prepare(connection, &selection.sql("1", ""))?.exists(rusqlite::params_from_iter(&selection.values))?)
}
