//! Search tells nothing of what is outside the grant.
//!
//! Each case is a pair of stores with the same grant. They hold the same records inside it and differ in
//! everything else: other streams, connections and fields, records outside the grant's times or not among its
//! records, what was deleted, the order of writes, and where the index committed. Every answer must be the
//! same, score by score, and everything it shows must be of the grant.

#![expect(clippy::print_stdout, reason = "a failing run shows its seeds")]

mod compare;
mod request;
mod server;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use compare::Tally;
use request::Request;
use server::Server;
use world::{Rng, World};

/// Pairs per test, and requests per pair.
const PAIRS: u64 = 256;
const REQUESTS: u64 = 20;
/// Another seed gives other worlds: `PDPP_SEED=7 cargo nextest run -p pdpp-api search_leaks`.
const SEED: u64 = 0x005E_A4C8;

fn check(shard: u64) {
    let seed: u64 = std::env::var("PDPP_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED);
    let runtime =
        Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));
    let mut tally = Tally::default();
    for pair in 0..PAIRS {
        let seed = world::mix(seed ^ (shard << 32) ^ pair);
        println!("pair {pair}: world {seed:#x}");
        let world = World::new(&mut Rng::new(seed));
        let one = Server::new(&runtime, &world, world.plain(), seed);
        let two = Server::new(&runtime, &world, world.altered(&mut Rng::new(seed ^ 1)), seed);
        let mut rng = Rng::new(seed ^ 2);
        for _ in 0..REQUESTS {
            let request = Request::draw(&mut rng, &world);
            compare::same(&world, &request, &one, &two, &mut tally);
        }
    }
    tally.check(PAIRS * REQUESTS);
}

#[test]
fn no_search_depends_on_what_is_outside_the_grant_0() {
    check(0);
}

#[test]
fn no_search_depends_on_what_is_outside_the_grant_1() {
    check(1);
}

#[test]
fn no_search_depends_on_what_is_outside_the_grant_2() {
    check(2);
}

#[test]
fn no_search_depends_on_what_is_outside_the_grant_3() {
    check(3);
}

#[test]
fn a_difference_inside_the_grant_is_noticed() {
    let runtime =
        Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));
    let noticed = AtomicU64::new(0);
    for seed in 0..20 {
        let world = World::new(&mut Rng::new(seed));
        let one = Server::new(&runtime, &world, world.plain(), seed);
        let two = Server::new(&runtime, &world, world.spoiled(&mut Rng::new(seed)), seed);
        let mut rng = Rng::new(seed ^ 2);
        for _ in 0..REQUESTS {
            let request = Request::draw(&mut rng, &world);
            noticed.fetch_add(u64::from(one.ask(&request.path) != two.ask(&request.path)), Ordering::Relaxed);
        }
    }
    assert!(noticed.into_inner() > 40, "a record inside the grant was rewritten and hardly anything changed");
}
