//! Nodes whose clocks are ten minutes apart: leases and turns go by the database's.

use std::sync::Arc;
use std::time::Duration;

use pdpp_access::Clock as _;
use pdpp_store::{Events as _, Lease, OAuth as _};
use pdpp_store_postgres::{Options, PostgresStore, Time};
use pdpp_testkit::FixedClock;

use super::events::{claim, subject, subscribe_at};
use crate::patient;
use crate::support::{Kept, connect};

const APART: i64 = 600;

/// A node, and what its machine believes.
struct Node {
    store: PostgresStore,
    own: Arc<FixedClock>,
}

impl Node {
    fn new(kept: &Kept, seconds_off: i64) -> Self {
        let own = Arc::new(FixedClock::default());
        own.advance_seconds(seconds_off);
        let options = Options { clock: own.clone(), time: Time::Database, ..patient() };
        Self { store: connect(kept, options), own }
    }

    /// Takes the one event that is due for some seconds, if it may.
    async fn takes(&self, seconds: i64) -> bool {
        let believed = self.own.now();
        let due = self.store.due_events(believed, &[], 10).await.unwrap();
        self.claims(&due, seconds).await
    }

    async fn claims(&self, due: &[pdpp_store::DueEvent], seconds: i64) -> bool {
        let believed = self.own.now();
        let lease = Lease { id: format!("{believed:?}"), until: believed.plus_seconds(seconds) };
        let claims: Vec<_> = due.iter().map(|due| claim(due, "evt_words")).collect();
        self.store.claim_events(&claims, &lease, believed).await.unwrap().contains(&true)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_different_clocks_agree_on_the_time() {
    let kept = Kept::new();
    let [slow, fast] = [0, APART].map(|off| Node::new(&kept, off));
    let apart = slow.store.clock().now().micros().abs_diff(fast.store.clock().now().micros());
    assert!(apart < 60_000_000, "{apart} microseconds apart");
    // A turn that one of them had is not the other's.
    for (node, count) in [(&slow, 1), (&fast, 2), (&slow, 3)] {
        let counted = node.store.count_attempt("upkeep", 270, node.store.clock().now()).await.unwrap();
        assert_eq!(counted.count, count);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_lives_and_ends_for_nodes_with_other_clocks() {
    let kept = Kept::new();
    for (first, second) in [(0, APART), (APART, 0)] {
        let [first, second] = [first, second].map(|off| Node::new(&kept, off));
        let name = format!("sub_{}", first.own.now().micros());
        subscribe_at(&first.store, &subject(1), &name, first.store.clock().now().plus_seconds(-5)).await;
        let due = second.store.due_events(second.own.now(), &[], 10).await.unwrap();
        assert_eq!(due.len(), 1);
        assert!(first.takes(4).await, "what is due is taken");
        assert!(!second.claims(&due, 60).await, "a live lease is not stolen");
        assert!(!second.takes(60).await, "nor seen as due");
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(second.takes(3_600).await, "a dead one is not kept");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_set_while_a_node_runs_steals_no_lease() {
    let kept = Kept::new();
    let [first, second] = [0, 0].map(|off| Node::new(&kept, off));
    subscribe_at(&first.store, &subject(1), "sub_a", first.store.clock().now().plus_seconds(-5)).await;
    assert!(first.takes(60).await);
    for seconds in [APART, -2 * APART] {
        second.own.advance_seconds(seconds);
        assert!(!second.takes(60).await);
    }
}
