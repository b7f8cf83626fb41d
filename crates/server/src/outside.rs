//! The real clock and the operating system's randomness, handed down from here.

use jiff::Timestamp;
use pdpp_access::{Clock, Entropy};
use pdpp_wire::Instant;

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the time comes from")]
    fn now(&self) -> Instant {
        Timestamp::now().into()
    }
}

/// The operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where randomness comes from")]
    fn fill(&self, buffer: &mut [u8]) {
        // Without randomness no token and no cursor is safe; there is nothing sensible to do but stop.
        getrandom::fill(buffer).expect("the operating system provides randomness");
    }
}
