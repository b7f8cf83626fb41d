//! Makes and changes subscriptions for clients.

use async_trait::async_trait;
use pdpp_access::{ClientPrincipal, Denial, Secret, random_hex};
use pdpp_store::{
    Changed, EventFault, EventService, EventWish, Holder, NewEvent, NewSubscription, StoredDelivery,
    StoredSubscription, SubscriptionChange, SubscriptionMade, Switch, TestQueued,
};
use pdpp_wire::{Code, DisabledReason, EventId, EventType, SubscriptionId, SubscriptionStatus};
use serde_json::Value;

use crate::EventParts;
use crate::capability::{MAX_SUBSCRIPTIONS, capability};
use crate::envelope::words;
use crate::scope::Scope;

/// Answers the event routes.
#[derive(Clone, Debug)]
pub struct EventDesk(EventParts);

impl EventDesk {
    /// A desk over these parts.
    pub fn new(parts: EventParts) -> Self {
        Self(parts)
    }

    /// Changes need somebody who sends: a challenge nobody sends would leave a subscription waiting for ever.
    fn require_delivery(&self) -> Result<(), Denial> {
        if self.0.delivering.is_running() {
            return Ok(());
        }
        Err(Denial::new(
            Code::EventsUnavailable,
            "No server delivers events here; start one with `pdpp serve`.",
        ))
    }

    fn challenge(&self, id: &SubscriptionId) -> NewEvent {
        let (event_id, at) = (self.0.mint_event_id(), self.0.now());
        let challenge = random_hex(self.0.entropy.as_ref(), 24);
        let body = words(EventType::Verify, &event_id, id, at, [("challenge", challenge.as_str().into())]);
        NewEvent { event_id, body, challenge: Some(challenge), due_at: at }
    }

    async fn held(&self, client: &ClientPrincipal, id: &str) -> Result<StoredSubscription, EventFault> {
        let Ok(id) = SubscriptionId::parse(id) else { return Err(absent()) };
        let found = self.0.store.find_subscription(client.subject_id(), &id, Some(&holder(client))).await?;
        found.ok_or_else(absent)
    }
}

fn holder(client: &ClientPrincipal) -> Holder {
    Holder {
        client_id: client.client_id().clone(),
        grant_ids: client.grants().iter().map(|grant| grant.id().clone()).collect(),
        token_id: client.token_id().cloned(),
    }
}

fn absent() -> EventFault {
    Denial::new(Code::NotFound, "There is no such event subscription.").into()
}

fn refused(status: SubscriptionStatus, reason: Option<DisabledReason>, wanted: &str) -> EventFault {
    if status == SubscriptionStatus::DisabledRevoked {
        let message = "The subscription ended with its grants; make a new one under a new grant.";
        return EventFault::Ended(Denial::new(Code::GrantRevoked, message));
    }
    let message = match reason {
        Some(DisabledReason::OwnerDisabled) => "The owner switched this subscription off.".to_owned(),
        _ => format!("The subscription is `{}`; it cannot be {wanted}.", status.as_str()),
    };
    Denial::new(Code::InvalidState, message).into()
}

#[async_trait]
impl EventService for EventDesk {
    fn capability(&self) -> Option<Value> {
        self.0.delivering.is_running().then(|| capability(self.0.egress.policy()))
    }

