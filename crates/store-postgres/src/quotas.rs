//! Quotas, and what is used of them, in the subject's row.

use async_trait::async_trait;
use pdpp_store::{Growth, Quota, Quotas, StoreError, Usage};
use pdpp_wire::SubjectId;

use crate::PostgresStore;
use crate::fault::Outcome;
use crate::owners::has_subject;
use crate::session::Session;
use crate::subject_row::{SubjectRow, signed};

#[async_trait]
impl Quotas for PostgresStore {
    async fn find_quota(&self, subject_id: &SubjectId) -> Result<Quota, StoreError> {
        let session = self.reading(subject_id).await?;
        let row = SubjectRow::find(&session, subject_id).await;
        Ok(session.end(row).await?.quota)
    }

    async fn set_quota(&self, subject_id: &SubjectId, quota: Quota) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let set = set(&session, subject_id, quota).await;
        Ok(session.end(set).await?)
    }

    async fn find_usage(&self, subject_id: &SubjectId) -> Result<Usage, StoreError> {
        let session = self.reading(subject_id).await?;
        let row = SubjectRow::find(&session, subject_id).await;
        Ok(session.end(row).await?.usage)
    }
}

async fn set(session: &Session, subject_id: &SubjectId, quota: Quota) -> Outcome<bool> {
    if !has_subject(session, subject_id).await? {
        return Ok(false);
    }
    SubjectRow::lock(session, subject_id).await?;
    let sql =
        "UPDATE subjects SET quota_records = $2, quota_bytes = $3, quota_requests = $4 WHERE subject_id = $1";
    let (records, bytes) = (quota.records.map(signed).transpose()?, quota.bytes.map(signed).transpose()?);
    let requests = quota.requests_per_minute.map(i64::from);
    session.execute(sql, &[&subject_id.as_str(), &records, &bytes, &requests]).await?;
    Ok(true)
}

/// Counts a change of what a subject has; the row must be locked.
pub(crate) async fn count(session: &Session, subject_id: &SubjectId, growth: Growth) -> Outcome<()> {
    let sql = "UPDATE subjects SET used_records = used_records + $2, used_bytes = used_bytes + $3
               WHERE subject_id = $1";
    session.execute(sql, &[&subject_id.as_str(), &growth.records, &growth.bytes]).await?;
    Ok(())
}

/// Counts everything a subject has anew, for whoever put it there row by row; the row must be locked.
pub(crate) async fn recount(session: &Session, subject_id: &SubjectId) -> Outcome<()> {
    session.batch("SET LOCAL statement_timeout = '1h'").await?;
    let sql = "UPDATE subjects SET
                   used_records = (SELECT coalesce(sum(live_count), 0) FROM scopes WHERE subject_id = $1),
                   used_bytes = (SELECT coalesce(sum(octet_length(data)), 0) FROM records WHERE subject_id = $1)
                       + (SELECT coalesce(sum(size_bytes), 0) FROM blobs WHERE subject_id = $1)
               WHERE subject_id = $1";
    session.execute(sql, &[&subject_id.as_str()]).await?;
    Ok(())
}
