//! Webhook secrets, which must be shown to the signer again and so cannot be hashes: sealed under a key of its own.
//!
//! The key is not in the store, so a copy of the store alone signs nothing.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use pdpp_access::{Entropy, Secret};
use pdpp_wire::SubscriptionId;

const NONCE: usize = 24;
/// What every webhook secret begins with.
const PREFIX: &str = "whsec_";

/// 256 bits.
#[derive(Clone)]
pub struct SecretKey([u8; 32]);

impl SecretKey {
    /// Takes a key.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Makes a key.
    pub fn mint(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// For the file it is kept in.
    pub fn reveal(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Seals webhook secrets and opens them again.
#[derive(Clone)]
pub struct SecretBox(XChaCha20Poly1305);

impl SecretBox {
    /// Under a key.
    pub fn new(key: &SecretKey) -> Self {
        Self(XChaCha20Poly1305::new((&key.0).into()))
    }

    /// Makes a secret of 256 bits: as its holder writes it, and sealed for one subscription.
    pub fn mint(&self, entropy: &dyn Entropy, id: &SubscriptionId) -> (Secret, Vec<u8>) {
        let mut raw = [0; 32];
        entropy.fill(&mut raw);
        let secret = format!("{PREFIX}{}", STANDARD.encode(raw));
        let sealed = self.seal(entropy, id, &secret);
        (Secret::presented(secret), sealed)
    }

    fn seal(&self, entropy: &dyn Entropy, id: &SubscriptionId, secret: &str) -> Vec<u8> {
        let mut nonce = [0; NONCE];
        entropy.fill(&mut nonce);
        let payload = Payload { msg: secret.as_bytes(), aad: id.as_str().as_bytes() };
        let sealed =
            self.0.encrypt(&XNonce::from(nonce), payload).expect("a secret is far below the cipher's limit");
        [nonce.as_slice(), &sealed].concat()
    }

    /// The secret of a subscription; `None` when the key is another one.
    pub fn open(&self, id: &SubscriptionId, sealed: &[u8]) -> Option<Secret> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: id.as_str().as_bytes() };
        let opened = self.0.decrypt(&XNonce::from(*nonce), payload).ok()?;
        String::from_utf8(opened).ok().map(Secret::presented)
    }
}

impl fmt::Debug for SecretBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBox(..)")
    }
}

#[cfg(test)]
mod tests {
    use pdpp_testkit::SeededEntropy;

    use super::*;

    #[test]
    fn a_secret_opens_for_its_own_subscription_under_its_own_key_only() {
        let (entropy, key) = (SeededEntropy::default(), SecretKey::new([7; 32]));
        let (ours, theirs) =
            (SubscriptionId::parse("sub_1").unwrap(), SubscriptionId::parse("sub_2").unwrap());
        let boxed = SecretBox::new(&key);
        let (secret, sealed) = boxed.mint(&entropy, &ours);
        assert!(secret.reveal().starts_with("whsec_") && secret.reveal().len() == 6 + 44);
        assert_eq!(boxed.open(&ours, &sealed), Some(secret.clone()));
        assert_eq!(boxed.open(&theirs, &sealed), None);
        assert_eq!(SecretBox::new(&SecretKey::new([8; 32])).open(&ours, &sealed), None);
        assert_eq!(boxed.open(&ours, b"short"), None);
        assert!(!sealed.windows(8).any(|part| secret.reveal().as_bytes().windows(8).any(|own| own == part)));
    }
}
