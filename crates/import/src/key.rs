//! Record keys that survive every door.
//!
//! A key made of these characters can stand in a path, an id and a command as it is. Anything else is hashed, so that
//! the same thing keeps the same key.

use sha2::{Digest as _, Sha256};

const LONGEST: usize = 128;

/// The key itself where it is made of `[A-Za-z0-9._:@+~-]`, 1 to 128 of them without `..`; otherwise its hash.
pub fn mint_key(natural: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@+~-".contains(&byte);
    let fits = !natural.is_empty() && natural.len() <= LONGEST && !natural.contains("..");
    if fits && natural != "." && natural.bytes().all(plain) {
        return natural.to_owned();
    }
    hash_key(&[natural])
}

/// A key for something that has no name of its own, from what makes it this thing and no other.
pub fn hash_key(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = hasher.finalize();
    digest[..16].iter().fold(String::from("h"), |key, byte| key + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_keys_stay_and_others_are_hashed() {
        assert_eq!(mint_key("18c2@mail.example+1~x"), "18c2@mail.example+1~x");
        for odd in ["", ".", "a/b", "a b", "a..b", "ü", &"x".repeat(129)] {
            let key = mint_key(odd);
            assert!(key.starts_with('h') && key.len() == 33, "{odd:?} {key}");
            assert_eq!(key, mint_key(odd));
        }
        assert_ne!(hash_key(&["ab", "c"]), hash_key(&["a", "bc"]));
    }
}
