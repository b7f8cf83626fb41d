//! Which declared fields a backend keeps as typed, indexed columns.
//!
//! Every top-level property of one scalar type can be filtered exactly, so every one gets a column.
//! A declared query then never reads a record's JSON.

use pdpp_wire::manifest::{FieldType, StreamDeclaration};
use sha2::{Digest as _, Sha256};

/// One typed column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The field it holds.
    pub field: String,
    /// Its type; never [`FieldType::Json`].
    pub field_type: FieldType,
}

/// The columns of a stream, in declared order.
pub fn columns(declaration: &StreamDeclaration) -> Vec<Column> {
    let fields = declaration.fields().iter().filter(|field| field.field_type().is_scalar());
    fields.map(|field| Column { field: field.name().to_owned(), field_type: field.field_type() }).collect()
}

/// Longest text kept whole in a column, in bytes.
const WHOLE: usize = 120;
/// Starts the column form of a longer text; no stored text of ours begins with it by accident,
/// because one that does is hashed as well.
const HASHED: char = '\u{1}';

/// The form in which a text stands in a column: itself, or a digest when it is long. Equality is
/// kept; order and prefixes are not, and nothing relies on them.
pub fn text_key(text: &str) -> String {
    if text.len() <= WHOLE && !text.starts_with(HASHED) {
        return text.to_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    let mut key = String::with_capacity(65);
    key.push(HASHED);
    for byte in digest {
        key.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        key.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stand_for_themselves_and_long_ones_for_their_digest() {
        assert_eq!(text_key("general"), "general");
        let long = "x".repeat(100_000);
        assert_eq!(text_key(&long).len(), 65);
        assert_eq!(text_key(&long), text_key(&long));
        assert_ne!(text_key(&long), text_key(&"x".repeat(99_999)));
    }

    #[test]
    fn a_text_that_looks_like_a_digest_cannot_pose_as_one() {
        let forged = text_key(&"x".repeat(200));
        assert_ne!(text_key(&forged), forged);
    }
}
