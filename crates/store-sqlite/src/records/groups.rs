//! Counts by a field's values.

use std::cmp::Reverse;
use std::collections::HashMap;

use pdpp_store::Group;
use pdpp_wire::manifest::FieldType;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};
use serde_json::{Number, Value};

use super::aggregate::{Selected, stored_value};
use super::target::Part;
use crate::fault::{Fault, Outcome};
use crate::layout::TypedColumn;
use crate::sequence::unsigned;
use crate::statement::prepare;

/// A column's value, comparable across parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Held {
    Missing,
    Whole(i64),
    /// The bits of a number that is not whole.
    Other(u64),
    Text(String),
    /// The digest of a long text.
    Digest(Vec<u8>),
}

/// One group so far.
struct Counted<'t> {
    count: u64,
    /// The record with the least key, where the column does not hold what was stored.
    sample: Option<(String, &'t Part<'t>)>,
}

/// The greatest groups, then by the JSON text of their keys.
pub(super) fn by_value(
    connection: &Connection,
    selected: &Selected<'_>,
    field: &str,
    column: &TypedColumn,
    limit: u32,
) -> Outcome<Vec<Group>> {
    let mut counted = Vec::from_iter(count_all(connection, selected, column)?);
    counted.sort_unstable_by_key(|(_, group)| Reverse(group.count));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // Groups as large as the last one shown compete with it by their text.
    if let Some((_, last)) = limit.checked_sub(1).and_then(|last| counted.get(last)) {
        let least = last.count;
        counted.retain(|(_, group)| group.count >= least);
    }
    let mut groups = Vec::with_capacity(counted.len());
    for (held, group) in counted {
        let key = key(connection, field, column.field_type, held, group.sample)?;
        groups.push((Reverse(group.count), key.to_string(), Group { key, count: group.count }));
    }
    groups.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    groups.truncate(limit);
    Ok(groups.into_iter().map(|(_, _, group)| group).collect())
}

fn count_all<'t>(
    connection: &Connection,
    selected: &Selected<'t>,
    column: &TypedColumn,
) -> Outcome<HashMap<Held, Counted<'t>>> {
    // Long texts stand in the column as digests, times without their spelling.
    let samples = matches!(column.field_type, FieldType::Text | FieldType::Instant);
    let name = &column.name;
    let columns = format!("t.{name}, COUNT(*){}", if samples { ", MIN(t.key)" } else { "" });
    let mut counted: HashMap<Held, Counted<'t>> = HashMap::new();
    for (part, selection) in selected {
        let mut statement = prepare(connection, &selection.sql(&columns, &format!("GROUP BY t.{name}")))?;
        let mut rows = statement.query(params_from_iter(selection.values()))?;
        while let Some(row) = rows.next()? {
            let (held, count) = (held(row.get_ref(0)?)?, unsigned(row.get(1)?)?);
            let sample = if samples { Some((row.get(2)?, *part)) } else { None };
            let group = counted.entry(held).or_insert(Counted { count: 0, sample: None });
            group.count += count;
            if group.sample.is_none() || sample.as_ref().map(|s| &s.0) < group.sample.as_ref().map(|s| &s.0) {
                group.sample = sample;
            }
        }
    }
    Ok(counted)
}

fn held(value: ValueRef<'_>) -> Outcome<Held> {
    Ok(match value {
        ValueRef::Null => Held::Missing,
        ValueRef::Integer(number) => Held::Whole(number),
        ValueRef::Real(number) => Held::Other(number.to_bits()),
        ValueRef::Text(_) => Held::Text(value.as_str().map_err(rusqlite::Error::from)?.to_owned()),
        ValueRef::Blob(digest) => Held::Digest(digest.to_owned()),
    })
}

fn key(
    connection: &Connection,
    field: &str,
    field_type: FieldType,
    held: Held,
    sample: Option<(String, &Part<'_>)>,
) -> Outcome<Value> {
    Ok(match (held, sample) {
        (Held::Missing, _) => Value::Null,
        (Held::Whole(number), _) if field_type == FieldType::Boolean => (number != 0).into(),
        (Held::Whole(number), None) => number.into(),
        (Held::Other(bits), _) => Number::from_f64(f64::from_bits(bits)).map_or(Value::Null, Value::Number),
        (Held::Text(text), _) => text.into(),
        (Held::Whole(_) | Held::Digest(_), Some((key, part))) => stored_value(connection, part, key, field)?,
        (Held::Digest(_), None) => return Err(Fault::damaged("a digest belongs to no record")),
    })
}
