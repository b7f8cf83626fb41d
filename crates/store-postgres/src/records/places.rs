//! What a reader is told at a place of the change feed.

use std::collections::HashMap;

use pdpp_wire::Instant;
use tokio_postgres::Row;

use super::rows::visible_change;
use super::selection::Selection;
use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::signed;

/// A place of a record in the change feed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) sequence: u64,
    pub(super) key: String,
}

/// What is told there.
pub(super) enum Told {
    /// The record as it is now.
    Live,
    /// That it is gone, since when.
    Gone(Instant),
}

/// What a reader sees from where it stands.
pub(super) struct Window<'t> {
    pub(super) session: &'t Session,
    pub(super) target: &'t Target<'t>,
    /// The reader knows everything up to here.
    pub(super) since: u64,
}

/// A deleted record: all that is still known of it.
struct Tombstone {
    created_seq: i64,
    deleted_at: Option<i64>,
    consent_at: Option<i64>,
}

impl Window<'_> {
    /// Those of some places where something is told. What is hidden, or told elsewhere, is not even fetched.
    pub(super) async fn tell<'p>(
        &self,
        part: &Part<'_>,
        visible: &Selection,
        places: &'p [Place],
    ) -> Outcome<Vec<(&'p Place, Told)>> {
        let rows = self.look(visible, places).await?;
        let mut told = Vec::with_capacity(places.len());
        let mut gone: Vec<(&Place, Tombstone)> = Vec::new();
        for (place, row) in places.iter().zip(&rows) {
            if row.get::<_, Option<i64>>(3).is_some() {
                let (created_seq, deleted_at, consent_at) = (row.get(0), row.get(4), row.get(5));
                gone.push((place, Tombstone { created_seq, deleted_at, consent_at }));
                continue;
            }
            let (changed, _) = visible_change(row.get(2), row.get(0), row.get(1), part.plan.granted())?;
            let is_listed = part.plan.resources().is_none_or(|keys| keys.contains(place.key.as_str()));
            if changed == place.sequence && is_listed && row.get::<_, Option<bool>>(6) == Some(true) {
                told.push((place, Told::Live));
            }
        }
        told.extend(self.tell_deletions(part, gone).await?);
        told.sort_unstable_by_key(|(place, _)| place.sequence);
        Ok(told)
    }

    /// The records at some places, without their data, and whether each satisfies the grant's conditions.
    async fn look(&self, visible: &Selection, places: &[Place]) -> Outcome<Vec<Row>> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let mut bindings = visible.bindings();
        let keys = bindings.bind(places.iter().map(|place| place.key.clone()).collect::<Vec<_>>());
        let passes = visible.passes(&mut bindings);
        let sql = format!(
            "SELECT t.created_seq, t.emitted_at, t.history, t.deleted_seq, t.deleted_at, t.consent_at, ({passes})
             FROM unnest({keys}::text[]) WITH ORDINALITY AS w(key, n) CROSS JOIN LATERAL (
                 SELECT r.key, r.ord, r.created_seq, r.emitted_at, r.history, r.deleted_seq, r.deleted_at,
                        r.consent_at
                 FROM records AS r WHERE r.subject_id = $1 AND r.scope_id = $2 AND r.key = w.key OFFSET 0) AS t
             ORDER BY w.n"
        );
        let rows = bindings.query(self.session, &sql).await?;
        if rows.len() != places.len() {
            return Err(Fault::damaged("a place in the change feed has no record"));
        }
        Ok(rows)
    }

    /// Those that the reader may have seen where it stands: in this life of them, or in one before.
    async fn tell_deletions<'p>(
        &self,
        part: &Part<'_>,
        gone: Vec<(&'p Place, Tombstone)>,
    ) -> Outcome<Vec<(&'p Place, Told)>> {
        let since = signed(self.since)?;
        let spans = |(place, tombstone): &&(&Place, Tombstone)| {
            tombstone.created_seq <= since && self.since < place.sequence
        };
        let others = gone.iter().filter(|gone| !spans(gone)).map(|(place, _)| place.key.as_str());
        let earlier = self.earlier_lives(part, others.collect(), since).await?;
        let mut told = Vec::new();
        for entry in &gone {
            let (place, tombstone) = entry;
            let lived = if spans(&entry) { Some(&tombstone.consent_at) } else { earlier.get(&place.key) };
            if lived.is_some_and(|consent_at| self.was_visible(part, &place.key, *consent_at)) {
                let at = tombstone.deleted_at.ok_or_else(|| Fault::damaged("a tombstone has no time"))?;
                told.push((*place, Told::Gone(Instant::from_micros(at))));
            }
        }
        Ok(told)
    }

    /// Of some records, the consent time in that earlier life of each which spans a position.
    async fn earlier_lives(
        &self,
        part: &Part<'_>,
        keys: Vec<&str>,
        at: i64,
    ) -> Outcome<HashMap<String, Option<i64>>> {
        let Some(scope) = part.scope.filter(|_| !keys.is_empty()) else { return Ok(HashMap::new()) };
        let sql = "SELECT p.key, p.consent_at FROM unnest($3::text[]) AS w(key) CROSS JOIN LATERAL (
                       SELECT l.key, l.consent_at FROM past_lives AS l
                       WHERE l.subject_id = $1 AND l.scope_id = $2 AND l.key = w.key
                       AND l.created_seq <= $4 AND l.deleted_seq > $4 OFFSET 0) AS p";
        let subject_id = self.target.subject_id.as_str();
        let rows = self.session.query(sql, &[&subject_id, &scope.id, &keys, &at]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Whether a deleted record's last values satisfied the grant. Only its key and its consent time
    /// are still known; a limit on any other field cannot be checked, so it is not met.
    fn was_visible(&self, part: &Part<'_>, key: &str, consent_at: Option<i64>) -> bool {
        if part.plan.resources().is_some_and(|keys| !keys.contains(key)) {
            return false;
        }
        let Some(bound) = part.plan.time() else { return true };
        if self.target.declaration.consent_time_field() != Some(bound.field.as_str()) {
            return false;
        }
        let Some(at) = consent_at.map(Instant::from_micros) else { return false };
        bound.since.is_none_or(|since| at >= since) && bound.until.is_none_or(|until| at < until)
    }
}
