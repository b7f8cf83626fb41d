//! What the rows of a page cost.
//!
//! Rows of one page repeat each other: the same names in the same order, the same connection, the same label. What
//! the row before had as well is not measured again.

use serde_json::{Map, Value};

use super::{estimate_json, estimate_written, write_json};

/// What the brackets around a row and the comma after it cost.
const AROUND: usize = 3;

/// About how many tokens each row costs as minified JSON in a list, rather more than fewer.
pub(crate) fn estimate_rows(rows: &[Value]) -> Vec<usize> {
    let empty = Map::new();
    let mut before: (&Map<String, Value>, Vec<usize>) = (&empty, Vec::new());
    let mut costs = Vec::with_capacity(rows.len());
    let mut written = Vec::new();
    for row in rows {
        let Value::Object(members) = row else {
            costs.push(estimate_json(row) + 1);
            continue;
        };
        let mut earlier = before.0.iter().zip(&before.1);
        let cost = |(name, value): (&String, &Value)| match earlier.next() {
            Some(((known, same), cost)) if known == name && same == value => *cost,
            _ => member(&mut written, name, value),
        };
        let each: Vec<usize> = members.iter().map(cost).collect();
        costs.push(AROUND + each.iter().sum::<usize>());
        before = (members, each);
    }
    costs
}

/// One member, from after its first quote to the first quote of the next.
fn member(written: &mut Vec<u8>, name: &str, value: &Value) -> usize {
    written.clear();
    write_json(written, &name);
    written.push(b':');
    write_json(written, value);
    written.extend_from_slice(b",\"");
    estimate_written(written.get(1..).unwrap_or_default())
}
