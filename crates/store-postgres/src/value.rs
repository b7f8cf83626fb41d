//! Scalars as bytes that sort as the scalars do.
//!
//! One column holds the values of every field of every stream, so it has one type: bytes. The first byte is the
//! kind; what follows compares byte by byte as the values compare. Whole and broken numbers share one order: the
//! greatest double not above the number, made sortable, then what is left of it in two bytes.

use pdpp_access::{OrderValue, Scalar};
use pdpp_store::text_key;
use pdpp_wire::Instant;
use pdpp_wire::manifest::FieldType;
use serde_json::Value;

const BOOLEAN: u8 = 1;
const NUMBER: u8 = 2;
const INSTANT: u8 = 3;
const TEXT: u8 = 4;
/// The digest of a text too long for a column.
const DIGEST: u8 = 5;

/// A scalar as bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sortable(Vec<u8>);

/// What a column holds, read back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Held {
    Boolean(bool),
    Whole(i64),
    /// A number that is not whole, or does not fit.
    Broken(f64),
    Instant(Instant),
    Text(String),
    /// A long text, of which only the digest is kept.
    Digest(Vec<u8>),
}

impl Sortable {
    /// The value a record holds under its declared type; `None` when it has none.
    pub(crate) fn of_value(field_type: FieldType, value: Option<&Value>) -> Option<Self> {
        match value? {
            // The common case without a copy of the text first.
            Value::String(text) if field_type == FieldType::Text => Some(Self::of_text(text)),
            value => Scalar::of_value(field_type, value).map(|scalar| Self::of(&scalar)),
        }
    }

    pub(crate) fn of(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Boolean(flag) => Self(vec![BOOLEAN, u8::from(*flag)]),
            Scalar::Integer(number) => Self::of_integer(*number),
            Scalar::Number(number) => Self::of_number(*number, 0),
            Scalar::Text(text) => Self::of_text(text),
            Scalar::Instant(at) => Self::of_instant(*at),
        }
    }

    /// A position in a page's order.
    pub(crate) fn of_order(value: OrderValue) -> Self {
        match value {
            OrderValue::Integer(number) => Self::of_integer(number),
            OrderValue::Number(number) => Self::of_number(number, 0),
            OrderValue::Instant(at) => Self::of_instant(at),
        }
    }

    pub(crate) fn of_instant(at: Instant) -> Self {
        let mut bytes = vec![INSTANT];
        bytes.extend((at.micros() ^ i64::MIN).to_be_bytes());
        Self(bytes)
    }

    fn of_text(text: &str) -> Self {
        let key = text_key(text);
        let (kind, rest) = key.strip_prefix('\u{1}').map_or((TEXT, key.as_str()), |digest| (DIGEST, digest));
        let mut bytes = Vec::with_capacity(1 + rest.len());
        bytes.push(kind);
        bytes.extend(rest.as_bytes());
        Self(bytes)
    }

    fn of_integer(number: i64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "what is lost is put right on the next lines")]
        let mut below = number as f64;
        // Rounding may have gone up, at the very top beyond every whole number of 64 bits.
        if exact(below) > i128::from(number) {
            below = below.next_down();
        }
        let left = i128::from(number) - exact(below);
        Self::of_number(below, u16::try_from(left).expect("doubles stand at most 2,048 apart in 64 bits"))
    }

    fn of_number(below: f64, left: u16) -> Self {
        // Minus nothing is nothing.
        let bits = (below + 0.0).to_bits();
        let sortable = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        let mut bytes = vec![NUMBER];
        bytes.extend(sortable.to_be_bytes());
        bytes.extend(left.to_be_bytes());
        Self(bytes)
    }

    /// The bytes, for a statement.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The whole number to be summed, if it is one.
    pub(crate) fn whole(&self) -> Option<i64> {
        match Held::read(&self.0)? {
            Held::Whole(number) => Some(number),
            _ => None,
        }
    }

    /// The broken number to be summed, if it is one.
    pub(crate) fn broken(&self) -> Option<f64> {
        match Held::read(&self.0)? {
            Held::Broken(number) => Some(number),
            _ => None,
        }
    }
}

