//! What is taken away, one after the other, and how long each was felt.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::agents::{Load, lock};
use super::fleet::Fleet;
use super::world::World;

/// How long a node stays dead, or the database.
const DEAD: Duration = Duration::from_secs(2);
/// How long a node is cut off.
const CUT: Duration = Duration::from_secs(6);
/// How long an owner asks again; a transaction that was left open ends sooner.
const PATIENCE: Duration = Duration::from_secs(45);

/// One fault.
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) from: Instant,
    /// When everything was in its place again.
    pub(super) repaired: Instant,
    /// When the next one began.
    pub(super) until: Instant,
}

pub(super) fn one_after_the_other(
    world: &World,
    fleet: &mut Fleet,
    load: &Load,
    calm: Duration,
) -> Result<Vec<Fault>> {
    let mut felt = Vec::new();
    let mut doomed = 0..world.revoked.len();
    thread::sleep(calm * 2);
    let mut during = |name, fault: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let from = Instant::now();
        fault()?;
        let repaired = Instant::now();
        thread::sleep(calm);
        felt.push(Fault { name, from, repaired, until: Instant::now() });
        Ok(())
    };
    let mut revoke = || doomed.next().map_or(Ok(()), |index| revoke(world, load, index));
    during("two grants are revoked", &mut || revoke().and_then(|()| revoke()))?;
    during("a node is killed, and started 2 s later", &mut || {
        fleet.kill(0)?;
        thread::sleep(DEAD);
        fleet.start_again(world, 0)
    })?;
    during("a node is cut off from the database for 6 s, and a grant revoked meanwhile", &mut || {
        fleet.cut(1);
        revoke()?;
        thread::sleep(CUT);
        fleet.mend(1);
        Ok(())
    })?;
    during("the database is killed, and started 2 s later", &mut || {
        let mut postgres = lock(&world.postgres);
        postgres.pull_the_plug()?;
        thread::sleep(DEAD);
        postgres.start_again()
    })?;
    during("two nodes are killed at once, and started 2 s later", &mut || {
        fleet.kill(1)?;
        fleet.kill(2)?;
        revoke()?;
        thread::sleep(DEAD);
        fleet.start_again(world, 1)?;
        fleet.start_again(world, 2)
    })?;
    during("the rest of the grants are revoked", &mut || revoke().and_then(|()| revoke()))?;
    Ok(felt)
}

/// From the moment the command says so, nothing is served under it. Whoever is told that the store is busy asks again: a
/// node that was cut off may hold the owner's rows until Postgres ends its transaction.
fn revoke(world: &World, load: &Load, index: usize) -> Result<()> {
    let started = Instant::now();
    while let Err(error) = world.run(&["grant", "revoke", &world.revoked[index].grant_id]) {
        let is_busy = format!("{error:#}").contains("the store is busy");
        if !is_busy || started.elapsed() > PATIENCE {
            return Err(error);
        }
    }
    *lock(&load.ended[index]) = Some(Instant::now());
    Ok(())
}