    async fn create(
        &self,
        client: &ClientPrincipal,
        wish: EventWish,
    ) -> Result<(StoredSubscription, Secret), EventFault> {
        self.require_delivery()?;
        let (parts, subject_id) = (&self.0, client.subject_id());
        let catalogue = parts.store.catalogue(subject_id).await?;
        let scope = Scope::of(client, &catalogue, &wish)?;
        let url = parts.check_callback(subject_id, client.client_id(), &wish.callback_url).await?;
        let subscription_id = parts.mint_subscription_id();
        let (secret, sealed_secret) = parts.secrets.mint(parts.entropy.as_ref(), &subscription_id);
        let new = NewSubscription {
            verify: self.challenge(&subscription_id),
            subject_id: subject_id.clone(),
            client_id: client.client_id().clone(),
            grant_ids: scope.grant_ids,
            callback_url: url.as_str().to_owned(),
            callback_host: url.host_and_port(),
            scope: scope.shown,
            streams: scope.streams,
            connection_id: scope.connection_id,
            sealed_secret,
            created_at: parts.now(),
            subscription_id,
        };
        match parts.store.create_subscription(&new, MAX_SUBSCRIPTIONS).await? {
            SubscriptionMade::Made => {}
            SubscriptionMade::TooMany => {
                let message =
                    format!("A client has at most {MAX_SUBSCRIPTIONS} subscriptions; delete one first.");
                return Err(Denial::new(Code::ResourceLimit, message).into());
            }
        }
        parts.delivering.wake();
        let made = parts.store.find_subscription(subject_id, &new.subscription_id, None).await?;
        Ok((made.ok_or_else(absent)?, secret))
    }

    async fn list(&self, client: &ClientPrincipal) -> Result<Vec<StoredSubscription>, EventFault> {
        Ok(self.0.store.list_subscriptions(client.subject_id(), Some(&holder(client))).await?)
    }

    async fn find(&self, client: &ClientPrincipal, id: &str) -> Result<StoredSubscription, EventFault> {
        self.held(client, id).await
    }

    async fn update(
        &self,
        client: &ClientPrincipal,
        id: &str,
        enabled: Option<bool>,
        rotate_secret: bool,
    ) -> Result<(StoredSubscription, Option<Secret>), EventFault> {
        self.require_delivery()?;
        let held = self.held(client, id).await?;
        let (parts, id) = (&self.0, &held.subscription_id);
        if enabled == Some(true) {
            // The owner may have taken the host back, and what its name means may have changed.
            parts.check_callback(client.subject_id(), client.client_id(), &held.callback_url).await?;
        }
        let minted = rotate_secret.then(|| parts.secrets.mint(parts.entropy.as_ref(), id));
        let (secret, sealed_secret) = minted.unzip();
        let switch = enabled.map(|on| {
            if on { Switch::On(self.challenge(id)) } else { Switch::Off(DisabledReason::ClientDisabled) }
        });
        let change = SubscriptionChange { switch, sealed_secret };
        let wanted = match enabled {
            Some(true) => "switched on",
            Some(false) => "switched off",
            None => "changed",
        };
        match parts.store.change_subscription(client.subject_id(), id, &change, parts.now()).await? {
            Changed::Done(now) => {
                parts.delivering.wake();
                Ok((*now, secret))
            }
            Changed::Refused(status, reason) => Err(refused(status, reason, wanted)),
            Changed::Absent => Err(absent()),
        }
    }

    async fn delete(&self, client: &ClientPrincipal, id: &str) -> Result<(), EventFault> {
        self.require_delivery()?;
        let held = self.held(client, id).await?;
        let gone = self.0.store.delete_subscription(client.subject_id(), &held.subscription_id).await?;
        if gone { Ok(()) } else { Err(absent()) }
    }

    async fn test(&self, client: &ClientPrincipal, id: &str) -> Result<EventId, EventFault> {
        self.require_delivery()?;
        let held = self.held(client, id).await?;
        let (event_id, at) = (self.0.mint_event_id(), self.0.now());
        let body = words(EventType::Test, &event_id, &held.subscription_id, at, []);
        let event = NewEvent { event_id, body, challenge: None, due_at: at };
        match self.0.store.queue_test(client.subject_id(), &held.subscription_id, &event).await? {
            TestQueued::Waiting(event_id) => {
                self.0.delivering.wake();
                Ok(event_id)
            }
            TestQueued::Refused(status) => Err(Denial::new(
                Code::InvalidState,
                format!(
                    "The subscription is `{}`; a test event is sent while it is active.",
                    status.as_str()
                ),
            )
            .into()),
            TestQueued::Absent => Err(absent()),
        }
    }

    async fn deliveries(
        &self,
        client: &ClientPrincipal,
        id: &str,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, EventFault> {
        let held = self.held(client, id).await?;
        Ok(self.0.store.list_deliveries(client.subject_id(), &held.subscription_id, limit).await?)
    }
}
