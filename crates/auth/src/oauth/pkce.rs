//! Proof key for code exchange (RFC 7636), with SHA-256 and nothing weaker.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// Whether a text can be a challenge.
pub(crate) fn is_challenge(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Whether a verifier is the one behind a challenge.
pub(crate) fn verifies(verifier: &str, challenge: &str) -> bool {
    let plain = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'));
    plain && URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7636_verifies() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(is_challenge(challenge));
        assert!(verifies("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", challenge));
        assert!(!verifies("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK", challenge));
        assert!(!verifies("", challenge));
        assert!(!verifies(challenge, challenge), "a challenge does not verify itself");
        assert!(!is_challenge("short") && !is_challenge(&"a".repeat(129)) && !is_challenge(&"=".repeat(43)));
    }
}
