//! Answers searches: makes sure the index has caught up, then ranks apart from whoever waits.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pdpp_access::SearchPlan;
use pdpp_store::{Ranking, Search, SearchIndex, StoreError};

use crate::SearchError;
use crate::engine::{Core, SearchEngine};
use crate::error::caught;
use crate::place::StreamPlace;
use crate::rank::{Pace, rank};
use crate::segments::Segments;

/// How long a search waits for the index to catch up.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it looks at what another process has committed.
const LOOK_EVERY: Duration = Duration::from_millis(25);

#[async_trait]
impl SearchIndex for SearchEngine {
    async fn rank(&self, search: Search<'_>) -> Result<Ranking, StoreError> {
        match self.try_rank(search).await {
            Ok(ranking) => Ok(ranking),
            Err(error) if error.is_damage() || self.is_damaged_by(&error).await => {
                tracing::warn!(%error, "the search index is damaged and is rebuilt");
                self.core.call_for_rebuild();
                Ok(Ranking::default())
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn is_current(&self) -> Result<bool, StoreError> {
        Ok(!self.core.is_behind().await?)
    }
}

impl SearchEngine {
    async fn try_rank(&self, search: Search<'_>) -> Result<Ranking, SearchError> {
        let is_current = self.core.wait_for(search.plan).await?;
        let segments = self.core.opened().segments();
        // The way to another thread and back costs as much as a short search.
        let ranked = match caught(|| rank(&segments, &self.core.counts, search, Pace::Short))? {
            None => self.rank_apart(segments, search).await?,
            done => done,
        };
        Ok(Ranking { is_current, ..ranked.unwrap_or_default() })
    }

    /// Ranks where it keeps nobody else waiting.
    async fn rank_apart(
        &self,
        segments: Arc<Segments>,
        search: Search<'_>,
    ) -> Result<Option<Ranking>, SearchError> {
        let (core, plan, query) = (self.core.clone(), search.plan.clone(), search.query.clone());
        let (only, explain) = (search.only.map(<[_]>::to_vec), search.explain);
        let ranked = tokio::task::spawn_blocking(move || {
            let search = Search { plan: &plan, query: &query, only: only.as_deref(), explain };
            caught(|| rank(&segments, &core.counts, search, Pace::Long))
        });
        ranked.await.unwrap_or(Err(SearchError::Panicked))
    }

    /// Whether a search that panicked did so because of the files.
    async fn is_damaged_by(&self, error: &SearchError) -> bool {
        let core = self.core.clone();
        matches!(error, SearchError::Panicked)
            && tokio::task::spawn_blocking(move || core.finds_damage()).await.unwrap_or_default()
    }
}

impl Core {
    /// Waits until the index has what the store holds now for a plan. Says whether it has.
    ///
    /// What came to other streams is neither waited for nor told: an owner who imports a large archive into one connection
    /// is nothing to a reader of another.
    async fn wait_for(self: &Arc<Self>, plan: &SearchPlan) -> Result<bool, SearchError> {
        let head = self.store.log_head(plan.subject_id()).await?;
        if self.has(plan, head) {
            return Ok(true);
        }
        self.refresh()?;
        if self.has(plan, head) {
            return Ok(true);
        }
        self.call_indexer();
        let wanted = self.latest_of(plan).await?;
        if self.has(plan, wanted) {
            return Ok(true);
        }
        let mut progress = self.progress();
        let caught_up = tokio::time::timeout(PATIENCE, async {
            loop {
                self.call_indexer();
                // Whether something was committed here or not, another process may have.
                let _ = tokio::time::timeout(LOOK_EVERY, progress.changed()).await;
                self.refresh()?;
                if self.has(plan, wanted) {
                    return Ok(true);
                }
            }
        });
        caught_up.await.unwrap_or(Ok(false))
    }

    /// Up to where the index has to be to have what the store holds for a plan.
    async fn latest_of(&self, plan: &SearchPlan) -> Result<u64, SearchError> {
        let position = self.progress().borrow().position(plan.subject_id());
        let streams: Vec<_> = places(plan).map(|place| (place.connection_id, place.stream)).collect();
        let latest = self.store.latest_of(plan.subject_id(), &streams, position).await?;
        Ok(latest.unwrap_or(position))
    }

    /// Whether the index has come so far, and has the plan's streams as they are searched now.
    fn has(&self, plan: &SearchPlan, position: u64) -> bool {
        let progress = self.progress().borrow().clone();
        progress.position(plan.subject_id()) >= position
            && places(plan)
                .zip(plan.parts())
                .all(|(place, part)| progress.knows_stream(&place, part.read().declaration()))
    }
}

/// Where a plan lets be searched.
fn places(plan: &SearchPlan) -> impl Iterator<Item = StreamPlace> + '_ {
    plan.parts().iter().map(|part| StreamPlace {
        subject_id: plan.subject_id().clone(),
        connection_id: part.part().connection_id().clone(),
        stream: part.read().stream().clone(),
    })
}
