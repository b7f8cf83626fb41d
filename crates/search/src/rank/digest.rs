//! Hashes what has a digest in it by that digest.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys hold a record's number or a fingerprint: those are spread evenly already.
pub(crate) type ByDigest = BuildHasherDefault<Digest>;

#[derive(Debug, Default)]
pub(crate) struct Digest(u64);

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The map looks at the highest and at the lowest bits.
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}
