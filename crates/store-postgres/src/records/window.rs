//! The ends of a field's values: what a window tells of time, and what the least and the greatest are.

use futures_util::future::try_join_all;
use pdpp_access::{Direction, RecordsPlan};
use pdpp_store::WindowBounds;
use pdpp_wire::Instant;

use super::condition::{Column, Condition};
use super::selection::{Drive, Selection};
use super::target::Target;
use super::walk::{By, Walk};
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::value::Held;

/// Least and greatest consent time over all pages, if the plan may tell them and there is one.
pub(super) async fn bounds(
    session: &Session,
    target: &Target<'_>,
    plan: &RecordsPlan,
) -> Outcome<Option<WindowBounds>> {
    let Some(place) = plan.window_field().and_then(|field| target.layout.place(field)) else {
        return Ok(None);
    };
    let mut bounds: Option<WindowBounds> = None;
    for part in &target.parts {
        let Some(selection) = Selection::of(target, part, plan.filter())? else { continue };
        let ends = [Direction::Ascending, Direction::Descending]
            .map(|from| end(session, &selection, place.field, from));
        let ends = try_join_all(ends).await?;
        let ends = ends.iter().map(|end| end.as_deref().map(instant).transpose());
        if let [Some(earliest), Some(latest)] = ends.collect::<Outcome<Vec<_>>>()?[..] {
            bounds = Some(bounds.map_or(WindowBounds { earliest, latest }, |so_far| WindowBounds {
                earliest: so_far.earliest.min(earliest),
                latest: so_far.latest.max(latest),
            }));
        }
    }
    Ok(bounds)
}

/// The first value of a field from one end, if any record has one.
pub(super) async fn end(
    session: &Session,
    selection: &Selection,
    field: i32,
    from: Direction,
) -> Outcome<Option<Vec<u8>>> {
    let mut selection = selection.clone();
    selection.and(Condition::present(Column::Field(field)));
    let walk = Walk {
        selection: &selection,
        drive: Drive::Field(field),
        by: By::Value,
        direction: from,
        after: None,
    };
    Ok(walk.first(session, 1).await?.first().map(|row| row.get(2)))
}

fn instant(bytes: &[u8]) -> Outcome<Instant> {
    match Held::read(bytes) {
        Some(Held::Instant(at)) => Ok(at),
        _ => Err(Fault::damaged("a time column holds no time")),
    }
}
