//! Counts by a field's values, as the column holds them.

use pdpp_store::{Group, LargestGroups};
use pdpp_wire::manifest::FieldType;
use rusqlite::Connection;
use serde_json::{Number, Value};

use super::aggregate::{Selected, stored_value};
use super::tally::{self, Held, Sample, Tally};
use crate::fault::{Fault, Outcome};
use crate::layout::TypedColumn;

/// The largest groups, then by the JSON text of their keys.
pub(super) fn by_value(
    connection: &Connection,
    selected: &Selected<'_>,
    field: &str,
    column: &TypedColumn,
    limit: u32,
) -> Outcome<Vec<Group>> {
    let mut largest = LargestGroups::new(limit);
    tally::each(connection, selected, column, |tally| offer(&mut largest, column.field_type, tally))?;
    let mut read = Vec::new();
    for (count, (key, part)) in largest.take_unspelled() {
        read.push((count, stored_value(connection, part, key, field)?));
    }
    Ok(largest.finish(read))
}

fn offer<'t>(
    largest: &mut LargestGroups<Sample<'t>>,
    field_type: FieldType,
    tally: Tally<'t>,
) -> Outcome<()> {
    let Tally { held, count, sample } = tally;
    let key = match (held, sample) {
        (Held::Digest(_), None) => return Err(Fault::damaged("a digest belongs to no record")),
        (Held::Whole(_) | Held::Digest(_), Some(sample)) => {
            largest.offer_unspelled(count, sample);
            return Ok(());
        }
        (Held::Missing, _) => Value::Null,
        (Held::Whole(number), None) if field_type == FieldType::Boolean => (number != 0).into(),
        (Held::Whole(number), None) => number.into(),
        (Held::Other(number), _) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        (Held::Text(text), _) => text.into(),
    };
    largest.offer(count, key);
    Ok(())
}
