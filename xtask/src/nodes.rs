//! Three nodes over one Postgres, under load from many agents, while parts of it are taken away.
//!
//! Nodes are killed, one is cut off from the database in the middle of what it does, and the database itself is ended
//! and started again. Meanwhile agents read under narrow grants, writers add records, and grants are revoked. What has
//! to hold: every acknowledged write is there, once; no answer holds anything outside its grant; nothing is served under
//! a grant from the moment its revocation was acknowledged, on any node. What is printed beside: how many requests
//! failed meanwhile, and how long each fault was felt.

mod agents;
mod cable;
mod faults;
mod fleet;
mod judge;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use agents::Load;
use fleet::Fleet;
use judge::Judged;
use world::World;

/// Nodes that serve.
const NODES: usize = 3;
/// Before the first fault, after each, and after the last: long enough to see everything served again.
const CALM: Duration = Duration::from_secs(4);

/// Kill nodes and the database under load, and see that nothing is lost and nothing leaks.
///
/// Starts a Postgres and three `pdpp serve` of its own, lets agents read and writers write, takes parts away one after
/// the other, and prints how it went.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Agents that read at the same time.
    #[arg(long, default_value_t = 200)]
    agents: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { agents: 200 }
    }
}

pub(crate) fn nodes(workspace: &Workspace, options: &Options) -> Result<()> {
    let world = World::prepare(workspace)?;
    let mut fleet = Fleet::start(&world, NODES)?;
    let load = Arc::new(Load::new(&world, fleet.urls()));
    let started = Instant::now();
    let ending = AtomicBool::new(false);
    let felt = thread::scope(|scope| -> Result<_> {
        for number in 0..options.agents {
            let (load, ending) = (Arc::clone(&load), &ending);
            scope.spawn(move || agents::read_until(&load, number, ending));
        }
        for number in 0..agents::WRITERS {
            let (load, ending) = (Arc::clone(&load), &ending);
            scope.spawn(move || agents::write_until(&load, number, ending));
        }
        let felt = faults::one_after_the_other(&world, &mut fleet, &load, CALM);
        ending.store(true, Ordering::SeqCst);
        felt
    })?;
    let mut judged = Judged::of(&world, &load)?;
    println!("{}", judged.table(options.agents, started.elapsed(), &felt));
    if !judged.is_well() {
        bail!("a promise was broken, see above; the nodes' logs:\n{}", fleet.logs());
    }
    fleet.stop()
}
