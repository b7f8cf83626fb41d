//! One page of changes, as far as a grant's own fields and records tell them.
//!
//! Entries stand, per connection, in the order of the latest change the reader may see: a change to a
//! field outside the grant cannot move one. Candidates are the places records have in `revisions`; a
//! record is told at the one of them where its latest visible change stands.

use pdpp_access::{ChangesPlan, ChangesSince, Epoch, ReadPlan};
use pdpp_store::{ChangeEntry, ChangesFilling, ChangesOutcome, VisibleChanges};
use pdpp_wire::Instant;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::rows::{ById, Stored, record_key, visible_change};
use super::selection::{Selection, is_visible};
use super::target::{Part, Target};
use crate::fault::{Fault, Outcome};
use crate::sequence::{SubjectRow, signed, unsigned};
use crate::statement::prepare;

/// Up to so many records of a narrow grant are sorted for each page; more are met by walking the stream.
const SORTED: i64 = 20_000;

pub(super) fn list(connection: &Connection, plan: &ChangesPlan) -> Outcome<ChangesOutcome> {
    let target = Target::resolve(connection, plan.read())?;
    let from = plan.from();
    let now = current(connection, plan.read(), &target)?;
    let Some(horizon) = from.horizon(now) else { return Ok(ChangesOutcome::Expired) };
    let session = Session {
        connection,
        target: &target,
        since: from.since.as_ref().map_or(0, |since| since.sequence),
        horizon: horizon.sequence,
    };
    let mut page = ChangesFilling::new(plan.limit());
    for part in &target.parts {
        if page.has_more {
            break;
        }
        let Some(after) = from.start_in(part.plan.connection_id()) else { continue };
        session.collect(part, after, &mut page)?;
    }
    Ok(ChangesOutcome::Page(page.page(from, horizon)))
}

/// What a session from a position would tell, counted up to a bound; the entries themselves stay where they are.
pub(super) fn visible(
    connection: &Connection,
    read: &ReadPlan,
    after: u64,
    most: u32,
) -> Outcome<Option<VisibleChanges>> {
    let target = Target::resolve(connection, read)?;
    let now = current(connection, read, &target)?;
    let session = Session { connection, target: &target, since: after, horizon: now.sequence };
    // The entry a page has no room for counts too, and is not fetched.
    let mut page = ChangesFilling::new(most.saturating_sub(1));
    for part in &target.parts {
        if page.has_more {
            break;
        }
        session.collect(part, 0, &mut page)?;
    }
    let count = page.met();
    let since = ChangesSince { sequence: after, ..now };
    Ok((count > 0).then_some(VisibleChanges { since, count }))
}

/// Where the history stands now, for the plan's connections that exist.
fn current(connection: &Connection, read: &ReadPlan, target: &Target<'_>) -> Outcome<ChangesSince> {
    let sequence = unsigned(SubjectRow::find(connection, read.subject_id())?.sequence)?;
    let existing = target.parts.iter().filter_map(|part| Some((part, part.scope?)));
    let epochs =
        existing.map(|(part, scope)| (part.plan.connection_id().clone(), Epoch(scope.epoch.cast_unsigned())));
    Ok(ChangesSince { sequence, epochs: epochs.collect() })
}

/// What all pages of one session share.
struct Session<'t> {
    connection: &'t Connection,
    target: &'t Target<'t>,
    since: u64,
    horizon: u64,
}

