//! Previews: a short piece of a text around a match, cut where a reader would cut it.
//!
//! A preview keeps whole words, shows text on both sides of the match, and never splits what a reader sees as
//! one character. It starts from the words of the match and grows outwards word by word until the budget is
//! full. A word is cut only when it alone fills the budget, or when keeping it whole would leave the preview
//! too short; a grapheme cluster only when it alone is longer than the budget, which hostile text can arrange.

use std::ops::Range;

use crate::scalars;

mod layout;
mod plain;

use layout::Layout;

/// How long a preview may be, in scalar values, without markers and ellipses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewBudget {
    min: usize,
    max: usize,
}

impl PreviewBudget {
    /// 160 to 240 characters.
    pub const STANDARD: Self = Self { min: 160, max: 240 };

    /// A budget of at most `max` characters; nothing below 96 or above 240 is given.
    pub fn at_most(max: usize) -> Self {
        let max = max.clamp(96, Self::STANDARD.max);
        Self { min: max * 2 / 3, max }
    }
}

impl Default for PreviewBudget {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// A piece of a text, with its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The piece, exactly as it stands in the text.
    pub text: String,
    /// Where it starts in the text.
    pub start_chars: usize,
    /// Where it ends in the text.
    pub end_chars: usize,
    /// The length of the whole text.
    pub total_chars: usize,
    /// Whether anything of the text is missing.
    pub truncated: bool,
    /// The matches inside the piece, in order and apart, in coordinates of the text.
    pub matches: Vec<Range<usize>>,
}

/// A preview of `text` around the first of `matches`, or from the start when there is none.
///
/// Ranges count scalar values of `text`. Empty ranges and those outside the text are ignored; the others are
/// kept as far as they lie inside the preview.
pub fn preview(text: &str, matches: &[Range<usize>], budget: PreviewBudget) -> Preview {
    let total_chars = scalars::count(text);
    let inside = |range: &&Range<usize>| range.start < range.end.min(total_chars);
    let shown = if total_chars <= budget.max {
        0..total_chars
    } else {
        let anchor = matches
            .iter()
            .find(inside)
            .map_or(0..0, |first| first.start..first.end.min(total_chars).min(first.start + budget.max));
        Layout::new(text, total_chars, &anchor, budget.max).choose(&anchor, budget.min)
    };
    Preview {
        text: scalars::slice(text, shown.start, shown.end).to_owned(),
        start_chars: shown.start,
        end_chars: shown.end,
        total_chars,
        truncated: shown != (0..total_chars),
        matches: clip(matches.iter().filter(inside), &shown),
    }
}

/// The preview with `<mark>` and `</mark>` around its matches and `…` where text is left out.
///
/// A `<mark>` or `</mark>` that stands in the record itself is broken by writing its `<` as `‹`, so the only
/// markers in the result are the ones put there for a match.
pub fn render_marked(preview: &Preview) -> String {
    let mut out = String::with_capacity(preview.text.len() + 16 * preview.matches.len() + 8);
    if preview.start_chars > 0 {
        out.push('…');
    }
    let (mut rest, mut at) = (preview.text.as_str(), preview.start_chars);
    let mut written = 0;
    for range in &preview.matches {
        let (before, tail) = scalars::split(rest, range.start.saturating_sub(at));
        let (matched, tail) = scalars::split(tail, range.len());
        written += push_unmarked(&mut out, &preview.text, written, before.len());
        out.push_str("<mark>");
        written += push_unmarked(&mut out, &preview.text, written, matched.len());
        out.push_str("</mark>");
        (rest, at) = (tail, range.end);
    }
    push_unmarked(&mut out, &preview.text, written, rest.len());
    if preview.end_chars < preview.total_chars {
        out.push('…');
    }
    out
}

/// Appends `length` bytes of `text` from byte `from`, breaking literal markers. It looks at the whole text, so
/// that a marker which a match cuts in two is broken as well. Gives back `length`.
fn push_unmarked(out: &mut String, text: &str, from: usize, length: usize) -> usize {
    let end = from + length;
    let mut written = from;
    for (at, _) in text[from..end].match_indices('<') {
        let bracket = from + at;
        if starts_marker(&text.as_bytes()[bracket + 1..]) {
            out.push_str(&text[written..bracket]);
            out.push('‹');
            written = bracket + 1;
        }
    }
    out.push_str(&text[written..end]);
    length
}

fn starts_marker(after_bracket: &[u8]) -> bool {
    let name = after_bracket.strip_prefix(b"/").unwrap_or(after_bracket);
    name.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"mark"))
}

/// The parts of the ranges inside `shown`, in order, with touching ones joined.
fn clip<'a>(ranges: impl Iterator<Item = &'a Range<usize>>, shown: &Range<usize>) -> Vec<Range<usize>> {
    let mut parts: Vec<_> = ranges
        .map(|range| range.start.max(shown.start)..range.end.min(shown.end))
        .filter(|part| part.start < part.end)
        .collect();
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    parts.dedup_by(|next, kept| {
        let joined = next.start <= kept.end;
        if joined {
            kept.end = kept.end.max(next.end);
        }
        joined
    });
    parts
}

#[cfg(test)]
mod tests;
