//! Names the authority gives: grants, tokens, and clients the owner names in words.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_access::{Entropy, random_hex};
use pdpp_wire::{ClientId, GrantId, TokenId};

/// Longest part of a client's name that goes into its id, in characters.
const MAX_SLUG: usize = 64;

/// A new grant's id: 64 random bits, because nobody can redeem it.
pub(crate) fn mint_grant_id(entropy: &dyn Entropy) -> GrantId {
    GrantId::parse(format!("grt_{}", random_hex(entropy, 8))).expect("hex digits are allowed in ids")
}

/// A new token's public name, unrelated to the token itself.
pub(crate) fn mint_token_id(entropy: &dyn Entropy) -> TokenId {
    let mut raw = [0; 16];
    entropy.fill(&mut raw);
    let name = URL_SAFE_NO_PAD.encode(raw);
    TokenId::parse(format!("tok_{name}")).expect("base64url digits are allowed in ids")
}

/// The id of a client that the owner names on the command line: `Claude Code` is `local-claude-code`.
pub fn local_client_id(name: &str) -> ClientId {
    let mut slug = String::new();
    for c in name.chars().take(MAX_SLUG).flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "client" } else { slug };
    ClientId::parse(format!("local-{slug}")).expect("letters and digits are no control characters")
}

#[cfg(test)]
mod tests {
    use pdpp_testkit::SeededEntropy;

    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(local_client_id(name).as_str(), expected);
    }

    #[test]
    fn a_client_is_called_by_its_name_in_small_letters() {
        check("Claude Code", "local-claude-code");
        check("  My -- App!  ", "local-my-app");
        check("Клод", "local-клод");
        check("🦀\u{7}", "local-client");
        check("", "local-client");
    }

    #[test]
    fn ids_have_their_shape_and_never_repeat() {
        let entropy = SeededEntropy::default();
        let (grant, token) = (mint_grant_id(&entropy), mint_token_id(&entropy));
        assert_eq!((grant.as_str().len(), token.as_str().len()), (4 + 16, 4 + 22));
        assert_ne!(mint_grant_id(&entropy), grant);
        assert_ne!(mint_token_id(&entropy), token);
    }
}
