//! What a store is opened with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pdpp_access::{Clock, Entropy};

use crate::clock::Time;

/// Connections unless told otherwise: enough for a busy node, and a hundred nodes fit one server.
const DEFAULT_CONNECTIONS: usize = 16;
/// How long a request waits for a free connection, or for a new one.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
/// The longest a statement may run. A request's own deadline is shorter; this stops what outlives its asker.
const DEFAULT_STATEMENT: Duration = Duration::from_mins(1);

/// What a store is opened with.
#[derive(Clone)]
pub struct Options {
    /// What time it is on this machine.
    pub clock: Arc<dyn Clock>,
    /// Whose clock counts.
    pub time: Time,
    /// Where ids, epochs and the sealing key come from.
    pub entropy: Arc<dyn Entropy>,
    /// Most connections this process holds.
    pub connections: usize,
    /// How long a request waits for a connection.
    pub wait: Duration,
    /// The longest a statement may run.
    pub statement: Duration,
}

impl Options {
    /// The usual numbers.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            clock,
            time: Time::default(),
            entropy,
            connections: DEFAULT_CONNECTIONS,
            wait: DEFAULT_WAIT,
            statement: DEFAULT_STATEMENT,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("connections", &self.connections).finish_non_exhaustive()
    }
}
