//! Redeemable secrets, which never print themselves, and the only form in which they are kept.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::outside::{Entropy, hex, random_hex};

/// A bearer token or another redeemable value.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret that was presented.
    pub fn presented(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Mints 256 bits as 64 hex digits.
    pub fn mint(entropy: &dyn Entropy) -> Self {
        Self(random_hex(entropy, 32))
    }

    /// The secret itself: for the one response that hands it over.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept.
    pub fn hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The SHA-256 of a secret: enough to recognise it, useless to redeem.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// From stored bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// For storing.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretHash({}…)", hex(&self.0[..4]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints_itself() {
        assert_eq!(format!("{:?}", Secret::presented("hunter2")), "Secret(..)");
    }
}
