//! A subject's row: the numbers of its changes and of its catalogue, what it may have and what it has, and the lock its
//! writers take.

use pdpp_store::{Growth, Quota, Room, Usage};
use pdpp_wire::SubjectId;

use crate::fault::{Fault, Outcome};
use crate::session::Session;

/// A subject's row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubjectRow {
    pub(crate) sequence: i64,
    pub(crate) generation: i64,
    pub(crate) counter: i64,
    pub(crate) quota: Quota,
    pub(crate) usage: Usage,
}

impl SubjectRow {
    /// The row; all zero before the subject's first write.
    pub(crate) async fn find(session: &Session, subject_id: &SubjectId) -> Outcome<Self> {
        let sql =
            "SELECT sequence, generation, counter, quota_records, quota_bytes, quota_requests, used_records,
                          used_bytes FROM subjects WHERE subject_id = $1";
        Ok(session
            .query_opt(sql, &[&subject_id.as_str()])
            .await?
            .map(|row| Self::read(&row))
            .unwrap_or_default())
    }

    /// The row, made when it is missing, and locked until the transaction ends: the subject's other writers wait.
    pub(crate) async fn lock(session: &Session, subject_id: &SubjectId) -> Outcome<Self> {
        if let Some(row) = Self::lock_known(session, subject_id).await? {
            return Ok(row);
        }
        // Of two who come first at once, the second waits here for the first.
        let make = "INSERT INTO subjects (subject_id) VALUES ($1) ON CONFLICT (subject_id) DO NOTHING";
        session.execute(make, &[&subject_id.as_str()]).await?;
        let row = Self::lock_known(session, subject_id).await?;
        row.ok_or_else(|| Fault::overtaken("the subject is gone again"))
    }

    /// The same for what only a known subject can have: nobody becomes known by asking.
    pub(crate) async fn lock_known(session: &Session, subject_id: &SubjectId) -> Outcome<Option<Self>> {
        let sql =
            "SELECT sequence, generation, counter, quota_records, quota_bytes, quota_requests, used_records,
                          used_bytes FROM subjects WHERE subject_id = $1 FOR UPDATE";
        Ok(session.query_opt(sql, &[&subject_id.as_str()]).await?.map(|row| Self::read(&row)))
    }

    /// Writes the numbers back; the row must be locked.
    pub(crate) async fn store(&self, session: &Session, subject_id: &SubjectId) -> Outcome<()> {
        self.store_grown(session, subject_id, Growth::default()).await
    }

    /// The same, with what the subject has more now, or less. It is added to what is counted there by then.
    pub(crate) async fn store_grown(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        growth: Growth,
    ) -> Outcome<()> {
        let sql = "UPDATE subjects SET sequence = $2, generation = $3, counter = $4,
                       used_records = used_records + $5, used_bytes = used_bytes + $6 WHERE subject_id = $1";
        let (sequence, generation, counter) = (self.sequence, self.generation, self.counter);
        let id = subject_id.as_str();
        session
            .execute(sql, &[&id, &sequence, &generation, &counter, &growth.records, &growth.bytes])
            .await?;
        Ok(())
    }

    /// What is left of its quota.
    pub(crate) fn room(&self) -> Room {
        Room::new(self.quota, self.usage)
    }

    /// The next number for whatever needs an order of its own.
    pub(crate) fn count(&mut self) -> i64 {
        self.counter += 1;
        self.counter
    }

    fn read(row: &tokio_postgres::Row) -> Self {
        // No count is below zero; a limit that were would leave no room at all.
        let count = |at: usize| u64::try_from(row.get::<_, i64>(at)).unwrap_or(0);
        let limit = |at: usize| row.get::<_, Option<i64>>(at);
        Self {
            sequence: row.get(0),
            generation: row.get(1),
            counter: row.get(2),
            quota: Quota {
                records: limit(3).map(|limit| u64::try_from(limit).unwrap_or(0)),
                bytes: limit(4).map(|limit| u64::try_from(limit).unwrap_or(0)),
                requests_per_minute: limit(5).map(|limit| u32::try_from(limit).unwrap_or(0)),
            },
            usage: Usage { records: count(6), bytes: count(7) },
        }
    }
}

/// A stored number that cannot be negative.
pub(crate) fn unsigned(number: i64) -> Outcome<u64> {
    u64::try_from(number).map_err(|_| Fault::damaged("a count or sequence is negative"))
}

/// A position as the database keeps it.
pub(crate) fn signed(sequence: u64) -> Outcome<i64> {
    i64::try_from(sequence).map_err(|_| Fault::damaged("a position lies beyond every sequence"))
}
