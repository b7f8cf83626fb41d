//! Answers searches: makes sure the index has caught up, then ranks apart from whoever waits.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pdpp_access::SearchPlan;
use pdpp_store::{Ranking, Search, SearchIndex, StoreError};

use crate::SearchError;
use crate::engine::{Core, SearchEngine};
use crate::place::StreamPlace;
use crate::rank::{Pace, rank};
use crate::segments::Segments;

/// How long a search waits for the index to catch up.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it looks at what another process has committed.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// How much of the log that is missing is looked at for whether it matters.
const MAX_MISSING: u32 = 5_000;

#[async_trait]
impl SearchIndex for SearchEngine {
    async fn rank(&self, search: Search<'_>) -> Result<Ranking, StoreError> {
        let is_current = self.core.wait_for(search.plan).await?;
        let segments = self.core.opened().segments();
        // The way to another thread and back costs as much as a short search.
        let ranked = match rank(&segments, &self.core.counts, search, Pace::Short) {
            Ok(None) => self.rank_apart(segments, search).await?,
            done => done,
        };
        let ranked = ranked.map(Option::unwrap_or_default);
        match ranked {
            Ok(ranking) => Ok(Ranking { is_current, ..ranking }),
            Err(error) if !error.is_damage() => Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, "the search index is damaged and is rebuilt");
                self.core.call_for_rebuild();
                Ok(Ranking::default())
            }
        }
    }

    async fn is_current(&self) -> Result<bool, StoreError> {
        Ok(!self.core.is_behind().await?)
    }
}

impl SearchEngine {
    /// Ranks where it keeps nobody else waiting.
    async fn rank_apart(
        &self,
        segments: Arc<Segments>,
        search: Search<'_>,
    ) -> Result<Result<Option<Ranking>, SearchError>, StoreError> {
        let (core, plan, query) = (self.core.clone(), search.plan.clone(), search.query.clone());
        let (only, explain) = (search.only.map(<[_]>::to_vec), search.explain);
        let ranked = tokio::task::spawn_blocking(move || {
            let search = Search { plan: &plan, query: &query, only: only.as_deref(), explain };
            rank(&segments, &core.counts, search, Pace::Long)
        });
        ranked.await.map_err(|stopped| StoreError::Backend(Box::new(stopped)))
    }
}

impl Core {
    /// Waits until the index has what the store holds now for a plan. Says whether it has.
    async fn wait_for(self: &Arc<Self>, plan: &SearchPlan) -> Result<bool, SearchError> {
        let head = self.store.log_head(plan.subject_id()).await?;
        if self.has(plan, head) {
            return Ok(true);
        }
        self.refresh()?;
        if self.has(plan, head) {
            return Ok(true);
        }
        let mut progress = self.progress();
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                self.call_indexer();
                // Whether something was committed here or not, another process may have.
                let _ = tokio::time::timeout(LOOK_EVERY, progress.changed()).await;
                self.refresh()?;
                if self.has(plan, head) {
                    return Ok(true);
                }
            }
        });
        match waited.await {
            Ok(reached) => reached,
            Err(_) => self.misses_nothing(plan).await,
        }
    }

    fn has(&self, plan: &SearchPlan, head: u64) -> bool {
        let progress = self.progress().borrow().clone();
        progress.position(plan.subject_id()) >= head
            && plan.parts().iter().all(|part| {
                let place = StreamPlace {
                    subject_id: plan.subject_id().clone(),
                    connection_id: part.part().connection_id().clone(),
                    stream: part.read().stream().clone(),
                };
                progress.knows_stream(&place, part.read().declaration())
            })
    }

    /// Whether what is not indexed yet is outside the plan's connections.
    async fn misses_nothing(&self, plan: &SearchPlan) -> Result<bool, SearchError> {
        let position = self.progress().borrow().position(plan.subject_id());
        if !self.has(plan, position) {
            return Ok(false);
        }
        let missing = self.store.read_log(plan.subject_id(), position, MAX_MISSING).await?;
        let concerns = |id| plan.parts().iter().any(|part| part.part().connection_id() == id);
        let is_whole = missing.len() < MAX_MISSING as usize;
        Ok(is_whole && !missing.iter().any(|change| concerns(&change.connection_id)))
    }
}
