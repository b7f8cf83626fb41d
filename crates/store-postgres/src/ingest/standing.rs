//! Records as they stand, live or buried.

use std::collections::HashMap;

use pdpp_store::{AdmittedRecord, FieldHistory};
use pdpp_wire::{Instant, RecordKey, SubjectId};

use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;

/// Data larger than this, in bytes, is read one record at a time and only when it is asked for: a batch names a
/// thousand keys, and what stands under them may be far larger than the batch.
const READ_AT_ONCE: i32 = 64 * 1024;

/// What a record's row holds.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) created_seq: i64,
    pub(super) version: i64,
    pub(super) deleted_seq: Option<i64>,
    pub(super) deleted_at: Option<i64>,
    pub(super) emitted_at: i64,
    pub(super) emitted_top: i64,
    pub(super) consent_at: Option<i64>,
    pub(super) history: Option<String>,
    pub(super) blob_id: Option<String>,
    pub(super) data: Data,
}

/// A record's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// It is buried.
    None,
    /// As JSON.
    Here(String),
    /// Large, and not read yet; its size in bytes.
    Large(i64),
}

impl Data {
    /// How many bytes it takes.
    pub(super) fn size(&self) -> i64 {
        match self {
            Self::None => 0,
            Self::Here(text) => i64::try_from(text.len()).unwrap_or(i64::MAX),
            Self::Large(size) => *size,
        }
    }
}

impl Standing {
    /// A record's history; most have none beyond their creation.
    pub(super) fn read_history(&self) -> Outcome<FieldHistory> {
        match &self.history {
            None => {
                Ok(FieldHistory::created(unsigned(self.created_seq)?, Instant::from_micros(self.emitted_at)))
            }
            Some(text) => {
                serde_json::from_str(text).map_err(|_| Fault::damaged("a record's history does not parse"))
            }
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.deleted_seq.is_none()
    }
}

/// Everything that stands under a batch's keys.
pub(super) async fn find(
    session: &Session,
    subject_id: &SubjectId,
    scope_id: i64,
    batch: &[AdmittedRecord],
) -> Outcome<HashMap<String, Standing>> {
    let mut keys: Vec<_> = batch.iter().map(|record| record.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    // A subquery that stands for itself is run once for each key, a step in the primary key; anything plainer leaves
    // the planner free to walk the whole scope, which it may believe to be small.
    let sql = "SELECT r.* FROM unnest($3::text[]) AS u (key) CROSS JOIN LATERAL (
                   SELECT key, created_seq, version, deleted_seq, deleted_at, emitted_at, emitted_top,
                          consent_at, history, blob_id, octet_length(data),
                          CASE WHEN octet_length(data) <= $4 THEN data END
                   FROM records WHERE subject_id = $1 AND scope_id = $2 AND key = u.key OFFSET 0
               ) AS r";
    let rows = session.query(sql, &[&subject_id.as_str(), &scope_id, &keys, &READ_AT_ONCE]).await?;
    let read = |row: &tokio_postgres::Row| {
        let data = match (row.get::<_, Option<i32>>(10), row.get(11)) {
            (None, _) => Data::None,
            (Some(_), Some(text)) => Data::Here(text),
            (Some(size), None) => Data::Large(size.into()),
        };
        let standing = Standing {
            created_seq: row.get(1),
            version: row.get(2),
            deleted_seq: row.get(3),
            deleted_at: row.get(4),
            emitted_at: row.get(5),
            emitted_top: row.get(6),
            consent_at: row.get(7),
            history: row.get(8),
            blob_id: row.get(9),
            data,
        };
        (row.get(0), standing)
    };
    Ok(rows.iter().map(read).collect())
}

/// A live record's data, however large.
pub(super) async fn find_data(
    session: &Session,
    subject_id: &SubjectId,
    scope_id: i64,
    key: &RecordKey,
) -> Outcome<String> {
    let sql = "SELECT data FROM records WHERE subject_id = $1 AND scope_id = $2 AND key = $3";
    let row = session.query_one(sql, &[&subject_id.as_str(), &scope_id, &key.as_str()]).await?;
    row.get::<_, Option<String>>(0).ok_or_else(|| Fault::damaged("a live record has no data"))
}
