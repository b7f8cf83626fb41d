//! One page of changes, as far as a grant's own fields and records tell them.
//!
//! Entries stand, per connection, in the order of the latest change the reader may see: a change to a
//! field outside the grant cannot move one. Candidates are the places records have in `revisions`; a
//! record is told at the one of them where its latest visible change stands.

use std::pin::pin;

use futures_util::TryStreamExt as _;
use pdpp_access::{ChangesPlan, ChangesSince, Epoch, ReadPlan};
use pdpp_store::{ChangeEntry, ChangesFilling, ChangesOutcome, VisibleChanges};

use super::places::{Place, Told, Window};
use super::rows::{self, record_key, visible_change};
use super::selection::Selection;
use super::target::{Part, Target};
use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::{SubjectRow, signed, unsigned};

/// Up to so many records of a narrow grant are sorted for each page; more are met by walking the stream.
const SORTED: i64 = 20_000;
/// Places looked at together, at least and at most.
const FEWEST: usize = 50;
const MOST: usize = 2_000;

pub(super) async fn list(session: &Session, plan: &ChangesPlan) -> Outcome<ChangesOutcome> {
    let target = Target::resolve(session, plan.read()).await?;
    let from = plan.from();
    let now = current(session, plan.read(), &target).await?;
    let Some(horizon) = from.horizon(now) else { return Ok(ChangesOutcome::Expired) };
    let since = from.since.as_ref().map_or(0, |since| since.sequence);
    let mut page = ChangesFilling::new(plan.limit());
    let reader = Reader { window: Window { session, target: &target, since }, horizon: horizon.sequence };
    for part in &target.parts {
        if page.has_more {
            break;
        }
        let Some(after) = from.start_in(part.plan.connection_id()) else { continue };
        reader.collect(part, after, &mut page).await?;
    }
    Ok(ChangesOutcome::Page(page.page(from, horizon)))
}

/// What a session from a position would tell, counted up to a bound; the entries themselves stay where they are.
pub(super) async fn visible(
    session: &Session,
    read: &ReadPlan,
    after: u64,
    most: u32,
) -> Outcome<Option<VisibleChanges>> {
    let target = Target::resolve(session, read).await?;
    let now = current(session, read, &target).await?;
    let reader = Reader { window: Window { session, target: &target, since: after }, horizon: now.sequence };
    // The entry a page has no room for counts too, and is not fetched.
    let mut page = ChangesFilling::new(most.saturating_sub(1));
    for part in &target.parts {
        if page.has_more {
            break;
        }
        reader.collect(part, 0, &mut page).await?;
    }
    let count = page.met();
    let since = ChangesSince { sequence: after, ..now };
    Ok((count > 0).then_some(VisibleChanges { since, count }))
}

/// Where the history stands now, for the plan's connections that exist.
async fn current(session: &Session, read: &ReadPlan, target: &Target<'_>) -> Outcome<ChangesSince> {
    let sequence = unsigned(SubjectRow::find(session, read.subject_id()).await?.sequence)?;
    let existing = target.parts.iter().filter_map(|part| Some((part, part.scope?)));
    let epochs =
        existing.map(|(part, scope)| (part.plan.connection_id().clone(), Epoch(scope.epoch.cast_unsigned())));
    Ok(ChangesSince { sequence, epochs: epochs.collect() })
}

/// What all pages of one session share.
struct Reader<'t> {
    window: Window<'t>,
    horizon: u64,
}

