//! A subject's row: the numbers of its changes and of its catalogue, what it may have and what it has.

use pdpp_store::{Growth, Quota, Room, Usage};
use pdpp_wire::SubjectId;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::fault::{Fault, Outcome};
use crate::statement::prepare;

/// A subject's row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubjectRow {
    pub(crate) id: i64,
    pub(crate) sequence: i64,
    pub(crate) generation: i64,
    pub(crate) quota: Quota,
    pub(crate) usage: Usage,
}

impl SubjectRow {
    /// The row; all zero before the subject's first write.
    pub(crate) fn find(connection: &Connection, subject_id: &SubjectId) -> Outcome<Self> {
        let sql = "SELECT id, sequence, generation, quota_records, quota_bytes, quota_requests, used_records, used_bytes
                   FROM subjects WHERE subject_id = ?";
        let row = prepare(connection, sql)?.query_row([subject_id.as_str()], Self::read);
        Ok(row.optional()?.unwrap_or_default())
    }

    /// The number of its catalogue alone.
    pub(crate) fn find_generation(connection: &Connection, subject_id: &SubjectId) -> Outcome<i64> {
        let sql = "SELECT generation FROM subjects WHERE subject_id = ?";
        let found = prepare(connection, sql)?.query_row([subject_id.as_str()], |row| row.get(0));
        Ok(found.optional()?.unwrap_or_default())
    }

    /// The row, made when it is missing.
    pub(crate) fn ensure(connection: &Connection, subject_id: &SubjectId) -> Outcome<Self> {
        let found = Self::find(connection, subject_id)?;
        if found.id != 0 {
            return Ok(found);
        }
        connection
            .prepare_cached("INSERT INTO subjects (subject_id) VALUES (?)")?
            .execute([subject_id.as_str()])?;
        Self::find(connection, subject_id)
    }

    pub(crate) fn store(&self, connection: &Connection) -> Outcome<()> {
        self.store_grown(connection, Growth::default())
    }

    /// The same, with what the subject has more now, or less. It is added to what is counted there by then.
    pub(crate) fn store_grown(&self, connection: &Connection, growth: Growth) -> Outcome<()> {
        let sql = "UPDATE subjects SET sequence = ?, generation = ?, used_records = used_records + ?,
                       used_bytes = used_bytes + ? WHERE id = ?";
        let values = params![self.sequence, self.generation, growth.records, growth.bytes, self.id];
        connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// What is left of its quota.
    pub(crate) fn room(&self) -> Room {
        Room::new(self.quota, self.usage)
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        // No count is below zero; a limit that were would leave no room at all.
        let count = |at| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0));
        let limit = |at| {
            let stored = row.get::<_, Option<i64>>(at)?;
            Ok::<_, rusqlite::Error>(stored.map(|limit| u64::try_from(limit).unwrap_or(0)))
        };
        Ok(Self {
            id: row.get(0)?,
            sequence: row.get(1)?,
            generation: row.get(2)?,
            quota: Quota { records: limit(3)?, bytes: limit(4)?, requests_per_minute: row.get(5)? },
            usage: Usage { records: count(6)?, bytes: count(7)? },
        })
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
