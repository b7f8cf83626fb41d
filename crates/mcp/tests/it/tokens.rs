//! What results cost, counted by the real tokenizer.

use crate::support::CallResult;

/// The number of o200k tokens.
pub(crate) fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Whether a result keeps within what one result may cost.
#[track_caller]
pub(crate) fn assert_affordable(result: &CallResult) {
    let (text, whole) = (count(&result.text), count(&result.raw.to_string()));
    assert!(text <= 2_500, "{text} tokens of text: {}", result.text);
    assert!(whole <= 9_000, "{whole} tokens in all");
}
