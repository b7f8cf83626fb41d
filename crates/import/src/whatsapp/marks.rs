//! Characters that cannot be seen: marks of writing direction, and spaces that do not break.

/// Says which way text runs, and nothing else.
pub(super) fn is_mark(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' | '\u{feff}')
}

pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\t')
}

/// Without marks and spaces in front.
pub(super) fn skip(text: &str) -> &str {
    text.trim_start_matches(|character| is_mark(character) || is_space(character))
}

/// Without any mark, and with plain spaces only.
pub(super) fn clean(text: &str) -> String {
    let told = |character: char| if is_space(character) { ' ' } else { character };
    text.chars().filter(|character| !is_mark(*character)).map(told).collect::<String>().trim().to_owned()
}
