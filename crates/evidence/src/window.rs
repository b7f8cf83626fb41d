//! Windows on a text: a bounded slice with exact offsets and the offsets that read on.
//!
//! Windows are cut between Unicode scalar values, not between grapheme clusters: successive windows then join
//! to the original text, and a limit always means the same number.

use serde::Serialize;
use thiserror::Error;

use crate::{fold::find_folded, scalars};

/// The length of a window when the request names none.
pub const DEFAULT_LIMIT_CHARS: usize = 4_096;
/// The longest window one request can have.
pub const MAX_LIMIT_CHARS: usize = 16_384;
/// The most context a request can ask for on one side of a match.
pub const MAX_CONTEXT_CHARS: usize = 8_192;

/// Which window is asked for.
///
/// Numbers beyond their bounds are clamped; refusing them, where a door wants that, happens earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowRequest {
    /// The text from `offset` on.
    Offset {
        /// Where the window starts.
        offset: usize,
        /// Its length; [`DEFAULT_LIMIT_CHARS`] when absent.
        limit: Option<usize>,
    },
    /// The text around the first match of `q`, ignoring case and accents.
    Query {
        /// What to look for.
        q: String,
        /// Context before the match.
        before: Option<usize>,
        /// Context after the match; only counts when `limit` is absent.
        after: Option<usize>,
        /// The length; when absent the context decides, and without context [`DEFAULT_LIMIT_CHARS`].
        limit: Option<usize>,
    },
}

/// A slice of a text. `end_chars - start_chars` is always the number of scalar values in `text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextWindow {
    /// The slice itself.
    pub text: String,
    /// The length of the whole text.
    pub total_chars: usize,
    /// Where the slice starts.
    pub start_chars: usize,
    /// Where it ends.
    pub end_chars: usize,
    /// The limit that applied, after clamping.
    pub limit_chars: usize,
    /// Whether the slice is the whole text.
    pub complete: bool,
    /// Whether text follows the slice.
    pub has_more: bool,
    /// Where the match starts, when there was a query.
    pub match_start_chars: Option<usize>,
    /// Where the match ends, when there was a query.
    pub match_end_chars: Option<usize>,
    /// The offset of the next window, when text follows.
    pub next_offset_chars: Option<usize>,
    /// The offset of the window before, when text precedes.
    pub previous_offset_chars: Option<usize>,
}

/// The query does not stand in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the query was not found in the field")]
pub struct QueryNotFound;

/// Cuts the requested window out of `text`.
pub fn cut(text: &str, request: &WindowRequest) -> Result<TextWindow, QueryNotFound> {
    match request {
        WindowRequest::Offset { offset, limit } => Ok(cut_at(text, *offset, effective(*limit))),
        WindowRequest::Query { q, before, after, limit } => {
            let found = find_folded(text, q).ok_or(QueryNotFound)?;
            let context = |chars: Option<usize>| chars.unwrap_or(0).min(MAX_CONTEXT_CHARS);
            let limit = if limit.is_none() && (before.is_some() || after.is_some()) {
                effective(Some(context(*before) + found.len() + context(*after)))
            } else {
                effective(*limit)
            };
            let mut window = cut_at(text, found.start.saturating_sub(context(*before)), limit);
            window.match_start_chars = Some(found.start);
            window.match_end_chars = Some(found.end);
            Ok(window)
        }
    }
}

fn effective(limit: Option<usize>) -> usize {
    limit.unwrap_or(DEFAULT_LIMIT_CHARS).clamp(1, MAX_LIMIT_CHARS)
}

