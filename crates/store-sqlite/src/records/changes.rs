//! One page of changes, as far as a grant's own fields and records tell them.
//!
//! Entries stand in the order of their creation, per connection: a change to a field outside the
//! grant cannot move one. Candidates are the records whose version is newer than the token; which
//! of them are shown is decided record by record.

use pdpp_access::{ChangesPlan, ChangesPosition, ChangesSince, Epoch};
use pdpp_store::{ChangeEntry, ChangesOutcome, ChangesPage};
use pdpp_wire::{ConnectionId, Instant};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, Row, params_from_iter};

use super::budget::Budget;
use super::rows::{self, Stored, record_key};
use super::selection::{Selection, is_visible};
use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::sequence::{SubjectRow, unsigned};
use crate::statement::prepare;

/// Up to so many candidates are sorted for each page; more are met by walking the whole stream once.
const SORTED: i64 = 20_000;

pub(super) fn list(connection: &Connection, plan: &ChangesPlan) -> Outcome<ChangesOutcome> {
    let target = Target::resolve(connection, plan.read())?;
    let from = plan.from();
    let now = current(connection, plan, &target)?;
    let is_stale =
        |earlier: &Option<ChangesSince>| earlier.as_ref().is_some_and(|at| at.epochs != now.epochs);
    if is_stale(&from.since) || is_stale(&from.horizon) {
        return Ok(ChangesOutcome::Expired);
    }
    let horizon = from.horizon.clone().unwrap_or(now);
    let session = Session {
        connection,
        target: &target,
        since: from.since.as_ref().map_or(0, |since| since.sequence),
        horizon: horizon.sequence,
    };
    let mut page = Page {
        found: Vec::new(),
        limit: usize::try_from(plan.limit()).unwrap_or(usize::MAX),
        budget: Budget::of_page(),
        has_more: false,
    };
    for part in &target.parts {
        if page.has_more {
            break;
        }
        let Some(after) = start(from.after.as_ref(), part.plan.connection_id()) else { continue };
        session.collect(part, after, &mut page)?;
    }
    let last = page.found.last().filter(|_| page.has_more);
    let next = last.map(|found| ChangesPosition {
        since: from.since.clone(),
        horizon: Some(horizon.clone()),
        after: Some((found.connection_id.clone(), Epoch(found.created_seq))),
    });
    let entries = page.found.into_iter().map(|found| found.entry).collect();
    Ok(ChangesOutcome::Page(ChangesPage { entries, next, horizon }))
}

/// Where the history stands now, for the plan's connections that exist.
fn current(connection: &Connection, plan: &ChangesPlan, target: &Target<'_>) -> Outcome<ChangesSince> {
    let sequence = unsigned(SubjectRow::find(connection, plan.read().subject_id())?.sequence)?;
    let existing = target.parts.iter().filter_map(|part| Some((part, part.scope?)));
    let epochs =
        existing.map(|(part, scope)| (part.plan.connection_id().clone(), Epoch(scope.epoch.cast_unsigned())));
    Ok(ChangesSince { sequence, epochs: epochs.collect() })
}

/// Where a page starts within a connection; `None` when earlier pages finished it.
fn start(after: Option<&(ConnectionId, Epoch)>, connection_id: &ConnectionId) -> Option<u64> {
    match after {
        Some((last, Epoch(created_seq))) if last == connection_id => Some(*created_seq),
        Some((last, _)) if connection_id < last => None,
        _ => Some(0),
    }
}

/// One entry and where it stands.
struct Found {
    connection_id: ConnectionId,
    created_seq: u64,
    entry: ChangeEntry,
}

/// A page as it fills.
struct Page {
    found: Vec<Found>,
    limit: usize,
    budget: Budget,
    /// Whether an entry was met that it has no room for.
    has_more: bool,
}

impl Page {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// The longest stored text worth fetching; of what comes after a full page, none.
    fn room(&self, part: &Part<'_>) -> i64 {
        if self.is_full() { -1 } else { self.budget.room(part) }
    }
}

/// What all pages of one session share.
struct Session<'t> {
    connection: &'t Connection,
    target: &'t Target<'t>,
    since: u64,
    horizon: u64,
}

