//! The owner's passphrase as it is kept: argon2id in the PHC string format.
//!
//! The cost (19 MiB, two passes) is the crate's default, which follows OWASP; the string carries it,
//! so a later change of cost still reads older strings.

use argon2::Argon2;
use argon2::password_hash::{Error, PasswordHasher as _, PasswordVerifier as _};
use pdpp_access::{Entropy, Secret};
use pdpp_store::StoreError;
use pdpp_wire::Code;

use crate::AuthFault;

/// Shortest passphrase, in characters.
const MIN_CHARS: usize = 8;
/// Longest passphrase, in bytes.
const MAX_BYTES: usize = 1024;

/// Hashes a passphrase under a fresh salt. Takes tens of milliseconds by design.
pub(crate) fn hash(passphrase: &Secret, entropy: &dyn Entropy) -> Result<String, AuthFault> {
    let text = passphrase.reveal();
    if text.chars().count() < MIN_CHARS || text.len() > MAX_BYTES {
        let message =
            format!("A passphrase has {MIN_CHARS} characters or more, and {MAX_BYTES} bytes or less.");
        return Err(AuthFault::denied(Code::InvalidArgument, message));
    }
    let mut salt = [0; 16];
    entropy.fill(&mut salt);
    let hash = Argon2::default().hash_password_with_salt(text.as_bytes(), &salt);
    Ok(hash.expect("length and salt are within argon2's bounds").to_string())
}

/// Whether a passphrase is the one that was hashed.
pub(crate) fn verify(passphrase: &Secret, phc: &str) -> Result<bool, StoreError> {
    if passphrase.reveal().len() > MAX_BYTES {
        return Ok(false);
    }
    match Argon2::default().verify_password(passphrase.reveal().as_bytes(), phc) {
        Ok(()) => Ok(true),
        Err(Error::PasswordInvalid) => Ok(false),
        Err(_) => Err(StoreError::Damaged("the owner's passphrase hash cannot be read".to_owned())),
    }
}

/// Takes as long as [`verify`], and is never right.
pub(crate) fn verify_nothing(passphrase: &Secret) -> bool {
    if passphrase.reveal().len() <= MAX_BYTES {
        let _ = Argon2::default().hash_password_with_salt(passphrase.reveal().as_bytes(), &[0; 16]);
    }
    false
}

#[cfg(test)]
mod tests {
    use pdpp_testkit::SeededEntropy;

    use super::*;

    #[test]
    fn only_the_same_passphrase_verifies() {
        let entropy = SeededEntropy::default();
        let secret = |text: &str| Secret::presented(text);
        let phc = hash(&secret("correct horse"), &entropy).unwrap();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert!(verify(&secret("correct horse"), &phc).unwrap());
        assert!(!verify(&secret("correct hors"), &phc).unwrap());
        assert!(!verify(&secret(""), &phc).unwrap());
        assert!(!verify(&secret(&"x".repeat(5000)), &phc).unwrap());
        assert_ne!(hash(&secret("correct horse"), &entropy).unwrap(), phc, "every hash has its own salt");
    }

    #[test]
    fn a_short_or_endless_passphrase_is_refused() {
        for text in ["", "seven77", &"x".repeat(2000)] {
            assert!(hash(&Secret::presented(text), &SeededEntropy::default()).is_err());
        }
    }

    #[test]
    fn a_damaged_hash_is_breakage_not_a_wrong_passphrase() {
        assert!(verify(&Secret::presented("whatever it is"), "$argon2id$nonsense").is_err());
    }
}
