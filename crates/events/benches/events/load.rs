//! A thousand changes a second, ten at a time, each time to another connection.

use std::time::{Duration, Instant};

use crate::receivers::Receivers;
use crate::world::World;

/// Changes in one commit.
pub(crate) const BATCH: usize = 10;
const BATCHES_PER_SECOND: u32 = 100;

pub(crate) struct Load {
    time: Duration,
}

/// What a run did.
pub(crate) struct Done {
    pub(crate) changes: usize,
    pub(crate) took: Duration,
    /// How long each commit took, least first.
    pub(crate) commits: Vec<Duration>,
    /// The changed connections, each with the start of its last commit.
    pub(crate) last: Vec<(pdpp_wire::ConnectionId, pdpp_wire::Instant)>,
}

impl Load {
    pub(crate) fn of(time: Duration) -> Self {
        Self { time }
    }

    pub(crate) async fn run(&self, world: &World, receivers: Option<&Receivers>) -> Done {
        let started = Instant::now();
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / BATCHES_PER_SECOND);
        let mut last = std::collections::BTreeMap::new();
        let (mut batch, mut commits) = (0, Vec::new());
        while started.elapsed() < self.time {
            ticks.tick().await;
            // A stride that meets every connection in an order that is not theirs.
            let connection = &world.connections[(batch * 7) % world.connections.len()];
            let (begun, writing) = (world.now_in_millis(), Instant::now());
            if let Some(receivers) = receivers {
                receivers.writing(connection, begun);
            }
            world.write(connection, batch, BATCH).await;
            commits.push(writing.elapsed());
            last.insert(connection.clone(), begun);
            batch += 1;
        }
        commits.sort_unstable();
        Done { changes: batch * BATCH, took: started.elapsed(), commits, last: last.into_iter().collect() }
    }
}
