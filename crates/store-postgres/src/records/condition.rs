//! One condition on one field, spelled for wherever its value is at hand.
//!
//! Values are bytes, so every range has a least byte string that is in it and one that is not any more: two spellings
//! are enough for all comparisons, and the texts of statements stay few.

use pdpp_access::{Scalar, Test};
use pdpp_wire::manifest::RangeOperator;

use super::statement::Bindings;
use crate::value::Sortable;

/// What a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// The record's place in its stream's order: the cursor field's value, which stands beside every row.
    Ord,
    /// Another field, by its number.
    Field(i32),
}

/// One condition.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) column: Column,
    holds: Holds,
}

/// What must hold of a value.
#[derive(Clone, Debug)]
enum Holds {
    /// It is this one; of many possible ones, or of two.
    Equal { value: Vec<u8>, of_many: bool },
    /// There is none.
    Missing,
    /// It is not before the first, and before the second.
    Between(Vec<u8>, Vec<u8>),
}

/// How well a condition's index narrows a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Narrows {
    /// To one value out of many.
    Much,
    /// To one value out of two, or none.
    Some,
    /// To a range, which may be everything.
    Perhaps,
}

impl Condition {
    pub(crate) fn of(column: Column, test: &Test) -> Self {
        match test {
            Test::Equals(scalar) => Self::equal(column, scalar),
            Test::Missing => Self::missing(column),
            Test::Range(operator, scalar) => {
                let at = Sortable::of(scalar).as_bytes().to_owned();
                let (from, before) = match operator {
                    RangeOperator::Gte => (at, last()),
                    RangeOperator::Gt => (next(at), last()),
                    RangeOperator::Lte => (Vec::new(), next(at)),
                    RangeOperator::Lt => (Vec::new(), at),
                };
                Self { column, holds: Holds::Between(from, before) }
            }
        }
    }

    pub(crate) fn equal(column: Column, scalar: &Scalar) -> Self {
        let of_many = !matches!(scalar, Scalar::Boolean(_));
        Self::equal_bytes(column, Sortable::of(scalar).as_bytes().to_owned(), of_many)
    }

    pub(crate) fn equal_bytes(column: Column, value: Vec<u8>, of_many: bool) -> Self {
        Self { column, holds: Holds::Equal { value, of_many } }
    }

    pub(crate) fn missing(column: Column) -> Self {
        Self { column, holds: Holds::Missing }
    }

    /// Any value, from one on and before another.
    pub(crate) fn between(column: Column, from: Option<Sortable>, before: Option<Sortable>) -> Self {
        let bytes = |value: Sortable| value.as_bytes().to_owned();
        Self {
            column,
            holds: Holds::Between(from.map(bytes).unwrap_or_default(), before.map_or_else(last, bytes)),
        }
    }

    /// Any value at all.
    pub(crate) fn present(column: Column) -> Self {
        Self::between(column, None, None)
    }

    /// Whether there must not be a value.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.holds, Holds::Missing)
    }

    pub(crate) fn narrows(&self) -> Narrows {
        match self.holds {
            Holds::Equal { of_many: true, .. } => Narrows::Much,
            Holds::Equal { .. } | Holds::Missing => Narrows::Some,
            Holds::Between(..) => Narrows::Perhaps,
        }
    }

    /// As said of an expression that has the value.
    pub(crate) fn spell(&self, value: &str, bindings: &mut Bindings) -> String {
        match &self.holds {
            Holds::Equal { value: wanted, .. } => format!("{value} = {}", bindings.bind(wanted.clone())),
            Holds::Missing => format!("{value} IS NULL"),
            Holds::Between(from, before) => {
                let (from, before) = (bindings.bind(from.clone()), bindings.bind(before.clone()));
                format!("{value} >= {from} AND {value} < {before}")
            }
        }
    }
}

/// The least bytes after these.
fn next(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0);
    bytes
}

/// After every value: no kind begins so.
fn last() -> Vec<u8> {
    vec![0xff]
}
