//! Who is told of changes, where, and how that went: the part of the owner's page about events.

use std::collections::BTreeSet;

use pdpp_store::{AllowedCallback, Store, StoreError, StoredDelivery, StoredSubscription};
use pdpp_wire::{DeliveryOutcome, DisabledReason, SubjectId, SubscriptionStatus};

use crate::consent::spelled;
use crate::moment::Moment;
use crate::stranger;

/// Subscriptions shown; the command line lists them all.
const MOST: usize = 100;
/// Attempts looked at for failures in a row.
const ATTEMPTS: u32 = 10;

/// Everything about events.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Those that are sent something, or will be once their receiver proved itself.
    pub(crate) live: Vec<ToldRow>,
    pub(crate) past: Vec<ToldRow>,
    /// How many are not shown.
    pub(crate) more: usize,
    pub(crate) hosts: Vec<HostRow>,
}

/// One subscription.
#[derive(Debug)]
pub(crate) struct ToldRow {
    pub(crate) subscription_id: String,
    pub(crate) client: String,
    pub(crate) host: String,
    pub(crate) streams: String,
    pub(crate) state: &'static str,
    pub(crate) since: Moment,
    pub(crate) last: Option<LastAttempt>,
    /// Attempts in a row that failed, the last one among them.
    pub(crate) failures: usize,
    pub(crate) live: bool,
}

/// The latest attempt.
#[derive(Debug)]
pub(crate) struct LastAttempt {
    pub(crate) at: Moment,
    pub(crate) outcome: &'static str,
    pub(crate) reason: Option<String>,
}

/// A host the owner allowed.
#[derive(Debug)]
pub(crate) struct HostRow {
    pub(crate) id: usize,
    pub(crate) client_id: String,
    pub(crate) client: String,
    pub(crate) host: String,
    pub(crate) since: Moment,
}

impl Told {
    pub(crate) async fn load(
        store: &dyn Store,
        owner: &SubjectId,
        name: impl Fn(&str) -> String,
    ) -> Result<Self, StoreError> {
        let mut all = store.list_subscriptions(owner, None).await?;
        // The newest of those that are on, before the newest of the others.
        all.reverse();
        all.sort_by_key(|one| !one.status.is_live());
        let mut told = Self { more: all.len().saturating_sub(MOST), ..Self::default() };
        for one in all.into_iter().take(MOST) {
            let attempts = store.list_deliveries(owner, &one.subscription_id, ATTEMPTS).await?;
            let row = ToldRow::of(&one, &attempts, name(one.client_id.as_str()));
            if row.live { told.live.push(row) } else { told.past.push(row) }
        }
        let hosts = store.list_callbacks(owner).await?.into_iter().enumerate();
        told.hosts = hosts.map(|(id, one)| HostRow::of(id, one, &name)).collect();
        Ok(told)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty() && self.past.is_empty() && self.hosts.is_empty()
    }
}

impl ToldRow {
    fn of(one: &StoredSubscription, attempts: &[StoredDelivery], client: String) -> Self {
        let failed = |attempt: &&StoredDelivery| {
            matches!(attempt.outcome, DeliveryOutcome::Failed | DeliveryOutcome::GaveUp)
        };
        Self {
            subscription_id: one.subscription_id.to_string(),
            client,
            host: stranger::name(host_of(&one.callback_url)),
            streams: streams(one),
            state: state(one),
            since: Moment::of(one.created_at),
            last: attempts.first().map(LastAttempt::of),
            failures: attempts.iter().take_while(failed).count(),
            live: one.status.is_live(),
        }
    }
}

impl LastAttempt {
    fn of(attempt: &StoredDelivery) -> Self {
        Self {
            at: Moment::of(attempt.at),
            outcome: match attempt.outcome {
                DeliveryOutcome::Delivered => "delivered",
                DeliveryOutcome::Failed => "failed",
                DeliveryOutcome::Deferred => "put off by the receiver",
                DeliveryOutcome::GaveUp => "given up",
            },
            reason: attempt.reason.as_deref().map(stranger::words),
        }
    }
}

impl HostRow {
    fn of(id: usize, one: AllowedCallback, name: impl Fn(&str) -> String) -> Self {
        Self {
            id,
            client: name(one.client_id.as_str()),
            client_id: one.client_id.to_string(),
            host: one.host,
            since: Moment::of(one.allowed_at),
        }
    }
}

/// The host of an address that was checked when it was kept.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

fn streams(one: &StoredSubscription) -> String {
    let only = one.scope.filters.as_ref().map(|filters| &filters.streams).filter(|only| !only.is_empty());
    let names: BTreeSet<String> = match only {
        Some(only) => only.iter().map(|name| spelled(name.as_str())).collect(),
        None => one.scope.streams.iter().map(|stream| spelled(stream.name.as_str())).collect(),
    };
    names.into_iter().collect::<Vec<_>>().join(", ")
}

fn state(one: &StoredSubscription) -> &'static str {
    match (one.status, one.disabled_reason) {
        (SubscriptionStatus::PendingVerification, _) => "waits until its receiver has proved itself",
        (SubscriptionStatus::Active, _) => "on",
        (SubscriptionStatus::Disabled, Some(DisabledReason::OwnerDisabled)) => "switched off by you",
        (SubscriptionStatus::Disabled, _) => "switched off by its client",
        (SubscriptionStatus::DisabledFailure, _) => "switched off, because its receiver failed",
        (SubscriptionStatus::DisabledRevoked, Some(DisabledReason::GrantExpired)) => {
            "ended, because its grant ran out"
        }
        (SubscriptionStatus::DisabledRevoked, _) => "ended with its grant",
    }
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn a_host_is_shown_with_its_port_and_without_its_path() {
        assert_eq!(host_of("https://hooks.example.org/in?key=secret"), "hooks.example.org");
        assert_eq!(host_of("http://127.0.0.1:9000/"), "127.0.0.1:9000");
        assert_eq!(host_of("https://hooks.example.org"), "hooks.example.org");
    }
}
