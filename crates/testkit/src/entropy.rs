//! Bytes that look random and are the same in every run.

use std::sync::Mutex;

use pdpp_access::Entropy;

/// Splitmix64 from a seed. Never use it outside tests: anybody can repeat it.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<u64>);

impl SeededEntropy {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// The next 64 bits, for tests that need numbers.
    pub fn next_u64(&self) -> u64 {
        let mut state = self.0.lock().expect("no test panics while drawing");
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Default for SeededEntropy {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use pdpp_access::random_hex;

    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_that_never_stands_still() {
        let (ours, theirs) = (SeededEntropy::new(7), SeededEntropy::new(7));
        let first = random_hex(&ours, 13);
        assert_eq!(first, random_hex(&theirs, 13));
        assert_ne!(first, random_hex(&ours, 13));
        assert_ne!(first, random_hex(&SeededEntropy::new(8), 13));
    }
}
