//! What one part of a plan may see, as SQL: built from declared fields only, with every value bound.
//!
//! A statement walks one index, its drive; conditions the index does not answer are looked up for each row by the
//! record's key. The server knows nothing of how values spread within one stream, so nothing is left for it to choose:
//! a walk asks for its index's own order, a lookup is a subquery that cannot be turned round.

use std::collections::HashSet;

use pdpp_access::{Predicate, TimeBound};
use pdpp_wire::manifest::FieldType;

use super::condition::{Column, Condition, Narrows};
use super::statement::Bindings;
use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::layout::{Layout, Place};
use crate::session::Session;
use crate::value::Sortable;

/// The records of a scope that satisfy some conditions.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    subject_id: String,
    scope_id: i64,
    /// How many live records the scope has.
    live_count: i64,
    /// The grant's own list of records. It leads, so the cost follows it and not the archive.
    wanted: Option<Vec<String>>,
    pub(super) conditions: Vec<Condition>,
}

/// The index a statement walks. Its rows are called `t`; all have `key` and `ord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The listed records, one by one.
    List,
    /// The stream's order.
    Ord,
    /// The keys, by the rows of a field that every record has.
    Key(i32),
    /// A field's values; `t` has them as `value`.
    Field(i32),
}

impl Drive {
    pub(super) const fn of(column: Column) -> Self {
        match column {
            Column::Ord => Self::Ord,
            Column::Field(field) => Self::Field(field),
        }
    }

    /// The order it walks in. Columns of one value are named too: the server does not see that an absent one is one.
    pub(super) fn order(self, direction: &str) -> String {
        match self {
            Self::List => String::new(),
            Self::Ord => format!("ORDER BY t.ord {direction}, t.key {direction}"),
            Self::Key(_) => format!("ORDER BY t.key {direction}"),
            Self::Field(_) => {
                format!("ORDER BY t.value {direction}, t.ord {direction}, t.key {direction}")
            }
        }
    }
}

impl Selection {
    /// The part's records that satisfy a filter; `None` when the part cannot see any.
    pub(crate) fn of(target: &Target<'_>, part: &Part<'_>, filter: &[Predicate]) -> Outcome<Option<Self>> {
        let Some(scope) = part.scope else { return Ok(None) };
        let mut selection = Self {
            subject_id: target.subject_id.as_str().to_owned(),
            scope_id: scope.id,
            live_count: scope.live_count,
            wanted: part
                .plan
                .resources()
                .map(|keys| keys.iter().map(|key| key.as_str().to_owned()).collect()),
            conditions: Vec::new(),
        };
        if let Some(bound) = part.plan.time()
            && !selection.within(&target.layout, bound)
        {
            return Ok(None);
        }
        for predicate in filter {
            let place = target
                .layout
                .place(predicate.field())
                .ok_or_else(|| Fault::overtaken("a filtered field has no column"))?;
            selection.and(Condition::of(column(place), predicate.test()));
        }
        Ok(Some(selection))
    }

    /// Only records of this time; false when the declaration has no such time, and so nothing is visible.
    pub(super) fn within(&mut self, layout: &Layout, bound: &TimeBound) -> bool {
        let Some(place) = layout.place(&bound.field).filter(|place| place.field_type == FieldType::Instant)
        else {
            return false;
        };
        let [since, until] = [bound.since, bound.until].map(|at| at.map(Sortable::of_instant));
        self.and(Condition::between(column(place), since, until));
        true
    }

    pub(crate) fn and(&mut self, condition: Condition) {
        self.conditions.push(condition);
    }

