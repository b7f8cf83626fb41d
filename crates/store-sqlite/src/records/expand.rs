//! Children: records of another stream of the same connection that hold their parent's key.
//!
//! All children of a page share one budget of bytes; those beyond it are left out as those beyond
//! the relation's limit are.

use pdpp_access::{ExpandPlan, Scalar};
use pdpp_store::{Expanded, PageBudget, RecordRow};
use pdpp_wire::RecordKey;
use pdpp_wire::manifest::FieldType;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use super::rows::ById;
use super::selection::Selection;
use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::layout::bound;
use crate::statement::prepare;

/// Gives each parent its children under each relation.
pub(super) fn attach(
    connection: &Connection,
    parents: &Target<'_>,
    relations: &[ExpandPlan],
    page: &mut [RecordRow],
) -> Outcome<()> {
    let mut budget = PageBudget::default();
    for relation in relations {
        let children = Target::resolve(connection, relation.child())?;
        for parent in page.iter_mut() {
            let connection_id = parents.parts[parent.part].plan.connection_id();
            let part = children.parts.iter().find(|part| part.plan.connection_id() == connection_id);
            parent.expanded.push(match part {
                Some(part) => {
                    let ids = find(connection, &children, part, relation, &parent.key)?;
                    fetch(connection, part, &ids, relation.limit(), &mut budget)?
                }
                None => Expanded { rows: Vec::new(), has_more: false },
            });
        }
    }
    Ok(())
}

/// The numbers of a parent's children in their order, up to one more than the limit.
fn find(
    connection: &Connection,
    children: &Target<'_>,
    part: &Part<'_>,
    relation: &ExpandPlan,
    parent: &RecordKey,
) -> Outcome<Vec<i64>> {
    let field = &relation.declaration().relationship.foreign_key;
    let column =
        children.layout.column(field).ok_or_else(|| Fault::overtaken("a foreign key has no column"))?;
    let Some(key) = foreign_key(column.field_type, parent) else { return Ok(Vec::new()) };
    let Some(mut selection) = Selection::of(children, part, &[])? else { return Ok(Vec::new()) };
    selection.and_equal(&column.name, bound(&key));
    // An order by a field outside the grant would tell its values.
    let ordered =
        children.declaration.cursor_field().is_some_and(|cursor| part.plan.granted().contains(cursor));
    let tail = if ordered {
        "ORDER BY t.ord ASC NULLS LAST, t.key ASC LIMIT ?"
    } else {
        "ORDER BY t.key ASC LIMIT ?"
    };
    let mut statement = prepare(connection, &selection.sql_by(&column.name, "t.record_id", tail))?;
    let wanted = (i64::from(relation.limit()) + 1).into();
    let ids = statement.query_map(params_from_iter(selection.values().chain([&wanted])), |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn fetch(
    connection: &Connection,
    part: &Part<'_>,
    ids: &[i64],
    limit: u32,
    budget: &mut PageBudget,
) -> Outcome<Expanded> {
    let (mut rows, limit) = (Vec::new(), usize::try_from(limit).unwrap_or(usize::MAX));
    let mut records = ById::new(connection)?;
    for id in ids.iter().take(limit) {
        let Some(row) = records.show_within(*id, part, budget)? else { break };
        rows.push(row);
    }
    let has_more = rows.len() < ids.len();
    Ok(Expanded { rows, has_more })
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
