//! Whether something is news for a subscription: exactly if a `changes_since` read would show it.

use pdpp_access::{Authorizer, Catalogue, ChangesPlan, ClientPrincipal, Principal, Target};
use pdpp_store::{DueEvent, DueKind, Saying, StoreError, VisibleChanges};
use pdpp_wire::{ConnectionId, EventType, StreamName};

use crate::EventParts;
use crate::envelope::words;
use crate::index::principal_of;

/// The most changes an event counts.
const MOST_COUNTED: u32 = 100;

/// What the subscription's client would read of one connection's stream; `None` when that is nothing.
pub(crate) fn plan(
    client: ClientPrincipal,
    catalogue: &Catalogue,
    connection_id: &ConnectionId,
    stream: &StreamName,
) -> Option<ChangesPlan> {
    let target = Target {
        stream: stream.to_string(),
        connection_id: Some(connection_id.to_string()),
        connector_id: None,
    };
    let principal = Principal::Client(client);
    Authorizer::new(&principal, catalogue).changes_of(&target).ok()
}

impl EventParts {
    /// What a due event says.
    pub(crate) async fn saying(&self, due: &DueEvent) -> Result<Saying, StoreError> {
        if let Some((event_id, body)) = &due.settled {
            return Ok(Saying::Words(event_id.clone(), body.clone()));
        }
        let (event_id, at) = (self.mint_event_id(), self.now());
        match &due.kind {
            DueKind::Records { stream, connection_id, since, latest } => {
                let found = self.changes(due, (stream, connection_id), *since, *latest).await?;
                let Some((plan, changes)) = found else { return Ok(Saying::Nothing { latest: *latest }) };
                let token =
                    self.sealer.seal_changes_since(self.entropy.as_ref(), plan.binding(), &changes.since);
                let says = [
                    ("stream", stream.as_str().into()),
                    ("connection_id", connection_id.as_str().into()),
                    ("change_count_hint", changes.count.into()),
                    ("changes_since", token.into()),
                ];
                let body = words(EventType::RecordsChanged, &event_id, &due.subscription_id, at, says);
                Ok(Saying::Words(event_id, body))
            }
            kind => {
                let body = words(kind.event_type(), &event_id, &due.subscription_id, at, []);
                Ok(Saying::Words(event_id, body))
            }
        }
    }

    /// What a reader would be shown now: from the earliest position, or from the latest when what happened first was
    /// undone since.
    async fn changes(
        &self,
        due: &DueEvent,
        (stream, connection_id): (&StreamName, &ConnectionId),
        since: u64,
        latest: u64,
    ) -> Result<Option<(ChangesPlan, VisibleChanges)>, StoreError> {
        let client = principal_of(&due.subject_id, &due.client_id, &due.grants, self.now());
        let Some(client) = client else { return Ok(None) };
        let catalogue = self.store.catalogue(&due.subject_id).await?;
        let Some(plan) = plan(client, &catalogue, connection_id, stream) else { return Ok(None) };
        let questions: Vec<_> = [since, latest].map(|after| (plan.read().clone(), after)).into();
        let found = self.store.visible_changes(&questions, MOST_COUNTED).await?;
        Ok(found.into_iter().flatten().next().map(|changes| (plan, changes)))
    }
}
