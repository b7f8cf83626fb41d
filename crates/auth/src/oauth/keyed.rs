//! A keyed hash (HMAC-SHA-256, RFC 2104), for refresh tokens that can be made again but not guessed.

use sha2::{Digest as _, Sha256};

const BLOCK: usize = 64;

/// The keyed hash over these parts, each preceded by its length, so that no two lists of parts look alike.
pub(crate) fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut message = Vec::new();
    for part in parts {
        message.extend_from_slice(&(part.len() as u64).to_be_bytes());
        message.extend_from_slice(part);
    }
    hmac(key, &message)
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; BLOCK];
    block[..key.len()].copy_from_slice(key);
    let pad = |byte: u8| block.map(|own| own ^ byte);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_of_rfc_4231() {
        let hex =
            |bytes: [u8; 32]| bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!(
            hex(hmac(&[0x0b; 20], b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            hex(hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn parts_do_not_run_into_one_another() {
        assert_ne!(keyed(&[1; 32], &[b"ab", b"c"]), keyed(&[1; 32], &[b"a", b"bc"]));
        assert_ne!(keyed(&[1; 32], &[b"ab"]), keyed(&[2; 32], &[b"ab"]));
    }
}
