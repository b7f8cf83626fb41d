//! The disclosure ledger: appended in groups, read by its owner.

mod groups;
mod query;

use async_trait::async_trait;
use pdpp_store::{DayCount, Disclosure, DisclosureFilter, Ledger, StoreError};
use pdpp_wire::{Instant, SubjectId};

pub(crate) use groups::{Groups, append};

use crate::PostgresStore;
use crate::fault::Outcome;
use crate::session::Session;

#[async_trait]
impl Ledger for PostgresStore {
    async fn append_disclosures(&self, entries: Vec<Disclosure>) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.ledger.append(self.pool(), entries).await
    }

    async fn list_disclosures(
        &self,
        subject_id: &SubjectId,
        filter: &DisclosureFilter,
    ) -> Result<Vec<Disclosure>, StoreError> {
        let session = self.reading(subject_id).await?;
        let listed = query::list(&session, subject_id, filter).await;
        Ok(session.end(listed).await?)
    }

    async fn count_by_day(
        &self,
        subject_id: &SubjectId,
        filter: &DisclosureFilter,
    ) -> Result<Vec<DayCount>, StoreError> {
        let session = self.reading(subject_id).await?;
        let counted = query::count_by_day(&session, subject_id, filter).await;
        Ok(session.end(counted).await?)
    }

    async fn prune_disclosures(&self, subject_id: &SubjectId, before: Instant) -> Result<u64, StoreError> {
        let session = self.writing(subject_id).await?;
        let pruned = prune(&session, subject_id, before).await;
        Ok(session.end(pruned).await?)
    }
}

async fn prune(session: &Session, subject_id: &SubjectId, before: Instant) -> Outcome<u64> {
    let (subject_id, before) = (subject_id.as_str(), before.micros());
    let sql = "DELETE FROM disclosure_grants WHERE subject_id = $1 AND at < $2";
    session.execute(sql, &[&subject_id, &before]).await?;
    let sql = "DELETE FROM disclosures WHERE subject_id = $1 AND at < $2";
    session.execute(sql, &[&subject_id, &before]).await
}
