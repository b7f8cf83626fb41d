//! Today, as whoever starts the adapter knows it. A model has no calendar, and a time window means nothing without
//! one; the adapter reads no clock of its own.

use std::fmt;
use std::sync::Arc;

use pdpp_wire::Instant;

/// A clock that was passed in.
#[derive(Clone)]
pub struct Now(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Now {
    /// Asks this function for the time.
    pub fn new(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(clock))
    }

    /// The date in UTC, `2026-08-02`.
    pub(crate) fn date(&self) -> String {
        let mut moment = (self.0)().to_rfc3339();
        moment.truncate(moment.find('T').unwrap_or(moment.len()));
        moment
    }
}

impl fmt::Debug for Now {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Now")
    }
}
