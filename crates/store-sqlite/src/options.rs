//! What a store is opened with.

use std::fmt;
use std::sync::Arc;

use pdpp_access::{Clock, Entropy};

/// Readers unless told otherwise: enough for a personal server, cheap enough for an adapter.
const DEFAULT_READERS: usize = 4;

/// What a store is opened with.
#[derive(Clone)]
pub struct Options {
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where ids, epochs and the sealing key come from.
    pub entropy: Arc<dyn Entropy>,
    /// How many reads run side by side; at least one.
    pub readers: usize,
}

impl Options {
    /// The usual number of readers.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy, readers: DEFAULT_READERS }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("readers", &self.readers).finish_non_exhaustive()
    }
}
