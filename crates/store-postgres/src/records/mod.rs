//! Reading records: each question in a file of its own, over the same few parts.

mod aggregate;
mod buckets;
mod changes;
mod condition;
mod expand;
mod find;
mod groups;
mod hits;
mod list;
mod places;
mod portal;
mod rows;
mod selection;
mod statement;
mod stored;
mod summary;
mod tally;
mod target;
mod walk;
mod window;

use async_trait::async_trait;
use pdpp_access::{AggregatePlan, ChangesPlan, ReadPlan, RecordPlan, RecordsPlan, SearchPlan};
use pdpp_store::{
    Aggregate, ChangesOutcome, RecordRow, Records, RecordsPage, StoreError, Summary, VisibleChanges,
};
use pdpp_wire::RecordKey;

use crate::PostgresStore;

pub(crate) use selection::first_visible;
pub(crate) use target::{Part, Target};

#[async_trait]
impl Records for PostgresStore {
    async fn list_records(&self, plan: &RecordsPlan) -> Result<RecordsPage, StoreError> {
        let session = self.reading(plan.read().subject_id()).await?;
        let answer = list::list(&session, plan).await;
        Ok(session.end(answer).await?)
    }

    async fn list_changes(&self, plan: &ChangesPlan) -> Result<ChangesOutcome, StoreError> {
        let session = self.reading(plan.read().subject_id()).await?;
        let answer = changes::list(&session, plan).await;
        Ok(session.end(answer).await?)
    }

    async fn visible_changes(
        &self,
        questions: &[(ReadPlan, u64)],
        most: u32,
    ) -> Result<Vec<Option<VisibleChanges>>, StoreError> {
        let mut answers = Vec::with_capacity(questions.len());
        for (read, after) in questions {
            let session = self.reading(read.subject_id()).await?;
            let answer = changes::visible(&session, read, *after, most).await;
            answers.push(session.end(answer).await?);
        }
        Ok(answers)
    }

    async fn find_record(&self, plan: &RecordPlan) -> Result<Vec<RecordRow>, StoreError> {
        let session = self.reading(plan.read().subject_id()).await?;
        let answer = find::find(&session, plan).await;
        Ok(session.end(answer).await?)
    }

    async fn find_hits(
        &self,
        plan: &SearchPlan,
        hits: &[(usize, RecordKey)],
    ) -> Result<Vec<RecordRow>, StoreError> {
        let Some(part) = plan.parts().first() else { return Ok(Vec::new()) };
        let session = self.reading(part.read().subject_id()).await?;
        let answer = hits::find(&session, plan, hits).await;
        Ok(session.end(answer).await?)
    }

    async fn filtered_keys(
        &self,
        plan: &SearchPlan,
        most: u32,
    ) -> Result<Option<Vec<(usize, RecordKey)>>, StoreError> {
        let Some(part) = plan.parts().first() else { return Ok(Some(Vec::new())) };
        let session = self.reading(part.read().subject_id()).await?;
        let answer = hits::filtered(&session, plan, most).await;
        Ok(session.end(answer).await?)
    }

    async fn aggregate(&self, plan: &AggregatePlan) -> Result<Aggregate, StoreError> {
        let session = self.reading(plan.read().subject_id()).await?;
        let answer = aggregate::aggregate(&session, plan).await;
        Ok(session.end(answer).await?)
    }

    async fn summarize(&self, plan: &ReadPlan) -> Result<Vec<Summary>, StoreError> {
        let session = self.reading(plan.subject_id()).await?;
        let answer = summary::summarize(&session, plan).await;
        Ok(session.end(answer).await?)
    }
}