    /// Of these records only; those the grant's own list lacks are left out.
    pub(super) fn only<'k>(mut self, keys: impl IntoIterator<Item = &'k str>) -> Self {
        let allowed = self.wanted.take().map(HashSet::<String>::from_iter);
        let is_allowed = |key: &&str| allowed.as_ref().is_none_or(|list| list.contains(*key));
        self.wanted = Some(keys.into_iter().filter(is_allowed).map(str::to_owned).collect());
        self
    }

    /// Whether it selects all records of its scope.
    pub(crate) fn is_whole_scope(&self) -> bool {
        self.wanted.is_none() && self.conditions.is_empty()
    }

    /// Whether the grant's own list of records leads.
    pub(super) fn is_list(&self) -> bool {
        self.wanted.is_some()
    }

    /// Whether its scope has no more records than so many.
    pub(super) fn is_of_at_most(&self, records: usize) -> bool {
        usize::try_from(self.live_count).is_ok_and(|live| live <= records)
    }

    /// Whether some of its records may have a place in the order, or may have none.
    pub(super) fn may_be_ordered(&self, ordered: bool) -> bool {
        let mut of_order = self.conditions.iter().filter(|condition| condition.column == Column::Ord);
        of_order.all(|condition| condition.is_missing() != ordered)
    }

    /// A field, other than the order's, that must have one value: its index gives the page in order.
    pub(super) fn equal_field(&self) -> Option<i32> {
        let field = |narrows: Narrows| {
            self.conditions.iter().find_map(|condition| match condition.column {
                Column::Field(field) if condition.narrows() == narrows => Some(field),
                _ => None,
            })
        };
        field(Narrows::Much).or_else(|| field(Narrows::Some))
    }

    /// The index that leads to its records soonest, whatever their order.
    pub(super) fn drive(&self) -> Drive {
        if self.is_list() {
            return Drive::List;
        }
        let narrowest = self.conditions.iter().min_by_key(|condition| condition.narrows());
        narrowest.map_or(Drive::Ord, |condition| Drive::of(condition.column))
    }

    /// Values for a statement over the scope: `$1` is the subject, `$2` the scope.
    pub(super) fn bindings(&self) -> Bindings {
        let mut bindings = Bindings::default();
        bindings.bind(self.subject_id.clone());
        bindings.bind(self.scope_id);
        bindings
    }

    /// `SELECT` of these columns along an index, under these of its conditions.
    pub(super) fn select<'c>(
        &self,
        bindings: &mut Bindings,
        drive: Drive,
        columns: &str,
        conditions: impl IntoIterator<Item = &'c Condition>,
    ) -> String {
        let list = self.wanted.as_ref().map(|wanted| bindings.bind(wanted.clone()));
        let mut sql = match (drive, &list) {
            (Drive::List, list) => format!(
                "SELECT {columns} FROM unnest({}::text[]) AS w(key) CROSS JOIN LATERAL (
                     SELECT r.key, r.ord, r.created_seq, r.emitted_at, r.history, r.data, r.deleted_seq
                     FROM records AS r WHERE r.subject_id = $1 AND r.scope_id = $2 AND r.key = w.key
                     OFFSET 0) AS t WHERE t.deleted_seq IS NULL",
                list.as_deref().unwrap_or("'{}'")
            ),
            (Drive::Ord, _) => format!(
                "SELECT {columns} FROM records AS t
                 WHERE t.subject_id = $1 AND t.scope_id = $2 AND t.deleted_seq IS NULL"
            ),
            (Drive::Key(field) | Drive::Field(field), _) => format!(
                "SELECT {columns} FROM record_fields AS t
                 WHERE t.subject_id = $1 AND t.scope_id = $2 AND t.field = {}",
                bindings.bind(field)
            ),
        };
        if let (Some(list), false) = (list, drive == Drive::List) {
            sql = format!("{sql} AND t.key = ANY({list})");
        }
        for condition in conditions {
            sql = format!("{sql} AND {}", spell(condition, drive, bindings));
        }
        sql
    }

    /// `SELECT` of these columns along the index that leads to its records soonest, in that index's order.
    pub(super) fn select_all(&self, bindings: &mut Bindings, columns: &str) -> String {
        let drive = self.drive();
        let sql = self.select(bindings, drive, columns, &self.conditions);
        format!("{sql} {}", drive.order("ASC"))
    }

    /// `FROM` its records, each with its row of a field: `x` has `key`, `value`, `whole` and `broken`.
    pub(super) fn with_field(&self, bindings: &mut Bindings, field: i32) -> String {
        let drive = Drive::Field(field);
        if self.is_whole_scope() || self.drive() == drive {
            let sql = self.select(bindings, drive, "t.key, t.value, t.whole, t.broken", &self.conditions);
            return format!("FROM ({sql} {}) AS x", drive.order("ASC"));
        }
        let (records, number) = (self.select_all(bindings, "t.key"), bindings.bind(field));
        format!(
            "FROM (SELECT t.key, m.value, m.whole, m.broken FROM ({records}) AS t CROSS JOIN LATERAL (
                 SELECT c.value, c.whole, c.broken FROM record_fields AS c WHERE {}) AS m) AS x",
            by_key(&number)
        )
    }

    /// `FROM` its records, each with its row of `records`, which is called `r`.
    pub(super) fn with_record(&self, bindings: &mut Bindings) -> String {
        format!(
            "FROM ({}) AS t CROSS JOIN LATERAL (
                 SELECT s.key, s.created_seq, s.emitted_at, s.history FROM records AS s
                 WHERE s.subject_id = $1 AND s.scope_id = $2 AND s.key = t.key OFFSET 0) AS r",
            self.select_all(bindings, "t.key")
        )
    }

    /// Whether `t`, a row of `records`, satisfies the conditions.
    pub(super) fn passes(&self, bindings: &mut Bindings) -> String {
        passes(&self.conditions, Drive::Ord, bindings)
    }

    async fn count(&self, session: &Session) -> Outcome<i64> {
        let mut bindings = self.bindings();
        let sql = format!("SELECT count(*) FROM ({}) AS x", self.select_all(&mut bindings, "1"));
        Ok(bindings.query_one(session, &sql).await?.get(0))
    }

    /// Whether it selects at most so many records, without counting more.
    pub(super) async fn is_at_most(&self, session: &Session, most: i64) -> Outcome<bool> {
        let mut bindings = self.bindings();
        let limit = bindings.bind(most + 1);
        let sql =
            format!("SELECT count(*) FROM ({} LIMIT {limit}) AS x", self.select_all(&mut bindings, "1"));
        Ok(bindings.query_one(session, &sql).await?.get::<_, i64>(0) <= most)
    }
}