fn cut_at(text: &str, offset: usize, limit_chars: usize) -> TextWindow {
    let (head, rest) = scalars::split(text, offset);
    let (shown, tail) = scalars::split(rest, limit_chars);
    // Nothing is left only at the end, which an offset beyond the text does not move.
    let start_chars = if rest.is_empty() { scalars::count(head) } else { offset };
    let end_chars = start_chars + scalars::count(shown);
    let has_more = !tail.is_empty();
    TextWindow {
        text: shown.to_owned(),
        total_chars: end_chars + scalars::count(tail),
        start_chars,
        end_chars,
        limit_chars,
        complete: start_chars == 0 && !has_more,
        has_more,
        match_start_chars: None,
        match_end_chars: None,
        next_offset_chars: has_more.then_some(end_chars),
        previous_offset_chars: (start_chars > 0).then(|| start_chars.saturating_sub(limit_chars)),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::random::Random;

    fn offset(offset: usize, limit: usize) -> WindowRequest {
        WindowRequest::Offset { offset, limit: Some(limit) }
    }

    fn query(q: &str, before: Option<usize>, after: Option<usize>, limit: Option<usize>) -> WindowRequest {
        WindowRequest::Query { q: q.to_owned(), before, after, limit }
    }

    fn describe(window: &TextWindow) -> String {
        let mut line = format!(
            "{:?} {}..{}/{} limit={}",
            window.text, window.start_chars, window.end_chars, window.total_chars, window.limit_chars
        );
        for (name, value) in [
            ("match", window.match_start_chars),
            ("to", window.match_end_chars),
            ("next", window.next_offset_chars),
            ("previous", window.previous_offset_chars),
        ] {
            if let Some(value) = value {
                write!(line, " {name}={value}").unwrap();
            }
        }
        if window.complete {
            line.push_str(" complete");
        }
        assert_eq!(window.has_more, window.next_offset_chars.is_some());
        line
    }

    #[track_caller]
    fn check(text: &str, request: &WindowRequest, expected: Expect) {
        let outcome = cut(text, request).map_or_else(|error| error.to_string(), |window| describe(&window));
        expected.assert_eq(&outcome);
    }

    #[test]
    fn a_short_text_is_complete() {
        check("hello", &offset(0, 10), expect![[r#""hello" 0..5/5 limit=10 complete"#]]);
        check("hello", &offset(0, 5), expect![[r#""hello" 0..5/5 limit=5 complete"#]]);
        check("", &offset(0, 5), expect![[r#""" 0..0/0 limit=5 complete"#]]);
    }

    #[test]
    fn a_long_text_says_how_to_read_on() {
        check("hello world", &offset(0, 5), expect![[r#""hello" 0..5/11 limit=5 next=5"#]]);
        check("hello world", &offset(5, 3), expect![[r#"" wo" 5..8/11 limit=3 next=8 previous=2"#]]);
        check("hello world", &offset(9, 5), expect![[r#""ld" 9..11/11 limit=5 previous=4"#]]);
        check("hello world", &offset(2, 5), expect![[r#""llo w" 2..7/11 limit=5 next=7 previous=0"#]]);
    }

    #[test]
    fn an_offset_past_the_end_stops_at_the_end() {
        check("hello", &offset(5, 2), expect![[r#""" 5..5/5 limit=2 previous=3"#]]);
        check("hello", &offset(usize::MAX, 2), expect![[r#""" 5..5/5 limit=2 previous=3"#]]);
        check("", &offset(9, 2), expect![[r#""" 0..0/0 limit=2 complete"#]]);
    }

    #[test]
    fn limits_are_clamped() {
        let text = "x".repeat(20_000);
        let of = |limit| {
            let window = cut(&text, &WindowRequest::Offset { offset: 0, limit }).unwrap();
            (window.limit_chars, window.end_chars)
        };
        assert_eq!(of(None), (4_096, 4_096));
        assert_eq!(of(Some(0)), (1, 1));
        assert_eq!(of(Some(16_384)), (16_384, 16_384));
        assert_eq!(of(Some(usize::MAX)), (16_384, 16_384));
    }

    #[test]
    fn characters_beyond_the_basic_plane_count_once() {
        check("😀😀😀", &offset(1, 1), expect![[r#""😀" 1..2/3 limit=1 next=2 previous=0"#]]);
        check("e\u{301}x", &offset(0, 1), expect![[r#""e" 0..1/3 limit=1 next=1"#]]);
    }

    #[test]
    fn a_query_opens_at_the_match() {
        check(
            "pay by 30 April",
            &query("april", None, None, None),
            expect![[r#""April" 10..15/15 limit=4096 match=10 to=15 previous=0"#]],
        );
        check(
            "pay by 30 April",
            &query("pay", None, None, None),
            expect![[r#""pay by 30 April" 0..15/15 limit=4096 match=0 to=3 complete"#]],
        );
    }

    #[test]
    fn context_decides_the_length_when_no_limit_is_given() {
        check(
            "pay by 30 April, total 120",
            &query("30 april", Some(3), Some(7), None),
            expect![[r#""by 30 April, total" 4..22/26 limit=18 match=7 to=15 next=22 previous=0"#]],
        );
        check(
            "pay by 30 April",
            &query("30", Some(0), None, None),
            expect![[r#""30" 7..9/15 limit=2 match=7 to=9 next=9 previous=5"#]],
        );
        check(
            "pay by 30 April",
            &query("pay", Some(9), None, None),
            expect![[r#""pay by 30 Ap" 0..12/15 limit=12 match=0 to=3 next=12"#]],
        );
    }

    #[test]
    fn a_limit_overrides_the_context_after() {
        check(
            "pay by 30 April",
            &query("30", Some(3), Some(100), Some(4)),
            expect![[r#""by 3" 4..8/15 limit=4 match=7 to=9 next=8 previous=0"#]],
        );
    }

    #[test]
    fn the_matched_text_counts_and_not_the_query() {
        check(
            "un cafe\u{301} noir",
            &query("café", None, Some(0), None),
            expect![[r#""cafe\u{301}" 3..8/13 limit=5 match=3 to=8 next=8 previous=0"#]],
        );
    }

    #[test]
    fn context_is_clamped() {
        let text = format!("{}needle{}", "x".repeat(9_000), "y".repeat(9_000));
        let window = cut(&text, &query("needle", Some(usize::MAX), Some(usize::MAX), None)).unwrap();
        assert_eq!((window.start_chars, window.limit_chars), (9_000 - 8_192, 16_384));
    }

    #[test]
    fn a_query_that_is_not_there_is_an_error() {
        check("hello", &query("bye", None, None, None), expect!["the query was not found in the field"]);
        check("hello", &query("", None, None, None), expect!["the query was not found in the field"]);
    }

    #[test]
    fn the_wire_form_has_every_member() {
        let window = cut("hello world", &offset(5, 3)).unwrap();
        expect![[r#"{"text":" wo","total_chars":11,"start_chars":5,"end_chars":8,"limit_chars":3,"complete":false,"has_more":true,"match_start_chars":null,"match_end_chars":null,"next_offset_chars":8,"previous_offset_chars":2}"#]]
        .assert_eq(&serde_json::to_string(&window).unwrap());
    }

    #[test]
    fn successive_windows_join_to_the_text() {
        let mut random = Random::new(42);
        for _ in 0..2_000 {
            let text = random.text(60);
            let limit = 1 + random.below(20);
            let (mut joined, mut at) = (String::new(), Some(0));
            while let Some(start) = at {
                let window = cut(&text, &offset(start, limit)).unwrap();
                assert_eq!(window.end_chars - window.start_chars, window.text.chars().count());
                assert_eq!(window.total_chars, text.chars().count());
                assert!(window.text.chars().count() <= limit);
                joined.push_str(&window.text);
                at = window.next_offset_chars;
            }
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn a_query_window_holds_the_match_it_names() {
        let mut random = Random::new(43);
        for _ in 0..2_000 {
            let text = random.text(60);
            let q = random.pick(&["word", "INVOICE", "é", "😀", "漢", "nope"]);
            let request = query(q, Some(random.below(10)), Some(random.below(10)), None);
            if let Ok(window) = cut(&text, &request) {
                let (from, to) = (window.match_start_chars.unwrap(), window.match_end_chars.unwrap());
                assert!(window.start_chars <= from && to <= window.end_chars);
                let inside = scalars::slice(&window.text, from - window.start_chars, to - window.start_chars);
                assert!(find_folded(inside, q).is_some(), "{inside:?} {q:?}");
            }
        }
    }
}
