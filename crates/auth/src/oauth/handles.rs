//! The names and secrets the authorization server makes: each random, none derived from another.
//!
//! What is shown (approval, family, session and agent ids) redeems nothing; what redeems has 256 bits, except the
//! code an owner types, which is short, lives five minutes and can be tried only a few times.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_access::{Entropy, Secret, random_hex};
use pdpp_wire::{ApprovalId, ClientId, FamilyId, SessionId};

/// A pushed request (RFC 9126), which goes to the authorization endpoint.
pub(crate) const PUSHED: &str = "urn:ietf:params:oauth:request_uri:";
/// A request that goes to the consent page.
pub(crate) const PENDING: &str = "urn:pdpp:pending-consent:";

/// Letters that cannot be taken for one another, and that spell no words.
const USER_CODE_LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH: usize = 8;

pub(crate) fn secret(entropy: &dyn Entropy, prefix: &str) -> Secret {
    Secret::presented(format!("{prefix}{}", random_hex(entropy, 32)))
}

pub(crate) fn approval_id(entropy: &dyn Entropy) -> ApprovalId {
    ApprovalId::parse(format!("appr_{}", random_hex(entropy, 16))).expect("hex digits are allowed in ids")
}

pub(crate) fn family_id(entropy: &dyn Entropy) -> FamilyId {
    FamilyId::parse(format!("rtf_{}", random_hex(entropy, 16))).expect("hex digits are allowed in ids")
}

pub(crate) fn session_id(entropy: &dyn Entropy) -> SessionId {
    SessionId::parse(format!("ses_{}", random_hex(entropy, 16))).expect("hex digits are allowed in ids")
}

pub(crate) fn dynamic_client_id(entropy: &dyn Entropy) -> ClientId {
    ClientId::parse(format!("cli_{}", random_hex(entropy, 16))).expect("hex digits are allowed in ids")
}

pub(crate) fn agent_id(entropy: &dyn Entropy) -> String {
    format!("agc_{}", random_hex(entropy, 16))
}

pub(crate) fn refresh_token(raw: &[u8; 32]) -> Secret {
    Secret::presented(format!("rt_{}", URL_SAFE_NO_PAD.encode(raw)))
}

/// A code to be typed, as `BCDF-GHJK`.
pub(crate) fn user_code(entropy: &dyn Entropy) -> String {
    let mut code = String::with_capacity(USER_CODE_LENGTH + 1);
    while code.len() < USER_CODE_LENGTH {
        let mut raw = [0; 16];
        entropy.fill(&mut raw);
        // Bytes above the last multiple of twenty are left out, so that every letter is as likely.
        let letters = raw.iter().filter(|byte| **byte < 240);
        let letters = letters.map(|byte| char::from(USER_CODE_LETTERS[usize::from(byte % 20)]));
        code.extend(letters.take(USER_CODE_LENGTH - code.len()));
    }
    code.insert(USER_CODE_LENGTH / 2, '-');
    code
}

/// A typed code as it is recognised: in capitals, whatever stands between its letters.
pub(crate) fn typed_user_code(text: &str) -> Option<Secret> {
    let letters: String =
        text.chars().filter(|c| !matches!(c, '-' | ' ')).map(|c| c.to_ascii_uppercase()).collect();
    let sane = letters.len() == USER_CODE_LENGTH && letters.bytes().all(|b| USER_CODE_LETTERS.contains(&b));
    sane.then(|| Secret::presented(letters))
}

#[cfg(test)]
mod tests {
    use pdpp_testkit::SeededEntropy;

    use super::*;

    #[test]
    fn a_user_code_survives_being_typed() {
        let entropy = SeededEntropy::default();
        for _ in 0..100 {
            let code = user_code(&entropy);
            assert_eq!(code.len(), 9, "{code}");
            let typed = typed_user_code(&code.to_lowercase().replace('-', " ")).unwrap();
            assert_eq!(typed.reveal(), code.replace('-', ""));
        }
        for bad in ["", "BCDF-GHJ", "BCDF-GHJKL", "AEIO-UUUU", "ÄCDF-GHJK"] {
            assert!(typed_user_code(bad).is_none(), "{bad}");
        }
    }
}