/// Where a field's conditions look.
pub(super) fn column(place: Place) -> Column {
    if place.is_order { Column::Ord } else { Column::Field(place.field) }
}

/// Whether a row satisfies conditions.
pub(super) fn passes<'c>(
    conditions: impl IntoIterator<Item = &'c Condition>,
    drive: Drive,
    bindings: &mut Bindings,
) -> String {
    conditions
        .into_iter()
        .fold("TRUE".to_owned(), |sql, condition| format!("{sql} AND {}", spell(condition, drive, bindings)))
}

/// A condition: of the row itself, or looked up by the record's key.
fn spell(condition: &Condition, drive: Drive, bindings: &mut Bindings) -> String {
    match (condition.column, drive) {
        (Column::Ord, _) => condition.spell("t.ord", bindings),
        (Column::Field(field), Drive::Field(own) | Drive::Key(own)) if field == own => {
            condition.spell("t.value", bindings)
        }
        (Column::Field(field), _) => {
            let (holds, number) = (condition.spell("c.value", bindings), bindings.bind(field));
            format!("(SELECT {holds} FROM record_fields AS c WHERE {})", by_key(&number))
        }
    }
}

/// The one row of a field that `t` has.
///
/// Both indexes of the table have all columns that are looked at, and where the server takes a field to have few rows,
/// they cost it the same; but in the index of values, all entries of the field would be read for each lookup. So the
/// row is asked for in the order that only the index by key gives, and by a column that neither has.
fn by_key(field: &str) -> String {
    format!(
        "c.subject_id = $1 AND c.scope_id = $2 AND c.field = {field} AND c.key >= t.key AND c.key <= t.key
         AND coalesce(c.whole, 0) IS NOT NULL ORDER BY c.key LIMIT 1"
    )
}

/// How many records a part sees under a filter.
pub(super) async fn count(session: &Session, selection: Option<&Selection>) -> Outcome<i64> {
    match selection {
        Some(selection) if selection.is_whole_scope() => Ok(selection.live_count),
        Some(selection) => selection.count(session).await,
        None => Ok(0),
    }
}

/// The first of these records that is live and satisfies a part's grant.
pub(crate) async fn first_visible(
    session: &Session,
    target: &Target<'_>,
    part: &Part<'_>,
    keys: &[&str],
) -> Outcome<Option<String>> {
    let Some(selection) = Selection::of(target, part, &[])? else { return Ok(None) };
    let selection = selection.only(keys.iter().copied());
    let mut bindings = selection.bindings();
    let sql = format!("{} LIMIT 1", selection.select_all(&mut bindings, "t.key"));
    Ok(bindings.query(session, &sql).await?.first().map(|row| row.get(0)))
}
