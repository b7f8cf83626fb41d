//! Quotas, and what is used of them, in the subject's row.

use async_trait::async_trait;
use pdpp_store::{Growth, Quota, Quotas, StoreError, Usage};
use pdpp_wire::SubjectId;
use rusqlite::{Connection, params};

use crate::SqliteStore;
use crate::fault::Outcome;
use crate::owners::has_subject;
use crate::sequence::{SubjectRow, signed};
use crate::statement::prepare;

#[async_trait]
impl Quotas for SqliteStore {
    async fn find_quota(&self, subject_id: &SubjectId) -> Result<Quota, StoreError> {
        let subject_id = subject_id.clone();
        self.glance(move |connection| Ok(SubjectRow::find(connection, &subject_id)?.quota)).await
    }

    async fn set_quota(&self, subject_id: &SubjectId, quota: Quota) -> Result<bool, StoreError> {
        let subject_id = subject_id.clone();
        self.write(move |connection| set(connection, &subject_id, quota)).await
    }

    async fn find_usage(&self, subject_id: &SubjectId) -> Result<Usage, StoreError> {
        let subject_id = subject_id.clone();
        self.glance(move |connection| Ok(SubjectRow::find(connection, &subject_id)?.usage)).await
    }
}

fn set(connection: &Connection, subject_id: &SubjectId, quota: Quota) -> Outcome<bool> {
    if !has_subject(connection, subject_id)? {
        return Ok(false);
    }
    let id = SubjectRow::ensure(connection, subject_id)?.id;
    let sql = "UPDATE subjects SET quota_records = ?, quota_bytes = ?, quota_requests = ? WHERE id = ?";
    let (records, bytes) = (quota.records.map(signed).transpose()?, quota.bytes.map(signed).transpose()?);
    prepare(connection, sql)?.execute(params![records, bytes, quota.requests_per_minute, id])?;
    Ok(true)
}

/// Counts a change of what a subject has.
pub(crate) fn count(connection: &Connection, subject_id: &SubjectId, growth: Growth) -> Outcome<()> {
    let sql = "UPDATE subjects SET used_records = used_records + ?, used_bytes = used_bytes + ? WHERE subject_id = ?";
    prepare(connection, sql)?.execute(params![growth.records, growth.bytes, subject_id.as_str()])?;
    Ok(())
}

/// Counts everything a subject has anew, for whoever put it there row by row.
pub(crate) fn recount(connection: &Connection, subject_id: &SubjectId) -> Outcome<()> {
    let sql = "UPDATE subjects SET
                   used_records = (SELECT coalesce(sum(live_count), 0) FROM scopes WHERE subject_id = ?1),
                   used_bytes = (SELECT coalesce(sum(octet_length(r.data)), 0) FROM scopes AS s
                                 CROSS JOIN records AS r ON r.scope_id = s.id WHERE s.subject_id = ?1)
                       + (SELECT coalesce(sum(size_bytes), 0) FROM blobs WHERE subject_id = ?1)
               WHERE subject_id = ?1";
    connection.execute(sql, [subject_id.as_str()])?;
    Ok(())
}
