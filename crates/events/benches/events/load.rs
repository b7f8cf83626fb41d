//! A thousand changes a second, ten at a time, each time to another connection.

use std::time::{Duration, Instant};

use crate::receivers::Receivers;
use crate::world::World;

const BATCH: usize = 10;
const BATCHES_PER_SECOND: u32 = 100;

pub(crate) struct Load {
    time: Duration,
}

/// What a run did.
pub(crate) struct Done {
    pub(crate) changes: usize,
    pub(crate) took: Duration,
    /// The changed connections, each with the last commit.
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
        let (mut batch, offset) = (0, if receivers.is_some() { 1_000_000 } else { 0 });
        while started.elapsed() < self.time {
            ticks.tick().await;
            // A stride that meets every connection in an order that is not theirs.
            let connection = &world.connections[(batch * 7) % world.connections.len()];
            world.write(connection, offset + batch, BATCH).await;
            let now = world.now();
            if let Some(receivers) = receivers {
                receivers.committed(connection, now);
            }
            last.insert(connection.clone(), now);
            batch += 1;
        }
        Done { changes: batch * BATCH, took: started.elapsed(), last: last.into_iter().collect() }
    }
}
