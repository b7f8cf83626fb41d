//! What the terminal in front of us can show: how wide it is, whether it takes colour, and text that fits it.

use std::io::{self, IsTerminal as _};

/// Columns when nobody watches, or the terminal does not say.
const USUAL: usize = 80;
/// Wider than this, lines of prose are hard to read.
const WIDEST: usize = 110;

/// Columns of the terminal.
pub(crate) fn width() -> usize {
    columns().map_or(USUAL, |columns| columns.clamp(10, WIDEST))
}

/// Columns of the terminal, if standard output is one.
#[cfg(unix)]
pub(crate) fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Columns of the terminal, if standard output is one.
#[cfg(not(unix))]
pub(crate) fn columns() -> Option<usize> {
    io::stdout().is_terminal().then_some(USUAL)
}

/// Whether colours are wanted: on a terminal, unless `NO_COLOR` is set or the terminal is a plain one.
pub(crate) fn is_coloured() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let plain = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdout().is_terminal() && !set("NO_COLOR") && !plain
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
    let room = width().saturating_sub(indent.chars().count()).max(8);
    let lines: Vec<String> = text.lines().flat_map(|line| folded(line, room)).collect();
    lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

/// One line as several of at most `room` characters, broken between words where that is possible.
fn folded(line: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            lines.push(String::new());
            used = 0;
        }
        if let Some(last) = lines.last_mut() {
            if used > 0 {
                last.push(' ');
                used += 1;
            }
            last.push_str(word);
            used += length;
        }
    }
    lines
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

    #[test]
    fn long_lines_are_folded_between_words() {
        assert_eq!(folded("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(folded("", 9), [""]);
        assert_eq!(folded("unbreakableword", 4), ["unbreakableword"]);
    }
}
