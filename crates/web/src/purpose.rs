//! Purposes in plain words.

use pdpp_auth::AI_TRAINING;

/// The registry's own purposes begin like this.
const REGISTRY: &str = "https://pdpp.dev/purpose/";

/// What a registered purpose means; none for one that somebody else defined.
pub(crate) fn in_words(code: &str) -> Option<&'static str> {
    Some(match code.strip_prefix(REGISTRY)? {
        "agent_context" => "To give an assistant the context it needs to answer you.",
        "personalization" => "To adapt what it shows you to your data.",
        "analytics" => "To compute statistics about your data.",
        "export" => "To copy your data somewhere else.",
        "ai_training" => "To train AI models on your data. What a model has learnt cannot be taken back.",
        "research" => "To use your data in research.",
        _ => return None,
    })
}

/// Whether it needs a yes of its own.
pub(crate) fn is_training(code: &str) -> bool {
    code == AI_TRAINING
}