impl Session<'_> {
    /// Adds a part's entries after a position, until the page has no room for one.
    fn collect(&self, part: &Part<'_>, after: u64, page: &mut ChangesFilling) -> Outcome<()> {
        let Some(scope) = part.scope else { return Ok(()) };
        let Some(visible) = Selection::of(self.target, part, &[])? else { return Ok(()) };
        let after = after.max(self.since);
        if self.is_narrow(part, &visible)? {
            return self.collect_sorted(part, &visible, after, page);
        }
        let sql = "SELECT sequence, record_id FROM revisions
                   WHERE scope_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence";
        let mut statement = prepare(self.connection, sql)?;
        let mut places = statement.query([scope.id, signed(after)?, signed(self.horizon)?])?;
        while !page.has_more
            && let Some(row) = places.next()?
        {
            self.add(part, unsigned(row.get(0)?)?, row.get(1)?, page)?;
        }
        Ok(())
    }

    /// From the beginning, what a grant sees of a stream is all there is to tell; when that is
    /// little, it is gone through instead of the stream.
    fn is_narrow(&self, part: &Part<'_>, visible: &Selection) -> Outcome<bool> {
        let may_be = self.since == 0 && !part.plan.sees_every_record();
        Ok(may_be && visible.is_at_most(self.connection, SORTED)?)
    }

    fn collect_sorted(
        &self,
        part: &Part<'_>,
        visible: &Selection,
        after: u64,
        page: &mut ChangesFilling,
    ) -> Outcome<()> {
        let sql = format!(
            "SELECT r.id, r.created_seq, r.emitted_at, r.history
             FROM ({}) AS v CROSS JOIN records AS r ON r.id = v.record_id",
            visible.sql("t.record_id", "")
        );
        let mut statement = prepare(self.connection, &sql)?;
        let mut records = statement.query(params_from_iter(visible.values()))?;
        let mut places = Vec::new();
        while let Some(row) = records.next()? {
            let history: Option<String> = row.get(3)?;
            let (changed, _) =
                visible_change(history.as_deref(), row.get(1)?, row.get(2)?, part.plan.granted())?;
            if changed > after && changed <= self.horizon {
                places.push((changed, row.get(0)?));
            }
        }
        places.sort_unstable();
        for (sequence, id) in places {
            if page.has_more {
                break;
            }
            self.add(part, sequence, id, page)?;
        }
        Ok(())
    }

    /// Adds the entry that a record has at a place, if any.
    fn add(&self, part: &Part<'_>, sequence: u64, id: i64, page: &mut ChangesFilling) -> Outcome<()> {
        let sql = "SELECT key, deleted_seq, created_seq, emitted_at, history FROM records WHERE id = ?";
        let (key, deleted_seq, changed) = prepare(self.connection, sql)?.query_row([id], |row| {
            let history: Option<String> = row.get(4)?;
            let changed = visible_change(history.as_deref(), row.get(2)?, row.get(3)?, part.plan.granted());
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?, changed))
        })?;
        // What is hidden, or told elsewhere, is not even fetched.
        if deleted_seq.is_none()
            && (changed?.0 != sequence || !is_visible(self.connection, self.target, part, &key, id)?)
        {
            return Ok(());
        }
        let is_full = page.room() == 0;
        // Of what comes after a full page nothing is fetched.
        let longest = if is_full { -1 } else { page.budget.room(part.plan.shown()) };
        let stored = ById::new(self.connection)?.get(id, longest)?;
        if deleted_seq.is_some() && !self.tells_deletion(part, sequence, &stored)? {
            return Ok(());
        }
        let entry = match deleted_seq {
            _ if is_full => None,
            Some(_) => Some(tombstone(part, stored)?),
            None => stored.show_within(part, &mut page.budget)?.map(ChangeEntry::Live),
        };
        match entry {
            Some(entry) => page.push(part.plan.connection_id(), sequence, entry),
            None => page.has_more = true,
        }
        Ok(())
    }

    /// Whether the reader may have seen the record at its token: in this life of it, or in one before.
    fn tells_deletion(&self, part: &Part<'_>, deleted: u64, stored: &Stored) -> Outcome<bool> {
        let since = signed(self.since)?;
        if stored.created_seq <= since && self.since < deleted {
            return Ok(self.was_visible(part, &stored.key, stored.consent_at));
        }
        let sql = "SELECT consent_at FROM past_lives
                   WHERE record_id = ?1 AND created_seq <= ?2 AND deleted_seq > ?2";
        let lived: Option<Option<i64>> =
            prepare(self.connection, sql)?.query_row([stored.id, since], |row| row.get(0)).optional()?;
        Ok(lived.is_some_and(|consent_at| self.was_visible(part, &stored.key, consent_at)))
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

fn tombstone(part: &Part<'_>, stored: Stored) -> Outcome<ChangeEntry> {
    let deleted_at = stored.deleted_at.ok_or_else(|| Fault::damaged("a tombstone has no time"))?;
    let deleted_at = Instant::from_micros(deleted_at);
    Ok(ChangeEntry::Deleted { part: part.index, key: record_key(stored.key)?, deleted_at })
}
