//! The real tokenizer, for budgets.

use crate::support::CallResult;

/// How many tokens a text costs.
pub(crate) fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Fails when a result costs more than a host takes: 2,500 tokens of text, 9,000 in all.
#[track_caller]
pub(crate) fn assert_within_budget(result: &CallResult) {
    let (text, whole) = (tokens(&result.text), tokens(&result.raw.to_string()));
    assert!(text <= 2_500, "the text costs {text} tokens");
    assert!(whole <= 9_000, "the result costs {whole} tokens");
}
