//! The disclosure ledger, in a database of its own.
//!
//! Each request waits for its commit. A lone one commits on its own thread; when many append at once,
//! the worker puts those that wait together into one transaction, so the cost is per group. What is
//! committed lies in [`crate::fresh`] at first, and is put into the tables before they are listed or counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use async_trait::async_trait;
use pdpp_store::{DayCount, Disclosure, DisclosureFilter, Ledger, StoreError};
use pdpp_wire::{Code, GrantId, Instant, SubjectId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};
use crate::sequence::unsigned;

#[async_trait]
impl Ledger for SqliteStore {
    async fn append_disclosures(&self, entries: Vec<Disclosure>) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.append_fresh(entries).await
    }

    async fn list_disclosures(
        &self,
        subject_id: &SubjectId,
        filter: &DisclosureFilter,
    ) -> Result<Vec<Disclosure>, StoreError> {
        self.put_away_fresh().await?;
        let query = Query::of(subject_id, filter);
        self.ledger().read(move |connection| query.run(connection)).await
    }

    async fn count_by_day(
        &self,
        subject_id: &SubjectId,
        filter: &DisclosureFilter,
    ) -> Result<Vec<DayCount>, StoreError> {
        self.put_away_fresh().await?;
        let query = Query::of_days(subject_id, filter);
        self.ledger().read(move |connection| query.run_days(connection)).await
    }

    async fn prune_disclosures(&self, subject_id: &SubjectId, before: Instant) -> Result<u64, StoreError> {
        self.put_away_fresh().await?;
        let subject_id = subject_id.clone();
        let prune = move |connection: &Connection| prune(connection, &subject_id, before);
        self.ledger().write(prune).await
    }
}

impl SqliteStore {
    /// When a read was last served under each of these grants. Fresh entries are read where they are: whoever looks at a
    /// grant, perhaps to end it, must not need a disk that takes more.
    pub(crate) async fn last_served(
        &self,
        subject_id: &SubjectId,
        grant_ids: Vec<GrantId>,
    ) -> Result<BTreeMap<GrantId, Instant>, StoreError> {
        let subject_id = subject_id.clone();
        let look = move |connection: &Connection| {
            let sql = "SELECT g.at FROM disclosure_grants g JOIN disclosures d ON d.id = g.disclosure_id
                       WHERE g.subject_id = ?1 AND g.grant_id = ?2 AND d.refused IS NULL AND d.is_read
                       ORDER BY g.at DESC LIMIT 1";
            let mut statement = connection.prepare_cached(sql)?;
            let mut served = BTreeMap::new();
            for grant_id in &grant_ids {
                let at = statement.query_row([subject_id.as_str(), grant_id.as_str()], |row| row.get(0));
                if let Some(micros) = at.optional()? {
                    served.insert(grant_id.clone(), Instant::from_micros(micros));
                }
            }
            crate::fresh::for_each(connection, |entry, _| {
                let is_served = entry.subject_id == subject_id && entry.refused.is_none() && entry.is_read();
                for grant_id in entry.grant_ids.iter().filter(|id| is_served && grant_ids.contains(id)) {
                    let last = served.entry(grant_id.clone()).or_insert(entry.at);
                    *last = entry.at.max(*last);
                }
                Ok(())
            })?;
            Ok(served)
        };
        self.ledger().read(look).await
    }
}

/// Writes one entry into the tables.
pub(crate) fn append(connection: &Connection, entry: &Disclosure) -> Outcome<()> {
    let json = serde_json::to_string(entry).map_err(|error| StoreError::Backend(error.into()))?;
    insert(connection, entry, &json)
}

/// The same for one that is spelled already.
pub(crate) fn insert(connection: &Connection, entry: &Disclosure, json: &str) -> Outcome<()> {
    let subject_id = entry.subject_id.as_str();
    let sql = "INSERT INTO disclosures (subject_id, at, client_id, stream, refused, is_read, entry)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        subject_id,
        entry.at.micros(),
        entry.client_id.as_ref().map(AsRef::<str>::as_ref),
        entry.stream.as_ref().map(AsRef::<str>::as_ref),
        entry.refused.map(Code::as_str),
        entry.is_read(),
        json,
    ])?;
    let id = connection.last_insert_rowid();
    let sql = "INSERT OR IGNORE INTO disclosure_grants (subject_id, grant_id, at, disclosure_id)
               VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    for grant_id in &entry.grant_ids {
        statement.execute(params![subject_id, grant_id.as_str(), entry.at.micros(), id])?;
    }
    Ok(())
}

/// Drops entries, and the rows of their grants, which have the same time.
fn prune(connection: &Connection, subject_id: &SubjectId, before: Instant) -> Outcome<u64> {
    let values = params![subject_id.as_str(), before.micros()];
    // One range of the key for each grant, found by skipping from one to the next.
    let grants = "WITH RECURSIVE named (id) AS (
                      SELECT min(grant_id) FROM disclosure_grants WHERE subject_id = ?1
                      UNION ALL
                      SELECT (SELECT min(grant_id) FROM disclosure_grants WHERE subject_id = ?1 AND grant_id > named.id)
                      FROM named WHERE named.id IS NOT NULL
                  )
                  DELETE FROM disclosure_grants
                  WHERE subject_id = ?1 AND grant_id IN (SELECT id FROM named) AND at < ?2";
    connection.prepare_cached(grants)?.execute(values)?;
    let entries = "DELETE FROM disclosures WHERE subject_id = ?1 AND at < ?2";
    Ok(connection.prepare_cached(entries)?.execute(values)? as u64)
}

