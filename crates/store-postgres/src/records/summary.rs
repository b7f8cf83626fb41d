//! How many records each part sees, and when the latest visible change was emitted.

use std::pin::pin;

use futures_util::TryStreamExt as _;
use futures_util::future::try_join_all;
use pdpp_access::ReadPlan;
use pdpp_store::Summary;
use pdpp_wire::Instant;
use tokio_postgres::Row;

use super::portal::Portal;
use super::rows::visible_change;
use super::selection::{Selection, count};
use super::target::{Part, Target};
use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::unsigned;

/// How many of the latest emissions are looked at before the visible records are gone through
/// instead: a grant that sees little of a stream must not pay for all of it.
const LATEST: usize = 2_000;
/// The latest mostly tells at once.
const GLANCE: i64 = 50;

pub(super) async fn summarize(session: &Session, plan: &ReadPlan) -> Outcome<Vec<Summary>> {
    let target = Target::resolve(session, plan).await?;
    try_join_all(target.parts.iter().map(|part| summarize_part(session, &target, part))).await
}

async fn summarize_part(session: &Session, target: &Target<'_>, part: &Part<'_>) -> Outcome<Summary> {
    let selection = Selection::of(target, part, &[])?;
    let record_count = unsigned(count(session, selection.as_ref()).await?)?;
    let last_updated = match selection {
        Some(selection) if record_count > 0 => match walk_latest(session, part, &selection).await? {
            Step::Decided(latest) => latest,
            Step::TooLong | Step::Open => walk_visible(session, part, &selection).await?,
        },
        _ => None,
    };
    Ok(Summary { record_count, last_updated })
}

/// How far a walk over the latest emissions has come.
enum Step {
    Decided(Option<Instant>),
    TooLong,
    Open,
}

/// A walk from the latest emission down, until nothing earlier can be later.
struct Latest<'p> {
    part: &'p Part<'p>,
    best: Option<Instant>,
    seen: usize,
}

impl Latest<'_> {
    fn look(&mut self, row: &Row) -> Outcome<Step> {
        let top = Instant::from_micros(row.get(4));
        if self.best.is_some_and(|best| top <= best) {
            return Ok(Step::Decided(self.best));
        }
        self.seen += 1;
        if self.seen > LATEST && !self.part.plan.sees_every_record() {
            return Ok(Step::TooLong);
        }
        let key: &str = row.get(0);
        let is_listed = self.part.plan.resources().is_none_or(|keys| keys.contains(key));
        if is_listed && row.get::<_, Option<bool>>(5) == Some(true) {
            let granted = self.part.plan.granted();
            let (_, at) = visible_change(row.get(3), row.get(1), row.get(2), granted)?;
            self.best = self.best.max(Some(at));
        }
        Ok(Step::Open)
    }
}

async fn walk_latest(session: &Session, part: &Part<'_>, selection: &Selection) -> Outcome<Step> {
    let mut bindings = selection.bindings();
    let passes = selection.passes(&mut bindings);
    let sql = format!(
        "SELECT t.key, t.created_seq, t.emitted_at, t.history, t.emitted_top, ({passes}) FROM records AS t
         WHERE t.subject_id = $1 AND t.scope_id = $2 AND t.deleted_seq IS NULL ORDER BY t.emitted_top DESC"
    );
    let mut latest = Latest { part, best: None, seen: 0 };
    let glance = bindings.query(session, &format!("{sql} LIMIT {GLANCE}")).await?;
    for row in &glance {
        match latest.look(row)? {
            Step::Open => {}
            step => return Ok(step),
        }
    }
    if i64::try_from(glance.len()).is_ok_and(|seen| seen < GLANCE) {
        return Ok(Step::Decided(latest.best));
    }
    let mut latest = Latest { part, best: None, seen: 0 };
    let mut rows = Portal::open(session, &format!("latest_{}", part.index), &bindings, &sql).await?;
    while let Some(row) = rows.next().await? {
        match latest.look(&row)? {
            Step::Open => {}
            step => return Ok(step),
        }
    }
    Ok(Step::Decided(latest.best))
}

async fn walk_visible(session: &Session, part: &Part<'_>, selection: &Selection) -> Outcome<Option<Instant>> {
    let mut bindings = selection.bindings();
    let from = selection.with_record(&mut bindings);
    let sql = format!("SELECT r.created_seq, r.emitted_at, r.history {from}");
    let mut rows = pin!(bindings.stream(session, &sql).await?);
    let mut best = None;
    while let Some(row) = rows.try_next().await? {
        let (_, at) = visible_change(row.get(2), row.get(0), row.get(1), part.plan.granted())?;
        best = best.max(Some(at));
    }
    Ok(best)
}
