//! Reading what a server sent without trusting its shape: first usable text of several names, bounded and harmless.

use pdpp_evidence::{Content, classify, neutralise};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation as _;

/// The first non-empty text or whole number under one of these names, as it came.
pub(super) fn raw(object: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match object.get(*name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    })
}

/// The first of these names that holds readable text, neutralised and cut to so many characters.
pub(super) fn label(object: &Value, names: &[&str], max_chars: usize) -> Option<String> {
    names.iter().find_map(|name| {
        let text = object.get(*name)?.as_str()?.trim();
        readable(text).then(|| clip(&neutralise(text).text, max_chars))
    })
}

/// Whether a text is there and is not bytes in disguise.
pub(super) fn readable(text: &str) -> bool {
    !text.trim().is_empty() && classify(&Value::from(text)) == Content::Text
}

/// At most so many characters, cut between what a reader sees as characters, with `…` where something is missing.
pub(super) fn clip(text: &str, max_chars: usize) -> String {
    if text.chars().nth(max_chars).is_none() {
        return text.to_owned();
    }
    let mut left = max_chars.saturating_sub(1);
    let mut end = 0;
    for grapheme in text.graphemes(true) {
        let chars = grapheme.chars().count();
        if chars > left {
            break;
        }
        left -= chars;
        end += grapheme.len();
    }
    format!("{}…", &text[..end])
}

/// Whether nothing in the text acts unseen.
pub(super) fn harmless(text: &str) -> bool {
    neutralise(text).replaced == 0
}