impl Reader<'_> {
    /// Adds a part's entries after a position, until the page has no room for one.
    async fn collect(&self, part: &Part<'_>, after: u64, page: &mut ChangesFilling) -> Outcome<()> {
        let Some(scope) = part.scope else { return Ok(()) };
        let Some(visible) = Selection::of(self.window.target, part, &[])? else { return Ok(()) };
        let mut after = after.max(self.window.since);
        let mut piece = page.room().saturating_add(1).clamp(FEWEST, MOST);
        if self.is_narrow(part, &visible).await? {
            for places in self.sorted(part, &visible, after).await?.chunks(piece) {
                if page.has_more {
                    break;
                }
                self.add(part, &visible, places, page).await?;
            }
            return Ok(());
        }
        let (subject_id, horizon) = (self.window.target.subject_id.as_str(), signed(self.horizon)?);
        let sql = "SELECT sequence, key FROM revisions WHERE subject_id = $1 AND scope_id = $2
                   AND sequence > $3 AND sequence <= $4 ORDER BY sequence LIMIT $5";
        while !page.has_more {
            let (from, limit) = (signed(after)?, i64::try_from(piece).unwrap_or(i64::MAX));
            let rows =
                self.window.session.query(sql, &[&subject_id, &scope.id, &from, &horizon, &limit]).await?;
            let place =
                |row: &tokio_postgres::Row| Ok(Place { sequence: unsigned(row.get(0))?, key: row.get(1) });
            let places = rows.iter().map(place).collect::<Outcome<Vec<_>>>()?;
            self.add(part, &visible, &places, page).await?;
            let Some(last) = places.last().filter(|_| places.len() >= piece) else { break };
            after = last.sequence;
            // Whoever is told little of what there is looks at more of it at once.
            piece = piece.saturating_mul(2).min(MOST);
        }
        Ok(())
    }

    /// From the beginning, what a grant sees of a stream is all there is to tell; when that is
    /// little, it is gone through instead of the stream.
    async fn is_narrow(&self, part: &Part<'_>, visible: &Selection) -> Outcome<bool> {
        let may_be = self.window.since == 0 && !part.plan.sees_every_record();
        Ok(may_be && visible.is_at_most(self.window.session, SORTED).await?)
    }

    /// Where everything that a grant sees is told.
    async fn sorted(&self, part: &Part<'_>, visible: &Selection, after: u64) -> Outcome<Vec<Place>> {
        let mut bindings = visible.bindings();
        let from = visible.with_record(&mut bindings);
        let sql = format!("SELECT r.key, r.created_seq, r.emitted_at, r.history {from}");
        let mut rows = pin!(bindings.stream(self.window.session, &sql).await?);
        let mut places = Vec::new();
        while let Some(row) = rows.try_next().await? {
            let (sequence, _) = visible_change(row.get(3), row.get(1), row.get(2), part.plan.granted())?;
            if sequence > after && sequence <= self.horizon {
                places.push(Place { sequence, key: row.get(0) });
            }
        }
        places.sort_unstable();
        Ok(places)
    }

    /// Adds the entries that records have at these places, as far as there is room.
    async fn add(
        &self,
        part: &Part<'_>,
        visible: &Selection,
        places: &[Place],
        page: &mut ChangesFilling,
    ) -> Outcome<()> {
        let told = self.window.tell(part, visible, places).await?;
        let (fit, beyond) = told.split_at(page.room().min(told.len()));
        page.has_more = !beyond.is_empty();
        let live = fit.iter().filter(|(_, told)| matches!(told, Told::Live));
        let wanted = live.map(|(place, _)| (part, place.key.clone())).collect();
        let (session, subject_id) = (self.window.session, self.window.target.subject_id);
        let shown = rows::show(session, subject_id, vec![wanted], &mut page.budget).await?;
        let mut shown = shown.into_iter().flatten();
        for (place, told) in fit {
            let entry = match told {
                Told::Live => shown.next().map(ChangeEntry::Live),
                Told::Gone(deleted_at) => Some(ChangeEntry::Deleted {
                    part: part.index,
                    key: record_key(place.key.clone())?,
                    deleted_at: *deleted_at,
                }),
            };
            let Some(entry) = entry else {
                page.has_more = true;
                break;
            };
            page.push(part.plan.connection_id(), place.sequence, entry);
        }
        Ok(())
    }
}
