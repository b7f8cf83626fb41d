//! Entities of HTML: numbers, and the names that occur in what people write.

use std::borrow::Cow;

/// Longest name between `&` and `;`.
const LONGEST: usize = 10;

/// Text with its entities decoded. What is no entity stays as it stands.
pub(crate) fn decode_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        decoded.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        // Entities are ASCII and short, so a search through bytes finds the end without cutting a character.
        let end = rest.bytes().take(LONGEST + 1).position(|byte| byte == b';');
        match end.and_then(|end| Some((one(rest.get(..end)?)?, end))) {
            Some((character, end)) => {
                decoded.push(character);
                rest = &rest[end + 1..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

fn one(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        return Some(if character == '\0' { char::REPLACEMENT_CHARACTER } else { character });
    }
    let found = NAMES.binary_search_by_key(&name, |(known, _)| known).ok()?;
    Some(NAMES[found].1)
}

/// In the order of their bytes.
const NAMES: [(&str, char); 79] = [
    ("Aacute", 'Á'),
    ("Agrave", 'À'),
    ("Aring", 'Å'),
    ("Auml", 'Ä'),
    ("Ccedil", 'Ç'),
    ("Eacute", 'É'),
    ("Ntilde", 'Ñ'),
    ("Oslash", 'Ø'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("aacute", 'á'),
    ("acirc", 'â'),
    ("aelig", 'æ'),
    ("agrave", 'à'),
    ("amp", '&'),
    ("apos", '\''),
    ("aring", 'å'),
    ("atilde", 'ã'),
    ("auml", 'ä'),
    ("bdquo", '„'),
    ("bull", '•'),
    ("ccedil", 'ç'),
    ("cent", '¢'),
    ("copy", '©'),
    ("darr", '↓'),
    ("deg", '°'),
    ("divide", '÷'),
    ("eacute", 'é'),
    ("ecirc", 'ê'),
    ("egrave", 'è'),
    ("emsp", '\u{2003}'),
    ("ensp", '\u{2002}'),
    ("euml", 'ë'),
    ("euro", '€'),
    ("frac12", '½'),
    ("ge", '≥'),
    ("gt", '>'),
    ("hearts", '♥'),
    ("hellip", '…'),
    ("iacute", 'í'),
    ("icirc", 'î'),
    ("iexcl", '¡'),
    ("iquest", '¿'),
    ("iuml", 'ï'),
    ("laquo", '«'),
    ("larr", '←'),
    ("ldquo", '“'),
    ("le", '≤'),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("mdash", '—'),
    ("middot", '·'),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("ne", '≠'),
    ("ntilde", 'ñ'),
    ("oacute", 'ó'),
    ("ocirc", 'ô'),
    ("oelig", 'œ'),
    ("oslash", 'ø'),
    ("otilde", 'õ'),
    ("ouml", 'ö'),
    ("para", '¶'),
    ("plusmn", '±'),
    ("pound", '£'),
    ("quot", '"'),
    ("raquo", '»'),
    ("rarr", '→'),
    ("rdquo", '”'),
    ("reg", '®'),
    ("rsquo", '’'),
    ("sect", '§'),
    ("shy", '\u{ad}'),
    ("szlig", 'ß'),
    ("times", '×'),
    ("trade", '™'),
    ("uarr", '↑'),
    ("uuml", 'ü'),
    ("yen", '¥'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_so_that_each_is_found() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| name));
        assert!(NAMES.iter().all(|(name, character)| one(name) == Some(*character)));
    }

    #[test]
    fn what_is_no_entity_stays() {
        for (given, decoded) in [
            ("a &amp; b &lt;c&gt;", "a & b <c>"),
            ("&#39;&#x1F600;&#0;&#xD800;", "'😀\u{fffd}\u{fffd}"),
            ("&amp;lt;", "&lt;"),
            ("AT&T; &nope; &; & &é;", "AT&T; &nope; &; & &é;"),
            ("&ampamp", "&ampamp"),
        ] {
            assert_eq!(decode_entities(given), decoded, "{given}");
        }
    }
}
