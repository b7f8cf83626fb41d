//! What one part of a plan may see, as SQL over its stream's fields: built from declared columns
//! only, with every value bound.

use pdpp_access::{Predicate, Scalar, Test, TimeBound};
use pdpp_wire::manifest::{FieldType, RangeOperator};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};

use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::layout::{Layout, bound};
use crate::statement::prepare;

/// A `FROM … WHERE …` under construction. The fields' table is called `t`.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    table: String,
    scope_id: SqlValue,
    /// The grant's own list of records, as JSON. It leads the join, so the cost follows it and not
    /// the archive.
    wanted: Option<SqlValue>,
    conditions: Vec<Condition>,
}

/// One condition on one column, or on two compared together.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    column: String,
    second: Option<String>,
    /// What follows the column's name.
    test: String,
    values: Vec<SqlValue>,
    kind: Kind,
}

/// How a condition helps an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One value out of many.
    Selective,
    /// One value out of two, or none.
    Equality,
    /// Anything else.
    Other,
}

impl Condition {
    fn new(column: &str, test: &str, values: Vec<SqlValue>, kind: Kind) -> Self {
        Self { column: column.to_owned(), second: None, test: test.to_owned(), values, kind }
    }

    fn spell(&self) -> String {
        match &self.second {
            None => format!("t.{} {}", self.column, self.test),
            Some(second) => format!("(t.{}, t.{second}) {}", self.column, self.test),
        }
    }
}

