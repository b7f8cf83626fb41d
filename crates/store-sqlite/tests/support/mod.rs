//! What the tests of this crate share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pdpp_access::{Clock, Entropy};
use pdpp_store_sqlite::Options;
use pdpp_wire::Instant;

/// Always the same moment.
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Instant {
        Instant::parse("2026-01-01T00:00:00Z").unwrap()
    }
}

/// Different bytes each time, in every store of the process.
struct Counting;

static COUNTER: AtomicU64 = AtomicU64::new(1);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let next = COUNTER.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&next.to_le_bytes()[..chunk.len()]);
        }
    }
}

pub(crate) fn options() -> Options {
    Options::new(Arc::new(Fixed), Arc::new(Counting))
}
