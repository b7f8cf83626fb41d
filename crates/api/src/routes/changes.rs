//! The changes feed of the records route: what is new since a token, and what is gone.

use pdpp_access::{ChangesPlan, ReadPlan};
use pdpp_store::{ChangeEntry, ChangesOutcome, ChangesPage};
use pdpp_wire::{Code, Meta, RecordEntry, RecordObject, RecordRef, Tombstone, Warning};

use super::records::answer;
use crate::call::Call;
use crate::disclosure::{Disclosed, Shown};
use crate::rendering::{label, part, record};
use crate::{ApiError, ApiState};

pub(super) async fn changes(
    state: &ApiState,
    call: &Call,
    plan: &ChangesPlan,
    warnings: Vec<Warning>,
) -> Result<Disclosed, ApiError> {
    let ChangesPage { entries, next, horizon } = match state.store.list_changes(plan).await? {
        ChangesOutcome::Page(page) => page,
        ChangesOutcome::Expired => {
            let message = "The history behind this `changes_since` is gone; start again with `beginning`.";
            return Err(ApiError::new(Code::CursorExpired, message).param("changes_since"));
        }
    };
    let (entropy, binding) = (state.entropy.as_ref(), plan.binding());
    let next_cursor = next.map(|position| state.sealer.seal_changes_page(entropy, binding, &position));
    let next_changes_since = Some(state.sealer.seal_changes_since(entropy, binding, &horizon));
    let keys = entries.iter().map(|entry| match entry {
        ChangeEntry::Live(row) => &row.key,
        ChangeEntry::Deleted { key, .. } => key,
    });
    let shown = Shown::of_plan(plan.read()).records(keys);
    let data = entries.into_iter().map(|entry| change(plan.read(), entry)).collect::<Result<_, _>>()?;
    answer(call, data, next_cursor, next_changes_since, Meta::with_warnings(warnings), shown)
}

fn change(read: &ReadPlan, entry: ChangeEntry) -> Result<RecordEntry, ApiError> {
    match entry {
        ChangeEntry::Live(row) => Ok(RecordEntry::Live(Box::new(record(read, &[], row)?))),
        ChangeEntry::Deleted { part: index, key, deleted_at } => {
            let part = part(read, index)?;
            let connection_id = part.connection_id().clone();
            let stream = read.stream().clone();
            let handle = RecordRef {
                connection_id: connection_id.clone(),
                stream: stream.clone(),
                record_id: key.clone(),
            };
            Ok(RecordEntry::Deleted(Tombstone {
                object: RecordObject::Value,
                id: key,
                stream,
                deleted: true,
                deleted_at: deleted_at.to_rfc3339(),
                emitted_at: deleted_at.to_rfc3339(),
                connector_instance_id: Some(connection_id.clone()),
                connection_id: Some(connection_id),
                display_name: label(read, part),
                result_id: Some(handle.result_id()),
            }))
        }
    }
}
