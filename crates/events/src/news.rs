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

/// Where a change was, and from where to where its events stand for it.
struct Question {
    plan: ChangesPlan,
    since: u64,
    latest: u64,
}

impl EventParts {
    /// What due events say.
    pub(crate) async fn sayings(&self, due: &[DueEvent]) -> Result<Vec<Saying>, StoreError> {
        let mut questions = Vec::with_capacity(due.len());
        for event in due {
            questions.push(self.question(event).await?);
        }
        let shown = self.shown(questions).await?;
        Ok(due.iter().zip(shown).map(|(event, shown)| self.saying(event, shown)).collect())
    }

    fn saying(&self, due: &DueEvent, shown: Option<(ChangesPlan, VisibleChanges)>) -> Saying {
        if let Some((event_id, body)) = &due.settled {
            return Saying::Words(event_id.clone(), body.clone());
        }
        let (event_id, at) = (self.mint_event_id(), self.now());
        let body = match &due.kind {
            DueKind::Records { stream, connection_id, latest, .. } => {
                let Some((plan, changes)) = shown else { return Saying::Nothing { latest: *latest } };
                let token =
                    self.sealer.seal_changes_since(self.entropy.as_ref(), plan.binding(), &changes.since);
                let says = [
                    ("stream", stream.as_str().into()),
                    ("connection_id", connection_id.as_str().into()),
                    ("change_count_hint", changes.count.into()),
                    ("changes_since", token.into()),
                ];
                words(EventType::RecordsChanged, &event_id, &due.subscription_id, at, says)
            }
            kind => words(kind.event_type(), &event_id, &due.subscription_id, at, []),
        };
        Saying::Words(event_id, body)
    }

    /// What must be asked before an event's words are settled; nothing when they are, or when nobody could read.
    async fn question(&self, due: &DueEvent) -> Result<Option<Question>, StoreError> {
        let DueKind::Records { stream, connection_id, since, latest } = &due.kind else { return Ok(None) };
        if due.settled.is_some() {
            return Ok(None);
        }
        let client = principal_of(&due.subject_id, &due.client_id, &due.grants, self.now());
        let Some(client) = client else { return Ok(None) };
        let catalogue = self.store.catalogue(&due.subject_id).await?;
        let plan = plan(client, &catalogue, connection_id, stream);
        Ok(plan.map(|plan| Question { plan, since: *since, latest: *latest }))
    }

    /// What each reader would be shown now: from the earliest position, or from the latest when what happened first
    /// was undone since.
    async fn shown(
        &self,
        questions: Vec<Option<Question>>,
    ) -> Result<Vec<Option<(ChangesPlan, VisibleChanges)>>, StoreError> {
        let looks: [fn(&Question) -> u64; 2] = [|question| question.since, |question| question.latest];
        let mut shown: Vec<Option<VisibleChanges>> = vec![None; questions.len()];
        for after in looks {
            let silent = |at: &usize| shown[*at].is_none() && questions[*at].is_some();
            let open: Vec<usize> = (0..questions.len()).filter(silent).collect();
            if open.is_empty() {
                break;
            }
            let asked = open.iter().filter_map(|at| questions[*at].as_ref());
            let asked: Vec<_> = asked.map(|one| (one.plan.read().clone(), after(one))).collect();
            for (at, found) in open.into_iter().zip(self.store.visible_changes(&asked, MOST_COUNTED).await?) {
                shown[at] = found;
            }
        }
        let with_plan =
            |(question, shown): (Option<Question>, Option<VisibleChanges>)| Some((question?.plan, shown?));
        Ok(questions.into_iter().zip(shown).map(with_plan).collect())
    }
}
