//! How much of a value is shown.
//!
//! Whatever is cut or withheld says so in numbers, so that nothing incomplete looks complete.

use std::io;

use serde::Serialize;

use crate::scalars;

/// The size of a value, and how much of it the reader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// The length of the whole text in scalar values; absent when the value is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_chars: Option<usize>,
    /// The size of the whole value in bytes: of its text in UTF-8, or of its minified JSON.
    pub total_bytes: usize,
    /// How many scalar values are shown.
    pub shown_chars: usize,
    /// How many bytes are shown.
    pub shown_bytes: usize,
    /// Whether anything is missing.
    pub truncated: bool,
}

impl Extent {
    /// The first `max_chars` scalar values of `text`, and their extent.
    pub fn head(text: &str, max_chars: usize) -> (&str, Self) {
        let (shown, rest) = scalars::split(text, max_chars);
        let shown_chars = scalars::count(shown);
        let extent = Self {
            total_chars: Some(shown_chars + scalars::count(rest)),
            total_bytes: text.len(),
            shown_chars,
            shown_bytes: shown.len(),
            truncated: !rest.is_empty(),
        };
        (shown, extent)
    }

    /// A text of which nothing is shown.
    pub fn withheld_text(text: &str) -> Self {
        Self::head(text, 0).1
    }

    /// A value of which nothing is shown, measured as minified JSON.
    pub fn withheld_json(value: &impl Serialize) -> Self {
        let total_bytes = json_bytes(value);
        Self { total_chars: None, total_bytes, shown_chars: 0, shown_bytes: 0, truncated: total_bytes > 0 }
    }
}

/// The length of a value's minified JSON, without building it.
///
/// A value that cannot be written as JSON counts up to where writing stopped; a `serde_json::Value` always can.
pub fn json_bytes(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // The error is about the value, and the count so far is the documented answer.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(text: &str, max_chars: usize, expected: Expect) {
        let (shown, extent) = Extent::head(text, max_chars);
        expected.assert_eq(&format!("{shown:?} {}", serde_json::to_string(&extent).unwrap()));
    }

    #[test]
    fn a_short_text_is_whole() {
        check(
            "héllo",
            9,
            expect![[
                r#""héllo" {"total_chars":5,"total_bytes":6,"shown_chars":5,"shown_bytes":6,"truncated":false}"#
            ]],
        );
        check(
            "héllo",
            5,
            expect![[
                r#""héllo" {"total_chars":5,"total_bytes":6,"shown_chars":5,"shown_bytes":6,"truncated":false}"#
            ]],
        );
        check(
            "",
            5,
            expect![[
                r#""" {"total_chars":0,"total_bytes":0,"shown_chars":0,"shown_bytes":0,"truncated":false}"#
            ]],
        );
    }

    #[test]
    fn a_cut_text_says_so() {
        check(
            "héllo",
            2,
            expect![[
                r#""hé" {"total_chars":5,"total_bytes":6,"shown_chars":2,"shown_bytes":3,"truncated":true}"#
            ]],
        );
        check(
            "😀😀",
            1,
            expect![[
                r#""😀" {"total_chars":2,"total_bytes":8,"shown_chars":1,"shown_bytes":4,"truncated":true}"#
            ]],
        );
    }

    #[test]
    fn a_withheld_value_is_measured() {
        assert!(Extent::withheld_text("abc").truncated);
        assert!(!Extent::withheld_text("").truncated);
        expect![[r#"{"total_bytes":11,"shown_chars":0,"shown_bytes":0,"truncated":true}"#]]
            .assert_eq(&serde_json::to_string(&Extent::withheld_json(&json!({"a": [1, 2]}))).unwrap());
    }

    #[test]
    fn counting_agrees_with_writing() {
        for value in [
            json!(null),
            json!("a\"b\\c\n\u{1}é😀"),
            json!({"a": [1, 2.5, true, {"b": null}], "é": "x"}),
            json!([]),
            Value::String("x".repeat(10_000)),
        ] {
            assert_eq!(json_bytes(&value), value.to_string().len());
        }
    }
}