impl Session<'_> {
    /// Adds a part's entries after a creation sequence, until the page has no room for one.
    fn collect(&self, part: &Part<'_>, after: u64, page: &mut Page) -> Outcome<()> {
        let Some(scope) = part.scope else { return Ok(()) };
        let Some(visible) = Selection::of(self.target, part, &[])? else { return Ok(()) };
        let visible = self.few_visible(part, visible)?;
        let (sql, values): (String, Vec<SqlValue>) = match &visible {
            Some(visible) => (visible_sql(visible), visible.values().cloned().collect()),
            None => (self.changed_sql(scope.id)?, vec![scope.id.into(), signed(self.since)?.into()]),
        };
        let bounds = [signed(after)?.into(), signed(self.horizon)?.into()];
        let mut statement = prepare(self.connection, &sql)?;
        let mut candidates = statement.query(params_from_iter(values.iter().chain(&bounds)))?;
        while !page.has_more
            && let Some(row) = candidates.next()?
        {
            self.add(part, row, page)?;
        }
        Ok(())
    }

    /// From the beginning, what a grant sees of a stream is all there is to tell; when that is
    /// little, it is gone through instead of the stream.
    fn few_visible(&self, part: &Part<'_>, visible: Selection) -> Outcome<Option<Selection>> {
        let is_narrow = self.since == 0 && !part.plan.sees_every_record();
        Ok(if is_narrow && visible.is_at_most(self.connection, SORTED)? { Some(visible) } else { None })
    }

    fn changed_sql(&self, scope_id: i64) -> Outcome<String> {
        let index = if self.is_few(scope_id)? { "records_by_version" } else { "records_by_creation" };
        Ok(format!(
            "SELECT id, key, deleted_seq FROM records INDEXED BY {index}
             WHERE scope_id = ? AND version > ? AND created_seq > ? AND created_seq <= ? ORDER BY created_seq"
        ))
    }

    /// Whether so few records changed that sorting them beats walking the stream.
    fn is_few(&self, scope_id: i64) -> Outcome<bool> {
        if self.since == 0 {
            return Ok(false);
        }
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM records WHERE scope_id = ? AND version > ? LIMIT ?)";
        let count: i64 = prepare(self.connection, sql)?
            .query_row((scope_id, signed(self.since)?, SORTED + 1), |row| row.get(0))?;
        Ok(count <= SORTED)
    }

    /// Adds a candidate's entry, if it has one.
    fn add(&self, part: &Part<'_>, candidate: &Row<'_>, page: &mut Page) -> Outcome<()> {
        let (id, key, deleted_seq): (i64, String, Option<i64>) =
            (candidate.get(0)?, candidate.get(1)?, candidate.get(2)?);
        // What is hidden is not even fetched.
        if deleted_seq.is_none() && !is_visible(self.connection, self.target, part, &key, id)? {
            return Ok(());
        }
        let stored = rows::get(self.connection, id, page.room(part))?;
        let is_told = match deleted_seq {
            Some(deleted_seq) => self.tells_deletion(part, deleted_seq, &stored)?,
            None => self.tells_change(part, &stored)?,
        };
        if !is_told {
            return Ok(());
        }
        let created_seq = unsigned(stored.created_seq)?;
        let entry = match deleted_seq {
            _ if page.is_full() => None,
            Some(_) => Some(tombstone(part, stored)?),
            None => stored.show_within(part, &mut page.budget)?.map(ChangeEntry::Live),
        };
        match entry {
            Some(entry) => {
                let connection_id = part.plan.connection_id().clone();
                page.found.push(Found { connection_id, created_seq, entry });
            }
            None => page.has_more = true,
        }
        Ok(())
    }

    fn tells_change(&self, part: &Part<'_>, stored: &Stored) -> Outcome<bool> {
        let (changed, _) = stored.visible_change(part.plan.granted())?;
        Ok(self.since < changed && changed <= self.horizon)
    }

    /// Whether it is a record the reader may have seen, and that is gone.
    fn tells_deletion(&self, part: &Part<'_>, deleted_seq: i64, stored: &Stored) -> Outcome<bool> {
        let (created, deleted) = (unsigned(stored.created_seq)?, unsigned(deleted_seq)?);
        let is_new = created <= self.since && self.since < deleted && deleted <= self.horizon;
        Ok(is_new && self.was_visible(part, stored))
    }

    /// Whether a deleted record's last values satisfied the grant. Only its key and its consent time
    /// are still known; a limit on any other field cannot be checked, so it is not met.
    fn was_visible(&self, part: &Part<'_>, stored: &Stored) -> bool {
        if part.plan.resources().is_some_and(|keys| !keys.contains(stored.key.as_str())) {
            return false;
        }
        let Some(bound) = part.plan.time() else { return true };
        if self.target.declaration.consent_time_field() != Some(bound.field.as_str()) {
            return false;
        }
        let Some(at) = stored.consent_at.map(Instant::from_micros) else { return false };
        bound.since.is_none_or(|since| at >= since) && bound.until.is_none_or(|until| at < until)
    }
}

fn tombstone(part: &Part<'_>, stored: Stored) -> Outcome<ChangeEntry> {
    let deleted_at = stored.deleted_at.ok_or_else(|| Fault::damaged("a tombstone has no time"))?;
    let deleted_at = Instant::from_micros(deleted_at);
    Ok(ChangeEntry::Deleted { part: part.index, key: record_key(stored.key)?, deleted_at })
}

/// What a grant sees, in the order of its creation.
fn visible_sql(visible: &Selection) -> String {
    format!(
        "SELECT r.id, r.key, r.deleted_seq FROM ({}) AS v CROSS JOIN records AS r ON r.id = v.record_id
         WHERE r.created_seq > ? AND r.created_seq <= ? ORDER BY r.created_seq",
        visible.sql("t.record_id", "")
    )
}

fn signed(sequence: u64) -> Outcome<i64> {
    i64::try_from(sequence).map_err(|_| Fault::damaged("a position lies beyond every sequence"))
}
