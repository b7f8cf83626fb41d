//! Counts by time: instants come in order, each with how often it occurs.

use pdpp_store::TimeBuckets;

use super::aggregate::Selected;
use super::tally;
use crate::fault::Outcome;
use crate::session::Session;
use crate::value::Held;

/// Counts every record that has a time.
pub(super) async fn by_time<'z>(
    session: &Session,
    selected: &Selected<'_>,
    field: i32,
    mut buckets: TimeBuckets<'z>,
) -> Outcome<TimeBuckets<'z>> {
    tally::each(session, selected, field, |tally| {
        // Whatever holds no time is counted with the records that have none.
        if let Some(Held::Instant(at)) = tally.held {
            buckets.add(at.micros(), tally.count);
        }
    })
    .await?;
    Ok(buckets)
}