impl Held {
    /// Reads a column; `None` when the bytes are none of ours.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match *kind {
            BOOLEAN => Self::Boolean(*rest.first()? != 0),
            NUMBER => Self::read_number(rest)?,
            INSTANT => {
                let micros = i64::from_be_bytes(rest.try_into().ok()?) ^ i64::MIN;
                Self::Instant(Instant::from_micros(micros))
            }
            TEXT => Self::Text(std::str::from_utf8(rest).ok()?.to_owned()),
            DIGEST => Self::Digest(rest.to_owned()),
            _ => return None,
        })
    }

    fn read_number(rest: &[u8]) -> Option<Self> {
        let (sortable, left) = rest.split_at_checked(8)?;
        let sortable = u64::from_be_bytes(sortable.try_into().ok()?);
        let left = u16::from_be_bytes(left.try_into().ok()?);
        let below = f64::from_bits(if sortable >> 63 == 1 { sortable & !(1 << 63) } else { !sortable });
        if below.fract() != 0.0 || below.abs() > 9_223_372_036_854_775_808.0 {
            return Some(Self::Broken(below));
        }
        Some(i64::try_from(exact(below) + i128::from(left)).map_or(Self::Broken(below), Self::Whole))
    }

    /// As a page's position; `None` for what no page is ordered by.
    pub(crate) fn order_value(&self) -> Option<OrderValue> {
        match self {
            Self::Whole(number) => Some(OrderValue::Integer(*number)),
            Self::Broken(number) => Some(OrderValue::Number(*number)),
            Self::Instant(at) => Some(OrderValue::Instant(*at)),
            Self::Boolean(_) | Self::Text(_) | Self::Digest(_) => None,
        }
    }
}

/// A whole double of at most 64 bits, exactly.
fn exact(number: f64) -> i128 {
    #[expect(clippy::cast_possible_truncation, reason = "the callers' numbers fit 65 bits")]
    let whole = number as i128;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_sort_as_numbers_do() {
        let scalars = [
            Scalar::Number(-1e300),
            Scalar::Integer(i64::MIN),
            Scalar::Integer(i64::MIN + 1),
            Scalar::Number(-1.5),
            Scalar::Integer(-1),
            Scalar::Number(-1e-300),
            Scalar::Integer(0),
            Scalar::Number(1e-300),
            Scalar::Integer(1),
            Scalar::Number(1.5),
            Scalar::Integer(2),
            Scalar::Integer(9_007_199_254_740_992),
            Scalar::Integer(9_007_199_254_740_993),
            Scalar::Integer(9_007_199_254_740_994),
            Scalar::Integer(i64::MAX - 1),
            Scalar::Integer(i64::MAX),
            Scalar::Number(1e300),
        ];
        let bytes: Vec<_> = scalars.iter().map(Sortable::of).collect();
        assert!(bytes.is_sorted_by(|a, b| a < b), "{bytes:?}");
        for (scalar, bytes) in scalars.iter().zip(&bytes) {
            let held = Held::read(bytes.as_bytes()).unwrap();
            match scalar {
                Scalar::Integer(number) => assert_eq!(held, Held::Whole(*number)),
                Scalar::Number(number) => assert_eq!(held, Held::Broken(*number)),
                _ => unreachable!("the list has numbers only"),
            }
        }
    }

    #[test]
    fn minus_nothing_is_nothing() {
        assert_eq!(Sortable::of(&Scalar::Number(-0.0)), Sortable::of(&Scalar::Integer(0)));
    }

    #[test]
    fn texts_and_times_come_back() {
        let at = Instant::from_micros(-5);
        assert_eq!(Held::read(Sortable::of_instant(at).as_bytes()), Some(Held::Instant(at)));
        assert!(Sortable::of_instant(at) < Sortable::of_instant(Instant::from_micros(3)));
        let text = Sortable::of(&Scalar::Text("Ana\u{0}".into()));
        assert_eq!(Held::read(text.as_bytes()), Some(Held::Text("Ana\u{0}".into())));
        let long = Sortable::of(&Scalar::Text("x".repeat(500)));
        assert!(matches!(Held::read(long.as_bytes()), Some(Held::Digest(_))) && long.as_bytes().len() == 65);
    }

    #[test]
    fn foreign_bytes_are_no_value() {
        for bytes in [&b""[..], &[9, 1], &[NUMBER, 1, 2], &[INSTANT], &[TEXT, 0xff]] {
            assert_eq!(Held::read(bytes), None);
        }
    }
}
