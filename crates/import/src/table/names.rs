//! Names made legal: of connectors, streams and fields.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization as _;

use crate::hash_key;

/// Longest slug; keys and stream names may have twice that.
const LONGEST: usize = 60;
/// Longest field name.
const LONGEST_FIELD: usize = 100;

/// Small letters, digits and single dashes. Letters that have no plain form are dropped; a few digits then keep
/// different names different.
pub(super) fn slug(name: &str) -> String {
    let mut slug = String::new();
    let mut dropped = false;
    for character in name.replace('ß', "ss").nfkd().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if character.is_alphanumeric() {
            dropped = true;
        } else if !slug.is_empty() && !slug.ends_with('-') && !is_mark(character) {
            slug.push('-');
        }
    }
    let mut slug = slug.trim_end_matches('-').to_owned();
    if dropped || slug.is_empty() || slug.len() > LONGEST {
        slug.truncate(LONGEST - 8);
        let slug = slug.trim_end_matches('-');
        let tail = &hash_key(&[name])[..7];
        return if slug.is_empty() { tail.to_owned() } else { format!("{slug}-{tail}") };
    }
    slug
}

/// Whether a character only marks the one before it.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// A name that none of the names so far is: with a number behind it if need be.
pub(super) fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let mut chosen = name.clone();
    let mut number = 2;
    while !taken.insert(chosen.to_lowercase()) {
        chosen = format!("{name}_{number}");
        number += 1;
    }
    chosen
}

/// A field name as queries can spell it: letters of any script, digits, `_` and `-`. `None` when nothing is left.
pub(super) fn field_name(original: &str) -> Option<String> {
    let mut name = String::new();
    for character in original.nfc() {
        if character.is_alphanumeric() || character == '-' {
            name.push(character);
        } else if !name.ends_with('_') && (character == '_' || !name.is_empty()) {
            name.push('_');
        }
    }
    let name = if original.ends_with('_') { name.as_str() } else { name.trim_end_matches('_') };
    if name.len() > LONGEST_FIELD {
        let cut: String = name.chars().take(LONGEST_FIELD / 4).collect();
        return Some(format!("{cut}_{}", &hash_key(&[original])[..9]));
    }
    match name {
        "" => None,
        // The protocol has its own meaning for this name.
        "blob_ref" => Some("blob_ref_column".to_owned()),
        name => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_plain_and_stay_different() {
        for (name, expected) in [
            ("Orders 2024 (final)", "orders-2024-final"),
            ("Ausgaben März", "ausgaben-marz"),
            ("straße", "strasse"),
        ] {
            assert_eq!(slug(name), expected);
        }
        assert!(slug("--").starts_with('h') && slug("").starts_with('h'));
        assert_ne!(slug("отчет 2024"), slug("план 2024"));
        assert!(slug(&"long ".repeat(100)).len() <= LONGEST);
    }

    #[test]
    fn field_names_can_be_spelled_in_a_query() {
        for (original, expected) in [
            ("Order Date", Some("Order_Date")),
            ("_id", Some("_id")),
            ("e-mail", Some("e-mail")),
            ("Größe (cm)", Some("Größe_cm")),
            ("a.b,c[d]", Some("a_b_c_d")),
            ("blob_ref", Some("blob_ref_column")),
            ("  ", None),
            ("\u{0}", None),
        ] {
            assert_eq!(field_name(original).as_deref(), expected, "{original:?}");
        }
    }
}
