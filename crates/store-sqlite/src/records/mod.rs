//! Reading records: each question in a file of its own, over the same few parts.

mod aggregate;
mod buckets;
mod changes;
mod expand;
mod find;
mod groups;
mod hits;
mod list;
mod order;
mod rows;
mod selection;
mod summary;
mod tally;
mod target;
mod walk;

use async_trait::async_trait;
use pdpp_access::{AggregatePlan, ChangesPlan, ReadPlan, RecordPlan, RecordsPlan, SearchPlan};
use pdpp_store::{
    Aggregate, ChangesOutcome, RecordRow, Records, RecordsPage, StoreError, Summary, VisibleChanges,
};
use pdpp_wire::RecordKey;
use rusqlite::Connection;

use crate::SqliteStore;

pub(crate) use selection::is_visible;
pub(crate) use target::{Part, Target};

#[async_trait]
impl Records for SqliteStore {
    async fn list_records(&self, plan: &RecordsPlan) -> Result<RecordsPage, StoreError> {
        let work = {
            let plan = plan.clone();
            move |connection: &Connection| list::list(connection, &plan)
        };
        // Totals walk everything the plan covers.
        if plan.count() || plan.window() { self.read(work).await } else { self.glance(work).await }
    }

    async fn list_changes(&self, plan: &ChangesPlan) -> Result<ChangesOutcome, StoreError> {
        let plan = plan.clone();
        self.read(move |connection| changes::list(connection, &plan)).await
    }

    async fn visible_changes(
        &self,
        questions: &[(ReadPlan, u64)],
        most: u32,
    ) -> Result<Vec<Option<VisibleChanges>>, StoreError> {
        let questions = questions.to_vec();
        let look = move |connection: &Connection| {
            questions.iter().map(|(read, after)| changes::visible(connection, read, *after, most)).collect()
        };
        self.read(look).await
    }

    async fn find_record(&self, plan: &RecordPlan) -> Result<Vec<RecordRow>, StoreError> {
        let plan = plan.clone();
        self.glance(move |connection| find::find(connection, &plan)).await
    }

    async fn find_hits(
        &self,
        plan: &SearchPlan,
        hits: &[(usize, RecordKey)],
    ) -> Result<Vec<RecordRow>, StoreError> {
        let (plan, hits) = (plan.clone(), hits.to_vec());
        self.glance(move |connection| hits::find(connection, &plan, &hits)).await
    }

    async fn filtered_keys(
        &self,
        plan: &SearchPlan,
        most: u32,
    ) -> Result<Option<Vec<(usize, RecordKey)>>, StoreError> {
        let plan = plan.clone();
        self.read(move |connection| hits::filtered(connection, &plan, most)).await
    }

    async fn aggregate(&self, plan: &AggregatePlan) -> Result<Aggregate, StoreError> {
        let plan = plan.clone();
        self.read(move |connection| aggregate::aggregate(connection, &plan)).await
    }

    async fn summarize(&self, plan: &ReadPlan) -> Result<Vec<Summary>, StoreError> {
        let plan = plan.clone();
        self.read(move |connection| summary::summarize(connection, &plan)).await
    }
}
