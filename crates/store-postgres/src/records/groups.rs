//! Counts by a field's values, as the index holds them.

use pdpp_store::{Group, LargestGroups};
use serde_json::{Number, Value};

use super::aggregate::Selected;
use super::stored::stored_values;
use super::tally::{self, Sample, Tally};
use super::target::Target;
use crate::fault::Outcome;
use crate::session::Session;
use crate::value::Held;

/// The largest groups, then by the JSON text of their keys.
pub(super) async fn by_value(
    session: &Session,
    target: &Target<'_>,
    selected: &Selected<'_>,
    (name, field): (&str, i32),
    limit: u32,
) -> Outcome<Vec<Group>> {
    let mut largest = LargestGroups::new(limit);
    tally::each(session, selected, field, |tally| offer(&mut largest, tally)).await?;
    let (counts, samples): (Vec<_>, Vec<_>) = largest.take_unspelled().into_iter().unzip();
    let keys = stored_values(session, target, &samples, name).await?;
    Ok(largest.finish(counts.into_iter().zip(keys)))
}

fn offer<'t>(largest: &mut LargestGroups<Sample<'t>>, tally: Tally<'t>) {
    let Tally { held, count, sample } = tally;
    let key = match held {
        Some(Held::Instant(_) | Held::Digest(_)) => return largest.offer_unspelled(count, sample),
        None => Value::Null,
        Some(Held::Boolean(flag)) => flag.into(),
        Some(Held::Whole(number)) => number.into(),
        Some(Held::Broken(number)) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        Some(Held::Text(text)) => text.into(),
    };
    largest.offer(count, key);
}