/// A filter as SQL. One of three indexes leads, and gives the order as well.
struct Query {
    sql: String,
    values: Vec<Value>,
}

impl Query {
    fn of(subject_id: &SubjectId, filter: &DisclosureFilter) -> Self {
        let order = match filter.grant_id {
            Some(_) => "g.at DESC, g.disclosure_id DESC",
            None => "d.at DESC, d.id DESC",
        };
        let mut query = Self::narrowed("d.entry", subject_id, filter);
        let _ = write!(query.sql, " ORDER BY {order} LIMIT ?");
        query.values.push(Value::from(filter.limit));
        query
    }

    /// Counts by day. Before 1970 nothing was read, so that division rounds as it should.
    fn of_days(subject_id: &SubjectId, filter: &DisclosureFilter) -> Self {
        let columns = "d.at / 86400000000 AS day, count(*) - count(d.refused), count(d.refused)";
        let mut query = Self::narrowed(columns, subject_id, filter);
        query.sql.push_str(" GROUP BY day ORDER BY day");
        query
    }

    fn narrowed(columns: &str, subject_id: &SubjectId, filter: &DisclosureFilter) -> Self {
        let (tables, lead) = match &filter.grant_id {
            Some(_) => ("disclosure_grants g CROSS JOIN disclosures d ON d.id = g.disclosure_id", "g"),
            None => ("disclosures d", "d"),
        };
        let mut query = Self {
            sql: format!("SELECT {columns} FROM {tables} WHERE {lead}.subject_id = ?"),
            values: vec![Value::from(subject_id.to_string())],
        };
        query.and("g.grant_id = ?", filter.grant_id.as_ref().map(ToString::to_string));
        query.and("d.client_id = ?", filter.client_id.as_ref().map(ToString::to_string));
        query.and("d.stream = ?", filter.stream.as_ref().map(ToString::to_string));
        query.and(&format!("{lead}.at >= ?"), filter.since.map(Instant::micros));
        query.and(&format!("{lead}.at < ?"), filter.until.map(Instant::micros));
        if filter.refused_only {
            query.sql.push_str(" AND d.refused IS NOT NULL");
        }
        query
    }

    fn and<T: Into<Value>>(&mut self, condition: &str, value: Option<T>) {
        if let Some(value) = value {
            self.sql.push_str(" AND ");
            self.sql.push_str(condition);
            self.values.push(value.into());
        }
    }

    fn run(self, connection: &Connection) -> Outcome<Vec<Disclosure>> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next()? {
            let json = row.get_ref(0)?.as_str().map_err(|_| Fault::damaged("a disclosure"))?;
            entries.push(serde_json::from_str(json).map_err(|_| Fault::damaged("a disclosure"))?);
        }
        Ok(entries)
    }

    fn run_days(self, connection: &Connection) -> Outcome<Vec<DayCount>> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut days = Vec::new();
        while let Some(row) = rows.next()? {
            let (served, refused) = (unsigned(row.get(1)?)?, unsigned(row.get(2)?)?);
            days.push(DayCount { day: row.get(0)?, served, refused });
        }
        Ok(days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::{LEDGER, migrate};

    /// An entry of each of these subjects and times, each under two grants.
    fn fill(connection: &Connection) {
        let entries = [("ana", 10), ("ana", 20), ("ben", 10), ("ana", 30)];
        for (id, (subject, at)) in (1_i64..).zip(entries) {
            let sql = "INSERT INTO disclosures (subject_id, at, entry) VALUES (?1, ?2, '{}')";
            connection.execute(sql, params![subject, at]).unwrap();
            for grant in ["grt_1", "grt_2"] {
                let sql = "INSERT INTO disclosure_grants (subject_id, grant_id, at, disclosure_id)
                           VALUES (?1, ?2, ?3, ?4)";
                connection.execute(sql, params![subject, grant, at, id]).unwrap();
            }
        }
    }

    fn grants(connection: &Connection) -> Vec<String> {
        let sql = "SELECT subject_id || ' ' || grant_id || ' ' || at || ' ' || disclosure_id
                   FROM disclosure_grants ORDER BY subject_id, grant_id, at, disclosure_id";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn pruned_entries_leave_no_rows_of_their_grants() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, LEDGER).unwrap();
        fill(&connection);
        let ana = SubjectId::parse("ana").unwrap();
        assert_eq!(prune(&connection, &ana, Instant::from_micros(30)).unwrap(), 2);
        let left = ["ana grt_1 30 4", "ana grt_2 30 4", "ben grt_1 10 3", "ben grt_2 10 3"];
        assert_eq!(grants(&connection), left);
        assert_eq!(prune(&connection, &ana, Instant::from_micros(30)).unwrap(), 0);
        assert_eq!(grants(&connection), left);
    }

    #[test]
    fn an_older_ledger_keeps_its_grants() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &LEDGER[..3]).unwrap();
        fill(&connection);
        let before = grants(&connection);
        assert_eq!(before.len(), 8);
        migrate(&mut connection, LEDGER).unwrap();
        assert_eq!(grants(&connection), before);
        let indexes: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%by_entry%'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(indexes, 0);
    }
}
