//! Fetches the records of an answer: the only place where reads touch a record's JSON.

use pdpp_access::FieldSet;
use pdpp_store::{FieldHistory, PAGE_BYTES, PageBudget, RecordRow, project};
use pdpp_wire::{Instant, RecordKey, SubjectId};
use tokio_postgres::Row;

use super::target::Part;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;

/// The columns of [`Stored`], of a row `t` of `records`.
pub(super) const STORED: &str =
    "t.key, t.created_seq, t.emitted_at, t.history, octet_length(t.data)::bigint, t.data";

/// A live record as it is stored.
pub(super) struct Stored {
    key: String,
    created_seq: i64,
    emitted_at: i64,
    history: Option<String>,
    length: Option<i64>,
    /// Left out when there was no room for it.
    data: Option<String>,
}

/// What becomes of a record that is to be shown.
enum Shown {
    Row(RecordRow),
    /// It does not fit.
    NoRoom,
    /// It may fit; its data has to be fetched.
    Unknown,
}

impl Stored {
    pub(super) fn read(row: &Row) -> Self {
        Self {
            key: row.get(0),
            created_seq: row.get(1),
            emitted_at: row.get(2),
            history: row.get(3),
            length: row.get(4),
            data: row.get(5),
        }
    }

    fn show_within(self, part: &Part<'_>, budget: &mut PageBudget) -> Outcome<Shown> {
        if let (None, Some(length)) = (&self.data, self.length) {
            return Ok(if length > budget.room(part.plan.shown()) { Shown::NoRoom } else { Shown::Unknown });
        }
        let row = self.show(part)?;
        Ok(if budget.take(row.data.get().len()) { Shown::Row(row) } else { Shown::NoRoom })
    }

    /// The record as a part shows it.
    pub(super) fn show(self, part: &Part<'_>) -> Outcome<RecordRow> {
        let (_, emitted_at) =
            visible_change(self.history.as_deref(), self.created_seq, self.emitted_at, part.plan.granted())?;
        Ok(RecordRow {
            part: part.index,
            key: record_key(self.key)?,
            emitted_at,
            data: project(live(self.data)?, part.plan.shown())?,
            expanded: Vec::new(),
        })
    }
}

/// A record to be shown: the part that shows it, and its key.
pub(super) type Wanted<'t> = (&'t Part<'t>, String);

/// Shows groups of records, of each as many as fit the budget, from its first.
pub(super) async fn show(
    session: &Session,
    subject_id: &SubjectId,
    groups: Vec<Vec<Wanted<'_>>>,
    budget: &mut PageBudget,
) -> Outcome<Vec<Vec<RecordRow>>> {
    let mut shown: Vec<Vec<RecordRow>> = groups.iter().map(|group| Vec::with_capacity(group.len())).collect();
    let wanted: Vec<(usize, Wanted<'_>)> = groups
        .into_iter()
        .enumerate()
        .flat_map(|(group, wanted)| wanted.into_iter().map(move |wanted| (group, wanted)))
        .collect();
    let (mut at, mut full) = (0, None);
    'fetching: while at < wanted.len() {
        for stored in fetch(session, subject_id, &wanted[at..]).await? {
            let (group, (part, _)) = &wanted[at];
            if full != Some(*group) {
                match stored.show_within(part, budget)? {
                    Shown::Row(row) => shown[*group].push(row),
                    Shown::NoRoom => full = Some(*group),
                    Shown::Unknown => continue 'fetching,
                }
            }
            at += 1;
        }
    }
    Ok(shown)
}

/// The records in the order they are wanted; the first with its data, those after it as far as a page's bytes go.
async fn fetch(
    session: &Session,
    subject_id: &SubjectId,
    wanted: &[(usize, Wanted<'_>)],
) -> Outcome<Vec<Stored>> {
    // A length is known without the text being read.
    let sql = "SELECT x.key, x.created_seq, x.emitted_at, x.history, x.length,
                      CASE WHEN x.n = 1 OR x.through <= $4 THEN x.data END
               FROM (SELECT w.n, r.key, r.created_seq, r.emitted_at, r.history, r.data,
                            octet_length(r.data)::bigint AS length,
                            (sum(octet_length(r.data)) OVER (ORDER BY w.n))::bigint AS through
                     FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS w(scope_id, key, n)
                     CROSS JOIN LATERAL (
                         SELECT s.key, s.created_seq, s.emitted_at, s.history, s.data, s.deleted_seq
                         FROM records AS s
                         WHERE s.subject_id = $1 AND s.scope_id = w.scope_id AND s.key = w.key OFFSET 0) AS r
                     WHERE r.deleted_seq IS NULL) AS x ORDER BY x.n";
    let damaged = || Fault::damaged("a field row has no record");
    let (mut scopes, mut keys) = (Vec::with_capacity(wanted.len()), Vec::with_capacity(wanted.len()));
    for (_, (part, key)) in wanted {
        scopes.push(part.scope.ok_or_else(damaged)?.id);
        keys.push(key.as_str());
    }
    let rows = session.query(sql, &[&subject_id.as_str(), &scopes, &keys, &PAGE_BYTES]).await?;
    if rows.len() != wanted.len() {
        return Err(damaged());
    }
    Ok(rows.iter().map(Stored::read).collect())
}

/// The latest change to a field of the set; most records have none after their creation.
pub(super) fn visible_change(
    history: Option<&str>,
    created_seq: i64,
    emitted_at: i64,
    fields: &FieldSet,
) -> Outcome<(u64, Instant)> {
    match history {
        None => Ok((unsigned(created_seq)?, Instant::from_micros(emitted_at))),
        Some(text) => {
            let history: FieldHistory = serde_json::from_str(text)
                .map_err(|_| Fault::damaged("a record's history does not parse"))?;
            Ok(history.visible_change(fields))
        }
    }
}

pub(super) fn record_key(text: String) -> Outcome<RecordKey> {
    RecordKey::parse(text).map_err(|_| Fault::damaged("a record's key is malformed"))
}

fn live(data: Option<String>) -> Outcome<String> {
    data.ok_or_else(|| Fault::damaged("a live record has no data"))
}
