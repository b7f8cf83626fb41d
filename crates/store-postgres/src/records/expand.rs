//! Children: records of another stream of the same connection that hold their parent's key.
//!
//! All children of a page share one budget of bytes; those beyond it are left out as those beyond
//! the relation's limit are.

use futures_util::future::try_join_all;
use pdpp_access::{ExpandPlan, Scalar};
use pdpp_store::{Expanded, PageBudget, RecordRow};
use pdpp_wire::RecordKey;
use pdpp_wire::manifest::FieldType;
use serde_json::Value;

use super::rows;
use super::selection::{Drive, Selection};
use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::layout::Place;
use crate::session::Session;
use crate::value::Sortable;

/// Gives each parent its children under each relation.
pub(super) async fn attach(
    session: &Session,
    parents: &Target<'_>,
    relations: &[ExpandPlan],
    page: &mut [RecordRow],
) -> Outcome<()> {
    let mut budget = PageBudget::default();
    for relation in relations {
        let children = Target::resolve(session, relation.child()).await?;
        let relation = Relation { session, children: &children, plan: relation };
        let mut keys: Vec<Vec<rows::Wanted<'_>>> = page.iter().map(|_| Vec::new()).collect();
        let found = try_join_all(children.parts.iter().map(|part| {
            let connection_id = part.plan.connection_id();
            let own = page.iter().enumerate();
            let own = own.filter(|(_, row)| parents.parts[row.part].plan.connection_id() == connection_id);
            relation.find(part, own.map(|(place, row)| (place, &row.key)).collect())
        }));
        for (place, part, key) in found.await?.into_iter().flatten() {
            keys[place].push((part, key));
        }
        let limit = usize::try_from(relation.plan.limit()).unwrap_or(usize::MAX);
        let counts: Vec<_> = keys.iter().map(Vec::len).collect();
        for keys in &mut keys {
            keys.truncate(limit);
        }
        let shown = rows::show(session, children.subject_id, keys, &mut budget).await?;
        for ((parent, rows), count) in page.iter_mut().zip(shown).zip(counts) {
            parent.expanded.push(Expanded { has_more: rows.len() < count, rows });
        }
    }
    Ok(())
}

/// One relation of a page.
struct Relation<'t> {
    session: &'t Session,
    children: &'t Target<'t>,
    plan: &'t ExpandPlan,
}

impl<'t> Relation<'t> {
    /// The keys of some parents' children, those of each in their order, up to one more than the limit.
    async fn find(
        &self,
        part: &'t Part<'t>,
        parents: Vec<(usize, &RecordKey)>,
    ) -> Outcome<Vec<(usize, &'t Part<'t>, String)>> {
        let field = &self.plan.declaration().relationship.foreign_key;
        let place = self
            .children
            .layout
            .place(field)
            .ok_or_else(|| Fault::overtaken("a foreign key has no column"))?;
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for (parent, key) in parents {
            if let Some(scalar) = foreign_key(place.field_type, key) {
                places.push(parent);
                values.push(Sortable::of(&scalar).as_bytes().to_owned());
            }
        }
        let Some(selection) = Selection::of(self.children, part, &[])?.filter(|_| !places.is_empty()) else {
            return Ok(Vec::new());
        };
        // An order by a field outside the grant would tell its values.
        let cursor = self.children.declaration.cursor_field();
        let ordered = cursor.is_some_and(|cursor| part.plan.granted().contains(cursor));
        let mut found = self.query(&selection, place, values, ordered).await?;
        found.sort_unstable();
        let child = |(number, _, key): (i64, _, String)| {
            let place = usize::try_from(number - 1).ok().and_then(|number| places.get(number).copied());
            place.map(|place| (place, part, key))
        };
        let damaged = || Fault::damaged("a child belongs to no parent");
        found.into_iter().map(|row| child(row).ok_or_else(damaged)).collect()
    }

    /// The children of foreign keys: the number of the foreign key, the child's order (those without a value last),
    /// its key.
    async fn query(
        &self,
        selection: &Selection,
        place: Place,
        values: Vec<Vec<u8>>,
        ordered: bool,
    ) -> Outcome<Vec<(i64, (bool, Option<Vec<u8>>), String)>> {
        let (mut bindings, drive) = (selection.bindings(), Drive::Field(place.field));
        let values = bindings.bind(values);
        let limit = bindings.bind(i64::from(self.plan.limit()) + 1);
        let of_parent = selection.select(&mut bindings, drive, "t.key, t.ord", &selection.conditions);
        let of_parent = format!("{of_parent} AND t.value = p.value {}", drive.order("ASC"));
        let children = if ordered {
            format!("{of_parent} LIMIT {limit}")
        } else {
            let all = format!("SELECT s.key, NULL::bytea AS ord FROM ({of_parent} OFFSET 0) AS s");
            format!("{all} ORDER BY s.key LIMIT {limit}")
        };
        let sql = format!(
            "SELECT p.n, c.ord, c.key FROM unnest({values}::bytea[]) WITH ORDINALITY AS p(value, n)
             CROSS JOIN LATERAL ({children}) AS c"
        );
        let read = |row: &tokio_postgres::Row| {
            let ord: Option<Vec<u8>> = row.get(1);
            (row.get(0), (ord.is_none(), ord), row.get(2))
        };
        Ok(bindings.query(self.session, &sql).await?.iter().map(read).collect())
    }
}

/// The value a child's foreign key must have to name the parent, if any value of its type can.
fn foreign_key(field_type: FieldType, parent: &RecordKey) -> Option<Scalar> {
    let text = parent.as_str();
    match field_type {
        FieldType::Text => Some(Scalar::Text(text.to_owned())),
        FieldType::Instant => Scalar::parse(field_type, text),
        FieldType::Boolean | FieldType::Integer | FieldType::Number => {
            let value: Value = serde_json::from_str(text).ok()?;
            // Only the canonical spelling names the parent: `07` is another key than `7`.
            let canonical = value.to_string();
            if canonical == text { Scalar::of_value(field_type, &value) } else { None }
        }
        FieldType::Json => None,
    }
}