impl Selection {
    /// The part's records that satisfy a filter; `None` when the part cannot see any.
    pub(crate) fn of(target: &Target<'_>, part: &Part<'_>, filter: &[Predicate]) -> Outcome<Option<Self>> {
        let Some(scope) = part.scope else { return Ok(None) };
        let mut selection = Self::of_scope(&target.layout, scope.id);
        if let Some(keys) = part.plan.resources() {
            let list = keys.iter().map(pdpp_wire::RecordKey::as_str).collect::<serde_json::Value>();
            selection.wanted = Some(list.to_string().into());
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
        Self { table: layout.table(), scope_id: scope_id.into(), wanted: None, conditions: Vec::new() }
    }

    /// The same without the grant's own list of records, for whoever checks that list himself.
    pub(crate) fn without_list(&self) -> Self {
        Self { wanted: None, ..self.clone() }
    }

    /// Only records of this time; false when the declaration has no such time, and so nothing is visible.
    pub(super) fn within(&mut self, layout: &Layout, bound: &TimeBound) -> bool {
        let Some(column) =
            layout.column(&bound.field).filter(|column| column.field_type == FieldType::Instant)
        else {
            return false;
        };
        if bound.since.is_none() && bound.until.is_none() {
            self.and(&column.name, "IS NOT NULL", []);
        }
        if let Some(since) = bound.since {
            self.and(&column.name, ">= ?", [since.micros().into()]);
        }
        if let Some(until) = bound.until {
            self.and(&column.name, "< ?", [until.micros().into()]);
        }
        true
    }

    fn satisfying(&mut self, layout: &Layout, predicate: &Predicate) -> Outcome<()> {
        let column = layout
            .column(predicate.field())
            .ok_or_else(|| Fault::overtaken("a filtered field has no column"))?;
        match predicate.test() {
            Test::Equals(Scalar::Boolean(flag)) => {
                let value = vec![i64::from(*flag).into()];
                self.conditions.push(Condition::new(&column.name, "= ?", value, Kind::Equality));
            }
            Test::Equals(scalar) => self.and_equal(&column.name, bound(scalar)),
            Test::Missing => self.and_missing(&column.name),
            Test::Range(operator, scalar) => {
                let test = match operator {
                    RangeOperator::Gte => ">= ?",
                    RangeOperator::Gt => "> ?",
                    RangeOperator::Lte => "<= ?",
                    RangeOperator::Lt => "< ?",
                };
                self.and(&column.name, test, [bound(scalar)]);
            }
        }
        Ok(())
    }

    /// Adds a condition: a column and what follows its name.
    pub(crate) fn and(&mut self, column: &str, test: &str, values: impl IntoIterator<Item = SqlValue>) {
        self.conditions.push(Condition::new(column, test, values.into_iter().collect(), Kind::Other));
    }

    /// Only records beyond a position in two columns; the index that orders by both starts there.
    pub(crate) fn and_row_value(&mut self, first: &str, second: &str, beyond: &str, position: [SqlValue; 2]) {
        let condition = Condition::new(first, &format!("{beyond} (?, ?)"), position.into(), Kind::Other);
        self.conditions.push(Condition { second: Some(second.to_owned()), ..condition });
    }

    /// Only records whose column has this value.
    pub(crate) fn and_equal(&mut self, column: &str, value: SqlValue) {
        self.conditions.push(Condition::new(column, "= ?", vec![value], Kind::Selective));
    }

    /// Only records whose column has no value.
    pub(crate) fn and_missing(&mut self, column: &str) {
        self.conditions.push(Condition::new(column, "IS NULL", Vec::new(), Kind::Equality));
    }

    /// Whether it selects all records of its scope.
    pub(crate) fn is_whole_scope(&self) -> bool {
        self.wanted.is_none() && self.conditions.is_empty()
    }

    /// Whether the grant's own list of records leads.
    pub(crate) fn is_list(&self) -> bool {
        self.wanted.is_some()
    }

    /// A column, other than the order's, that must have one value: its index gives the page in order.
    pub(crate) fn equal_column(&self) -> Option<&str> {
        self.selective_column().or_else(|| self.column_with(Kind::Equality))
    }

    /// A column whose one value selects few records.
    fn selective_column(&self) -> Option<&str> {
        self.column_with(Kind::Selective)
    }

    fn column_with(&self, kind: Kind) -> Option<&str> {
        let fits = |condition: &&Condition| condition.kind == kind && condition.column.starts_with('f');
        self.conditions.iter().find(fits).map(|condition| condition.column.as_str())
    }

    /// Splits off the conditions on other columns than these.
    pub(crate) fn split_off(&self, columns: &[&str]) -> (Self, Vec<Condition>) {
        let own = |condition: &Condition| columns.contains(&condition.column.as_str());
        let (conditions, others) = self.conditions.iter().cloned().partition(own);
        (Self { conditions, ..self.clone() }, others)
    }

    /// The statement, with what follows the conditions. The engine chooses the index, but for one
    /// thing: knowing nothing of the values, it takes an open range to be as good as one value.
    pub(crate) fn sql(&self, columns: &str, tail: &str) -> String {
        match self.selective_column() {
            Some(column) => self.sql_by(column, columns, tail),
            None => self.statement(columns, "", tail),
        }
    }

    /// The statement by the index of one value, else by that of a condition.
    pub(crate) fn sql_else_by(&self, condition: &Condition, columns: &str, tail: &str) -> String {
        self.sql_by(self.selective_column().unwrap_or(&condition.column), columns, tail)
    }

    /// The statement by the index that starts with this column, unless the grant's list leads.
    pub(crate) fn sql_by(&self, index: &str, columns: &str, tail: &str) -> String {
        self.statement(columns, &format!("INDEXED BY {}_{index}", self.table), tail)
    }

    fn statement(&self, columns: &str, hint: &str, tail: &str) -> String {
        let table = &self.table;
        let mut sql = match self.wanted {
            None => format!("SELECT {columns} FROM {table} AS t {hint} WHERE t.scope_id = ?"),
            Some(_) => format!(
                "SELECT {columns} FROM json_each(?) AS wanted CROSS JOIN {table} AS t INDEXED BY {table}_key
                 WHERE t.scope_id = ? AND t.key = wanted.value"
            ),
        };
        for condition in &self.conditions {
            sql.push_str(" AND ");
            sql.push_str(&condition.spell());
        }
        sql.push(' ');
        sql.push_str(tail);
        sql
    }

    /// The bound values, in the statement's order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &SqlValue> {
        let conditions = self.conditions.iter().flat_map(|condition| &condition.values);
        self.wanted.iter().chain([&self.scope_id]).chain(conditions)
    }

    /// How many records it selects.
    fn count(&self, connection: &Connection) -> Outcome<i64> {
        let mut statement = prepare(connection, &self.sql("COUNT(*)", ""))?;
        Ok(statement.query_row(params_from_iter(self.values()), |row| row.get(0))?)
    }

    /// Whether it selects at most so many records, without counting more.
    pub(crate) fn is_at_most(&self, connection: &Connection, most: i64) -> Outcome<bool> {
        let sql = format!("SELECT COUNT(*) FROM ({})", self.sql("1", "LIMIT ?"));
        let limit = (most + 1).into();
        let values = params_from_iter(self.values().chain([&limit]));
        let count: i64 = prepare(connection, &sql)?.query_row(values, |row| row.get(0))?;
        Ok(count <= most)
    }
}

/// Several conditions as one expression, with its values.
pub(crate) fn all_hold(conditions: &[Condition]) -> (String, impl Iterator<Item = &SqlValue>) {
    let spelled: Vec<_> = conditions.iter().map(Condition::spell).collect();
    (spelled.join(" AND "), conditions.iter().flat_map(|condition| &condition.values))
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
    selection.and_equal("record_id", record_id.into());
    Ok(prepare(connection, &selection.sql("1", ""))?.exists(params_from_iter(selection.values()))?)
}
