//! Small words for the terminal: emphasis, numbers, sizes, text for a shell. How text is laid out is in `layout`.

use crate::layout::{self, Page};

/// Columns when nobody watches, or the terminal does not say.
const USUAL: usize = 80;
/// Wider than this, lines of prose are hard to read.
const WIDEST: usize = 110;

/// Columns of the terminal.
pub(crate) fn width() -> usize {
    Page::here().width().map_or(USUAL, |columns| columns.clamp(10, WIDEST))
}

/// Whether colours are wanted.
pub(crate) fn is_coloured() -> bool {
    Page::here().is_coloured()
}

/// Text that stands out. What stands in it must be safe already.
pub(crate) fn bold(text: &str) -> String {
    styled("1", text)
}

/// Text that stays back. What stands in it must be safe already.
pub(crate) fn dim(text: &str) -> String {
    styled("2", text)
}

/// Text in one of the terminal's own colours.
pub(crate) fn styled(style: &str, text: &str) -> String {
    if is_coloured() { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Text on lines of at most the terminal's width, each set in.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let room = width().saturating_sub(layout::width_of(indent)).max(8);
    let lines = layout::lines(text, room);
    lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

/// A number with its thousands set apart.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How many of something: `1 record`, `1,204 records`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {one}s", number(count)) }
}

/// A size as people say it.
pub(crate) fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => counted(bytes, "byte"),
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_read_well() {
        for (given, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(given), expected);
        }
        assert_eq!(counted(1, "record"), "1 record");
        assert_eq!(counted(2_500, "record"), "2,500 records");
        assert_eq!(size(1_536), "1.5 KiB");
        assert_eq!(size(12), "12 bytes");
    }
}
