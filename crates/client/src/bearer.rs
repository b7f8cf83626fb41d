//! The one secret a client sends, and where it comes from.

use std::fmt;

use async_trait::async_trait;

use crate::ClientError;

/// A bearer token. It never shows itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Bearer(String);

impl Bearer {
    /// Wraps a token.
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    /// The token, for the `Authorization` header only.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(…)")
    }
}

/// Where the bearer comes from.
#[async_trait]
pub trait BearerSource: fmt::Debug + Send + Sync {
    /// The bearer to send now.
    async fn bearer(&self) -> Result<Bearer, ClientError>;

    /// A newer bearer of the same grant, after the server refused `refused`; none when there is no newer one.
    /// It is never another credential.
    async fn renewed(&self, refused: &Bearer) -> Option<Bearer>;
}

/// A bearer that never changes.
#[derive(Clone, Debug)]
pub struct FixedBearer(pub Bearer);

#[async_trait]
impl BearerSource for FixedBearer {
    async fn bearer(&self) -> Result<Bearer, ClientError> {
        Ok(self.0.clone())
    }

    async fn renewed(&self, _refused: &Bearer) -> Option<Bearer> {
        None
    }
}
