//! Follows the change log and queues what is news to somebody.

use std::collections::{BTreeMap, BTreeSet};

use pdpp_store::{Change, ChangeKind, EventMatch, StoreError};
use pdpp_wire::{ConnectionId, RecordKey, StreamName, SubjectId};

use crate::EventParts;
use crate::index::{Followed, Index};
use crate::news::plan;

/// Log entries looked at in one step.
const STEP: u32 = 2_000;

/// The records that changed, by place.
type Changed = BTreeMap<(ConnectionId, StreamName), BTreeSet<RecordKey>>;

impl EventParts {
    /// Brings the index up to date and follows every subject's log to its end. Says how many events were found.
    pub(crate) async fn follow(&self, index: &mut Index) -> Result<usize, StoreError> {
        if let Some(live) = self.store.live_subscriptions(index.generation()).await? {
            *index = Index::of(live);
        }
        let mut found = 0;
        for subject_id in index.subjects() {
            while let Some(more) = self.step(index, subject_id).await? {
                found += more;
            }
        }
        Ok(found)
    }

    /// One step; `None` at the end of the log, or when another process is there already.
    async fn step(&self, index: &Index, subject_id: &SubjectId) -> Result<Option<usize>, StoreError> {
        let position = self.store.event_position(subject_id).await?;
        if self.store.log_head(subject_id).await? <= position {
            return Ok(None);
        }
        let entries = self.store.read_log(subject_id, position, STEP).await?;
        let Some(last) = entries.last() else { return Ok(None) };
        let step = position..last.sequence;
        let matches = self.matches(index, subject_id, position, places(entries)).await?;
        let moved = self.store.advance_events(subject_id, step, &matches, self.now()).await?;
        Ok(moved.then_some(matches.len()))
    }

    async fn matches(
        &self,
        index: &Index,
        subject_id: &SubjectId,
        position: u64,
        changed: Changed,
    ) -> Result<Vec<EventMatch>, StoreError> {
        let catalogue = self.store.catalogue(subject_id).await?;
        let now = self.now();
        let (mut candidates, mut questions) = (Vec::new(), Vec::new());
        for ((connection_id, stream), keys) in changed {
            for followed in index.covering(subject_id, &connection_id, &stream) {
                let Some(client) = followed.principal(now) else { continue };
                let Some(plan) = plan(client, &catalogue, &connection_id, &stream) else { continue };
                let chosen = |part: &pdpp_access::PlanPart| {
                    part.resources().is_none_or(|chosen| keys.iter().any(|key| chosen.contains(key)))
                };
                if !plan.read().parts().iter().any(chosen) {
                    continue;
                }
                let since = position.max(followed.from);
                questions.push((plan.read().clone(), since));
                candidates.push(found(followed, &connection_id, &stream, since));
            }
        }
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        let visible = self.store.visible_changes(&questions, 1).await?;
        let news = candidates.into_iter().zip(visible).filter(|(_, visible)| visible.is_some());
        Ok(news.map(|(candidate, _)| candidate).collect())
    }
}

fn found(followed: &Followed, connection_id: &ConnectionId, stream: &StreamName, since: u64) -> EventMatch {
    EventMatch {
        subscription_id: followed.subscription_id.clone(),
        stream: stream.clone(),
        connection_id: connection_id.clone(),
        since,
    }
}

/// A purge is not among them: no token could show it, and whoever holds an older one is told when it is used.
fn places(entries: Vec<Change>) -> Changed {
    let mut changed = Changed::new();
    for entry in entries {
        if let (Some(stream), ChangeKind::Upsert(key) | ChangeKind::Delete(key)) = (entry.stream, entry.kind)
        {
            changed.entry((entry.connection_id, stream)).or_default().insert(key);
        }
    }
    changed
}
