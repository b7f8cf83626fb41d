//! Time and randomness as the rest of the program sees them: passed in, never ambient.
//!
//! With a fixed clock and seeded bytes a whole response can be compared, byte for byte.

use std::fmt::Write as _;

use pdpp_wire::Instant;

/// What time it is.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Instant;
}

/// Where unguessable bytes come from.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with unguessable bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// `bytes` random bytes as lower-case hex digits.
pub fn random_hex(entropy: &dyn Entropy, bytes: usize) -> String {
    let mut raw = vec![0; bytes];
    entropy.fill(&mut raw);
    hex(&raw)
}

pub(crate) fn hex(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len() * 2);
    for byte in raw {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
