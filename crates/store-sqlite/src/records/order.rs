//! How records stand in a page's order, in the database and between parts.

use std::cmp::Ordering;

use pdpp_access::{Direction, OrderValue};
use pdpp_wire::Instant;
use pdpp_wire::manifest::FieldType;
use rusqlite::types::{Value as SqlValue, ValueRef};

use crate::fault::{Fault, Outcome};

/// The direction in SQL.
pub(super) const fn keyword(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "ASC",
        Direction::Descending => "DESC",
    }
}

/// A column's value as an order value.
pub(super) fn read(value: ValueRef<'_>, field_type: Option<FieldType>) -> Outcome<Option<OrderValue>> {
    Ok(match (value, field_type) {
        (ValueRef::Null, _) => None,
        (ValueRef::Integer(micros), Some(FieldType::Instant)) => {
            Some(OrderValue::Instant(Instant::from_micros(micros)))
        }
        (ValueRef::Integer(number), _) => Some(OrderValue::Integer(number)),
        (ValueRef::Real(number), _) => Some(OrderValue::Number(number)),
        _ => return Err(Fault::damaged("a cursor column holds neither number nor time")),
    })
}

pub(super) fn bind(value: OrderValue) -> SqlValue {
    match value {
        OrderValue::Integer(number) => number.into(),
        OrderValue::Number(number) => number.into(),
        OrderValue::Instant(at) => at.micros().into(),
    }
}

/// Compares as the engine does: numbers by value, whole or not.
pub(super) fn compare(a: OrderValue, b: OrderValue) -> Ordering {
    use OrderValue::{Instant, Integer, Number};
    match (a, b) {
        (Integer(a), Integer(b)) => a.cmp(&b),
        (Instant(a), Instant(b)) => a.cmp(&b),
        (Number(a), Number(b)) => a.total_cmp(&b),
        (Integer(a), Number(b)) => compare_mixed(a, b),
        (Number(a), Integer(b)) => compare_mixed(b, a).reverse(),
        // One field has one type; a mixture cannot be asked for.
        (Instant(_), _) => Ordering::Greater,
        (_, Instant(_)) => Ordering::Less,
    }
}

pub(super) fn compare_mixed(whole: i64, other: f64) -> Ordering {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if other >= BEYOND {
        return Ordering::Less;
    }
    if other < -BEYOND {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked above")]
    let floor = other.floor() as i64;
    whole.cmp(&floor).then(if other.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_other_numbers_compare_by_value() {
        for (whole, other, expected) in [
            (1, 1.5, Ordering::Less),
            (2, 1.5, Ordering::Greater),
            (-1, -1.5, Ordering::Greater),
            (-2, -1.5, Ordering::Less),
            (3, 3.0, Ordering::Equal),
            (i64::MAX, 1e300, Ordering::Less),
            (i64::MIN, -1e300, Ordering::Greater),
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Ordering::Greater),
        ] {
            assert_eq!(compare_mixed(whole, other), expected, "{whole} {other}");
        }
    }
}
