//! Finds the lines of a letter that only say it quotes or forwards another: who wrote it, to whom and when.
//!
//! They are known by their place, not their language: a line that ends in a colon before quoted lines, and the
//! headers under a line of dashes.

use std::ops::Range;

/// More lines of headers than this are text.
const MAX_HEADERS: usize = 10;

/// The stretches of a text such lines take up, in characters, in order.
pub(crate) fn frames(text: &str) -> Vec<Range<usize>> {
    if !text.contains("\n>") && !text.contains("--") && !text.contains("__") {
        return Vec::new();
    }
    let lines = lines(text);
    let mut frames = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Line { said, range, .. } = &lines[at];
        let after = &lines[at + 1..];
        let end = if is_rule(said) {
            let headers = after.iter().take_while(|line| is_header(line.said)).count();
            at + 1 + if headers <= MAX_HEADERS { headers } else { 0 }
        } else if said.ends_with(':')
            && after.iter().find(|line| !line.said.is_empty()).is_some_and(|line| line.is_quoted)
        {
            at + 1
        } else {
            at += 1;
            continue;
        };
        frames.push(range.start..lines[end - 1].range.end);
        at = end;
    }
    frames
}

/// A line of a text.
struct Line<'t> {
    /// Without the marks of a quotation.
    said: &'t str,
    is_quoted: bool,
    /// Where it stands, in characters.
    range: Range<usize>,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.chars().count();
        start = range.end;
        let said = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        Line { said, is_quoted: line.trim_start().starts_with('>'), range }
    });
    lines.collect()
}

/// A line of dashes, whatever stands in its middle.
fn is_rule(line: &str) -> bool {
    let ends = |mark: &str| line.starts_with(mark) && line.ends_with(mark);
    line.len() >= 5 && (ends("--") || ends("__"))
}

/// A name of one or two words, a colon, and something.
fn is_header(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    let name = name.trim_matches('*');
    (1..=24).contains(&name.chars().count())
        && name.split(' ').count() <= 2
        && name.chars().all(|c| c.is_alphabetic() || c == '-' || c == ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, left: &str) {
        let mut kept = String::new();
        let frames = frames(text);
        for (at, c) in text.chars().enumerate() {
            if !frames.iter().any(|frame| frame.contains(&at)) {
                kept.push(c);
            }
        }
        assert_eq!(kept, left);
    }

    #[test]
    fn attributions_and_headers_are_found_in_any_language() {
        check("Ja!\n\nAm 5. Mai schrieb Änne:\n\n> Kommst du?\n", "Ja!\n\n\n> Kommst du?\n");
        check("> Le 5 mai, Zoé a écrit :\n> > Tu viens ?\nOui", "> > Tu viens ?\nOui");
        check(
            "-----Ursprüngliche Nachricht-----\r\nVon: A\r\nGesendet: heute\r\n\r\nText: ja",
            "\r\nText: ja",
        );
        check("________________________________\nFrom: A\nTo: B\n\nHello", "\nHello");
    }

    #[test]
    fn other_text_stays() {
        for text in ["", "To buy:\n- milk\n- bread", "a > b\n>", "-- \nAnna", "one--two", "He said:\nno"] {
            check(text, text);
        }
    }
}
