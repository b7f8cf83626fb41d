//! Words that others wrote, made safe to look at: no character acts unseen, and none of them fills the page.
//!
//! Markup is escaped where a template prints them; this is about what markup cannot do.

use pdpp_evidence::neutralise;

/// Longest name or label, in characters.
const NAME: usize = 120;
/// Longest text, in characters.
const TEXT: usize = 1_000;

/// A name or a label, on one line.
pub(crate) fn name(text: &str) -> String {
    cut(&flat(text), NAME)
}

/// A sentence or more.
pub(crate) fn words(text: &str) -> String {
    cut(&flat(text), TEXT)
}

/// The letter that stands where a logo would: a logo's address would tell its host who looks.
pub(crate) fn monogram(text: &str) -> String {
    let letter = text.chars().find(|c| c.is_alphanumeric());
    letter.map_or_else(|| "?".to_owned(), |c| c.to_uppercase().collect())
}

fn flat(text: &str) -> String {
    let mut out = String::new();
    for word in neutralise(text).text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_flat_and_without_tricks() {
        assert_eq!(name("  My\n\tApp "), "My App");
        assert_eq!(name("App\u{202e}gnp"), "App\u{fffd}gnp");
        assert_eq!(name(&"x".repeat(10_000)).chars().count(), NAME + 1);
        assert_eq!(words(&"x ".repeat(10_000)).chars().count(), TEXT + 1);
    }

    #[test]
    fn a_monogram_is_one_letter() {
        assert_eq!(monogram("  \u{ab}claude\u{bb}"), "C");
        assert_eq!(monogram("\u{df}"), "SS");
        assert_eq!(monogram("<>"), "?");
    }
}
