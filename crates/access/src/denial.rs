//! A refusal, with everything a caller needs to do better.

use pdpp_wire::{AvailableConnection, Code};

/// Why a request may not be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Denial {
    /// The public code.
    pub code: Code,
    /// What is wrong, in a sentence made of the request's own words and declared names only.
    pub message: String,
    /// The parameter to blame.
    pub param: Option<String>,
    /// The connections to choose from.
    pub available_connections: Vec<AvailableConnection>,
}

impl Denial {
    /// A refusal with a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), param: None, available_connections: Vec::new() }
    }

    /// Names the parameter to blame.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>) -> Self {
        self.param = Some(name.into());
        self
    }

    /// Lists the connections to choose from.
    #[must_use]
    pub fn choose_from(mut self, connections: Vec<AvailableConnection>) -> Self {
        self.available_connections = connections;
        self
    }

    pub(crate) fn invalid(param: &str, message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message).param(param)
    }
}
