//! The worker: follows, claims, sends, writes down. Any number may run on one store.

use std::collections::HashMap;
use std::time::Duration;

use pdpp_access::random_hex;
use pdpp_store::{Claim, DueEvent, Finished, Lease, Saying, StoreError};
use pdpp_wire::{EventId, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::EventParts;
use crate::index::Index;
use crate::{Delivering, capability::RESPONSE_SECONDS};

/// Attempts under way at one time.
const MAX_ATTEMPTS_UNDER_WAY: usize = 32;
/// Of them, to one host: a slow receiver must not keep the others waiting.
const MAX_PER_HOST: usize = 8;
/// Due events looked at per place that is free: several may go to one host.
const LOOKED_AT: usize = 4;
/// How long a subscription belongs to who claimed it: longer than an attempt can take.
const LEASE_SECONDS: i64 = RESPONSE_SECONDS.cast_signed() + 10;
/// How often the log is looked at while subscriptions are followed. Other processes write to it too.
const PAUSE: Duration = Duration::from_millis(200);
/// The same while nobody listens.
const IDLE_PAUSE: Duration = Duration::from_secs(2);
/// How long a failing store is left alone.
const RECOVERY: Duration = Duration::from_secs(5);
/// How often expired grants are looked for, in seconds.
const EXPIRY_ROUND: i64 = 60;

/// Follows the log and delivers.
#[derive(Debug)]
pub struct EventWorker {
    parts: EventParts,
    index: Index,
    lease_id: String,
    under_way: JoinSet<(String, Finished)>,
    by_host: HashMap<String, usize>,
    looked_for_expired: Option<Instant>,
}

impl EventWorker {
    /// A worker over these parts.
    pub fn new(parts: EventParts) -> Self {
        let lease_id = random_hex(parts.entropy.as_ref(), 16);
        Self {
            parts,
            index: Index::default(),
            lease_id,
            under_way: JoinSet::new(),
            by_host: HashMap::new(),
            looked_for_expired: None,
        }
    }

    /// Works until it is dropped. An attempt that is cut off is made again when its lease has ended.
    pub async fn run(mut self) {
        let never = std::sync::Arc::new(Notify::new());
        let woken = match &self.parts.delivering {
            Delivering::Here(woken) => woken.clone(),
            Delivering::Elsewhere(_) => never,
        };
        loop {
            let pause = match self.round().await {
                Ok(()) if self.index.subjects().next().is_none() && self.under_way.is_empty() => IDLE_PAUSE,
                Ok(()) => PAUSE,
                Err(error) => {
                    tracing::warn!(%error, "events wait for the store");
                    RECOVERY
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = woken.notified() => {}
                Some(ended) = self.under_way.join_next() => {
                    let ended = ended.ok().into_iter().collect();
                    if let Err(error) = self.write_down(ended).await {
                        tracing::warn!(%error, "what became of an event could not be written down");
                    }
                }
            }
        }
    }

    /// Follows the log to its end, ends what has expired, and starts what is due and may be sent.
    async fn round(&mut self) -> Result<(), StoreError> {
        self.follow().await?;
        self.start_due().await?;
        Ok(())
    }

    /// Follows the change log to its end; says how many events were queued or joined to a waiting one.
    pub async fn follow(&mut self) -> Result<usize, StoreError> {
        let found = self.parts.follow(&mut self.index).await?;
        let now = self.parts.now();
        if self.looked_for_expired.is_none_or(|at| at.plus_seconds(EXPIRY_ROUND) <= now) {
            self.looked_for_expired = Some(now);
            let expired = self.index.expired(now);
            if !expired.is_empty() {
                self.parts.store.expire_subscriptions(&expired, now).await?;
            }
        }
        Ok(found)
    }

    /// Sends everything that is due now and waits until it is written down; says how many attempts were made.
    pub async fn deliver_due(&mut self) -> Result<usize, StoreError> {
        let mut made = 0;
        loop {
            made += self.start_due().await?;
            match self.under_way.join_next().await {
                Some(ended) => self.write_down(ended.ok().into_iter().collect()).await?,
                None => return Ok(made),
            }
        }
    }

    /// Claims due events as far as there is room, and starts to send them. What is due at hosts that have enough to do
    /// is left out of each look, however much it is.
    async fn start_due(&mut self) -> Result<usize, StoreError> {
        let mut started = 0;
        for _ in 0..MAX_ATTEMPTS_UNDER_WAY / MAX_PER_HOST {
            let room = MAX_ATTEMPTS_UNDER_WAY.saturating_sub(self.under_way.len());
            if room == 0 {
                break;
            }
            let more = self.start_some(room).await?;
            started += more;
            if more == 0 {
                break;
            }
        }
        Ok(started)
    }

    async fn start_some(&mut self, room: usize) -> Result<usize, StoreError> {
        let now = self.parts.now();
        let busy = self.by_host.iter().filter(|(_, attempts)| **attempts >= MAX_PER_HOST);
        let busy: Vec<String> = busy.map(|(host, _)| host.clone()).collect();
        let looked_at = u32::try_from(room * LOOKED_AT).unwrap_or(u32::MAX);
        let due = self.parts.store.due_events(now, &busy, looked_at).await?;
        let chosen = self.choose(due, room);
        if chosen.is_empty() {
            return Ok(0);
        }
        let sayings = self.parts.sayings(&chosen).await?;
        let claims: Vec<Claim> = chosen
            .iter()
            .zip(sayings)
            .map(|(event, saying)| Claim {
                row: event.row,
                subscription_id: event.subscription_id.clone(),
                saying,
            })
            .collect();
        let lease = Lease { id: self.lease_id.clone(), until: now.plus_seconds(LEASE_SECONDS) };
        let won = self.parts.store.claim_events(&claims, &lease, now).await?;
        let mut started = 0;
        for ((event, claim), won) in chosen.into_iter().zip(claims).zip(won) {
            if let (true, Saying::Words(event_id, body)) = (won, claim.saying) {
                self.start(event, event_id, body);
                started += 1;
            }
        }
        Ok(started)
    }

    fn choose(&self, due: Vec<DueEvent>, room: usize) -> Vec<DueEvent> {
        let mut hosts = self.by_host.clone();
        let mut chosen = Vec::new();
        for event in due {
            let busy = hosts.entry(event.callback_host.clone()).or_default();
            if *busy < MAX_PER_HOST && chosen.len() < room {
                *busy += 1;
                chosen.push(event);
            }
        }
        chosen
    }

    fn start(&mut self, event: DueEvent, event_id: EventId, body: String) {
        let (parts, host) = (self.parts.clone(), event.callback_host.clone());
        *self.by_host.entry(host.clone()).or_default() += 1;
        self.under_way.spawn(async move { (host, parts.attempt(event, event_id, body).await) });
    }

    /// Writes down this attempt and all others that have ended meanwhile, together.
    async fn write_down(&mut self, mut ended: Vec<(String, Finished)>) -> Result<(), StoreError> {
        while let Some(more) = self.under_way.try_join_next() {
            ended.extend(more.ok());
        }
        for (host, _) in &ended {
            if let Some(busy) = self.by_host.get_mut(host) {
                *busy = busy.saturating_sub(1);
            }
        }
        self.by_host.retain(|_, busy| *busy > 0);
        let finished: Vec<Finished> = ended.into_iter().map(|(_, finished)| finished).collect();
        self.parts.store.finish_events(&finished, &self.lease_id, self.parts.now()).await
    }
}
