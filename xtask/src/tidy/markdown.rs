//! Reads the little of Markdown that the checks need: which lines are code, and of what kind.

/// A line with its number, and the language of the fenced block it is in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// `None` in prose, `Some("")` in a block without a language.
    pub(super) language: Option<&'a str>,
}

/// Every line but the fences themselves.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence: Option<(&str, &str)> = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        match fence {
            Some((mark, _))
                if trimmed.starts_with(mark) && trimmed.trim_matches(['`', '~', ' ']).is_empty() =>
            {
                fence = None;
            }
            None if trimmed.starts_with("```") || trimmed.starts_with("~~~") => {
                let (mark, language) = trimmed.split_at(3);
                fence = Some((mark, language.split([' ', ',']).next().unwrap_or_default()));
            }
            _ => lines.push(Line {
                number: index + 1,
                text: line,
                language: fence.map(|(_, language)| language),
            }),
        }
    }
    lines
}

/// What stands between single backticks.
pub(super) fn code_spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).filter(|span| !span.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_the_block_they_are_in() {
        let found: Vec<_> = lines("a\n```sh\nb\n```\nc\n~~~\nd\n~~~\n")
            .into_iter()
            .map(|l| (l.number, l.text, l.language))
            .collect();
        assert_eq!(found, [(1, "a", None), (3, "b", Some("sh")), (5, "c", None), (7, "d", Some(""))]);
    }

    #[test]
    fn code_spans_are_what_backticks_enclose() {
        assert_eq!(code_spans("see `a` and `b c`, or ``"), ["a", "b c"]);
    }
}
