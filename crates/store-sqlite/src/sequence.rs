//! A subject's row: the numbers of its changes and of its catalogue.

use pdpp_wire::SubjectId;
use rusqlite::{Connection, OptionalExtension as _};

use crate::fault::{Fault, Outcome};
use crate::statement::prepare;

/// A subject's row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubjectRow {
    pub(crate) id: i64,
    pub(crate) sequence: i64,
    pub(crate) generation: i64,
}

impl SubjectRow {
    /// The row; all zero before the subject's first write.
    pub(crate) fn find(connection: &Connection, subject_id: &SubjectId) -> Outcome<Self> {
        let sql = "SELECT id, sequence, generation FROM subjects WHERE subject_id = ?";
        let row = prepare(connection, sql)?.query_row([subject_id.as_str()], |row| {
            Ok(Self { id: row.get(0)?, sequence: row.get(1)?, generation: row.get(2)? })
        });
        Ok(row.optional()?.unwrap_or_default())
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
        let sql = "UPDATE subjects SET sequence = ?, generation = ? WHERE id = ?";
        connection.prepare_cached(sql)?.execute([self.sequence, self.generation, self.id])?;
        Ok(())
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
