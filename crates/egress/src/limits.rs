//! How long a call may take, and how much it may bring.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{EgressError, EgressFault};

/// The bounds of one call. The whole call ends at `total`; each stage may end earlier.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the call to the last byte.
    pub total: Duration,
    /// To look the host up.
    pub resolve: Duration,
    /// To open a connection, over all addresses tried.
    pub connect: Duration,
    /// To agree on encryption.
    pub handshake: Duration,
    /// To send the request and read the head of the answer.
    pub head: Duration,
    /// To read the body.
    pub body: Duration,
    /// The largest head. Below 8,192 bytes it counts as that.
    pub max_head_bytes: usize,
    /// The largest body.
    pub max_body_bytes: usize,
    /// What becomes of a larger body.
    pub oversize: Oversize,
}

/// What becomes of a body larger than the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oversize {
    /// There is no answer.
    Refused,
    /// The answer has the start of it. For a caller who looks at the status, and keeps a snippet.
    Cut,
}

impl Limits {
    /// One deadline for everything, a head of 16 KiB, and a larger body is refused.
    pub fn within(total: Duration, max_body_bytes: usize) -> Self {
        Self {
            total,
            resolve: total,
            connect: total,
            handshake: total,
            head: total,
            body: total,
            max_head_bytes: 16 * 1024,
            max_body_bytes,
            oversize: Oversize::Refused,
        }
    }
}

/// A part of a call that can take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Waiting for other calls to end.
    Queue,
    /// Looking the host up.
    Resolve,
    /// Opening a connection.
    Connect,
    /// Agreeing on encryption.
    Handshake,
    /// Sending the request, reading the head of the answer.
    Head,
    /// Reading the body.
    Body,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queue => "queue",
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Handshake => "handshake",
            Self::Head => "head",
            Self::Body => "body",
        })
    }
}

/// When a call ends, whatever it is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(total: Duration) -> Self {
        Self(Instant::now() + total)
    }

    /// Runs a stage, no longer than its own time and no longer than the call.
    pub(crate) async fn stage<T>(
        self,
        stage: Stage,
        time: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, EgressError> {
        timeout_at(self.0.min(Instant::now() + time), work)
            .await
            .map_err(|_| EgressFault::TimedOut(stage).because("deadline"))
    }
}
