//! Writing records: one batch, one transaction, a handful of statements.
//!
//! What stands under the batch's keys is read at once, the batch is applied to it in memory in its order, and what
//! came out is written at once. The subject's lock keeps everybody else's hands off meanwhile.

mod batch;
mod respelled;
mod standing;
mod writing;

use async_trait::async_trait;
use pdpp_access::ConnectionStatus;
use pdpp_store::{AdmittedRecord, Applied, Ingest, MAX_BATCH, StoreError, WriteTarget};
use pdpp_wire::Code;

use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::scope::Scope;
use crate::session::Session;
use crate::subject_row::SubjectRow;
use crate::{PostgresStore, orphans, purge};
use batch::Batch;

#[async_trait]
impl Ingest for PostgresStore {
    async fn apply(
        &self,
        target: &WriteTarget,
        batch: Vec<AdmittedRecord>,
    ) -> Result<Vec<Applied>, StoreError> {
        if batch.len() > MAX_BATCH {
            return Err(StoreError::Backend("a batch holds more records than one transaction takes".into()));
        }
        let session = self.writing(&target.subject_id).await?;
        // What waits for many statements at once is large.
        let applied = Box::pin(self.apply_batch(&session, target, batch)).await;
        Ok(session.end(applied).await?)
    }

    async fn purge_stream(&self, target: &WriteTarget) -> Result<u64, StoreError> {
        let session = self.writing(&target.subject_id).await?;
        let purged = purge::purge_stream(&session, self.entropy.as_ref(), target).await;
        Ok(session.end(purged).await?)
    }
}

impl PostgresStore {
    async fn apply_batch(
        &self,
        session: &Session,
        target: &WriteTarget,
        records: Vec<AdmittedRecord>,
    ) -> Outcome<Vec<Applied>> {
        let WriteTarget { subject_id, connection_id, stream } = target;
        let refuse = |code| Ok(vec![Applied::Rejected(code); records.len()]);
        let Some(mut subject) = SubjectRow::lock_known(session, subject_id).await? else {
            return refuse(Code::ConnectorInstanceNotWritable);
        };
        let catalogue = self.catalogues.load_at(session, subject_id, subject).await?;
        let Some((source, found)) = catalogue.find_connection(connection_id.as_str()) else {
            return refuse(Code::ConnectorInstanceNotWritable);
        };
        let Some(declaration) = source.manifest.find_stream(stream.as_str()) else {
            return refuse(Code::StreamNotDeclared);
        };
        if !found.is_writable() {
            return refuse(Code::ConnectorInstanceNotWritable);
        }
        let (scope, layout) = tokio::try_join!(
            Scope::find(session, subject_id, connection_id, source.key(), stream),
            Layout::find(session, subject_id, source, declaration)
        )?;
        let scope =
            scope.ok_or_else(|| Fault::damaged("a connection lacks a scope for a declared stream"))?;
        let standing = standing::find(session, subject_id, scope.id, &records).await?;
        let mut batch = Batch::new(&layout, declaration.semantics(), subject, standing);
        let mut outcomes = Vec::with_capacity(records.len());
        for record in records {
            let large = batch.left_out(&record);
            if let Some(key) = &large {
                batch.bring(key, standing::find_data(session, subject_id, scope.id, key).await?);
            }
            outcomes.push(batch.apply(record)?);
            if let Some(key) = &large {
                batch.put_away(key);
            }
        }
        let changes = batch.finish();
        if changes.is_empty() {
            return Ok(outcomes);
        }
        subject.sequence = changes.sequence;
        let wakes = found.status == ConnectionStatus::Draft && outcomes.contains(&Applied::Added);
        if wakes {
            subject.generation += 1;
        }
        tokio::try_join!(
            changes.write(session, target, scope),
            wake(session, target, wakes),
            subject.store_grown(session, subject_id, changes.growth())
        )?;
        let mut blobs = orphans::unbind(session, target, &changes.loosened).await?;
        blobs.extend(changes.unreferred);
        orphans::doom(session, subject_id, blobs).await?;
        Ok(outcomes)
    }
}

/// A draft connection takes part with its first record.
async fn wake(session: &Session, target: &WriteTarget, wakes: bool) -> Outcome<()> {
    if wakes {
        let sql = "UPDATE connections SET status = 'active' WHERE subject_id = $1 AND connection_id = $2";
        session.execute(sql, &[&target.subject_id.as_str(), &target.connection_id.as_str()]).await?;
    }
    Ok(())
}
