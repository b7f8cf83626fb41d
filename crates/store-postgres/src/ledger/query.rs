//! A filter of disclosures as SQL. One of three indexes leads, and gives the order as well.

use std::fmt::Write as _;

use pdpp_store::{DayCount, Disclosure, DisclosureFilter};
use pdpp_wire::{ClientId, GrantId, Instant, StreamName, SubjectId};
use tokio_postgres::types::ToSql;

use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::unsigned;

pub(super) async fn list(
    session: &Session,
    subject_id: &SubjectId,
    filter: &DisclosureFilter,
) -> Outcome<Vec<Disclosure>> {
    let mut query = Query::new("d.entry", subject_id, filter);
    let order = match filter.grant_id {
        Some(_) => "g.at DESC, g.disclosure_id DESC",
        None => "d.at DESC, d.id DESC",
    };
    query.values.push(Box::new(i64::from(filter.limit)));
    let _ = write!(query.sql, " ORDER BY {order} LIMIT ${}", query.values.len());
    let damaged = |_| Fault::damaged("a disclosure");
    let rows = query.run(session).await?;
    rows.iter().map(|row| serde_json::from_str(row.get(0)).map_err(damaged)).collect()
}

/// Counts by day. Before 1970 nothing was read, so that division rounds as it should.
pub(super) async fn count_by_day(
    session: &Session,
    subject_id: &SubjectId,
    filter: &DisclosureFilter,
) -> Outcome<Vec<DayCount>> {
    let columns = "d.at / 86400000000 AS day, count(*) - count(d.refused), count(d.refused)";
    let mut query = Query::new(columns, subject_id, filter);
    query.sql.push_str(" GROUP BY 1 ORDER BY 1");
    let rows = query.run(session).await?;
    rows.iter()
        .map(|row| {
            let (served, refused) = (unsigned(row.get(1))?, unsigned(row.get(2))?);
            Ok(DayCount { day: row.get(0), served, refused })
        })
        .collect()
}

struct Query {
    sql: String,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Query {
    fn new(columns: &str, subject_id: &SubjectId, filter: &DisclosureFilter) -> Self {
        let (tables, lead) = match &filter.grant_id {
            Some(_) => (
                // `OFFSET 0` keeps the order of the lookups: the grant's entries lead.
                "disclosure_grants g CROSS JOIN LATERAL (
                     SELECT * FROM disclosures s
                     WHERE s.subject_id = $1 AND s.at = g.at AND s.id = g.disclosure_id OFFSET 0) AS d",
                "g",
            ),
            None => ("disclosures d", "d"),
        };
        let mut query = Self {
            sql: format!("SELECT {columns} FROM {tables} WHERE {lead}.subject_id = $1"),
            values: vec![Box::new(subject_id.to_string())],
        };
        query.and("g.grant_id =", filter.grant_id.as_ref().map(GrantId::to_string));
        query.and("d.client_id =", filter.client_id.as_ref().map(ClientId::to_string));
        query.and("d.stream =", filter.stream.as_ref().map(StreamName::to_string));
        query.and(&format!("{lead}.at >="), filter.since.map(Instant::micros));
        query.and(&format!("{lead}.at <"), filter.until.map(Instant::micros));
        if filter.refused_only {
            query.sql.push_str(" AND d.refused IS NOT NULL");
        }
        query
    }

    fn and<T: ToSql + Sync + Send + 'static>(&mut self, condition: &str, value: Option<T>) {
        if let Some(value) = value {
            self.values.push(Box::new(value));
            let _ = write!(self.sql, " AND {condition} ${}", self.values.len());
        }
    }

    async fn run(self, session: &Session) -> Outcome<Vec<tokio_postgres::Row>> {
        let values: Vec<&(dyn ToSql + Sync)> =
            self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        session.query(&self.sql, &values).await
    }
}
