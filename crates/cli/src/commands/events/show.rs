//! `pdpp events list` and `show`.

use anyhow::Context as _;
use pdpp_server::Personal;
use pdpp_store::{StoredDelivery, StoredSubscription};
use pdpp_wire::{DisabledReason, GrantId, Instant, StreamName, SubscriptionId};
use serde_json::{Value, json};

use super::unknown;
use crate::terminal;

/// Attempts shown.
const SHOWN: u32 = 20;

pub(super) async fn list(personal: &Personal, as_json: bool) -> anyhow::Result<()> {
    let store = personal.store();
    let subscriptions = store.list_subscriptions(personal.subject(), None).await?;
    let allowed = store.list_callbacks(personal.subject()).await?;
    if as_json {
        let hosts: Vec<Value> = allowed
            .iter()
            .map(|one| {
                json!({"client_id": one.client_id, "host": one.host, "allowed_at": one.allowed_at.to_rfc3339()})
            })
            .collect();
        let subscriptions: Vec<Value> = subscriptions.iter().map(shown).collect();
        return terminal::json(&json!({"subscriptions": subscriptions, "allowed_hosts": hosts}));
    }
    let rows: Vec<[String; 5]> = subscriptions.iter().map(row).collect();
    terminal::table(["SUBSCRIPTION", "CLIENT", "STATUS", "STREAMS", "SENT TO"], &rows)?;
    if !allowed.is_empty() {
        terminal::line("")?;
        let rows: Vec<[String; 3]> = allowed
            .into_iter()
            .map(|one| [one.client_id.to_string(), one.host, one.allowed_at.to_rfc3339()])
            .collect();
        terminal::table(["CLIENT", "ALLOWED HOST", "SINCE"], &rows)?;
    }
    Ok(())
}

fn row(subscription: &StoredSubscription) -> [String; 5] {
    [
        subscription.subscription_id.to_string(),
        subscription.client_id.to_string(),
        status(subscription),
        streams(subscription),
        subscription.callback_url.clone(),
    ]
}

fn status(subscription: &StoredSubscription) -> String {
    let status = subscription.status.as_str();
    match subscription.disabled_reason {
        Some(reason) => format!("{status} ({})", reason.as_str()),
        None => status.to_owned(),
    }
}

fn streams(subscription: &StoredSubscription) -> String {
    let scope = &subscription.scope;
    let only = scope.filters.as_ref().map(|filters| &filters.streams).filter(|only| !only.is_empty());
    let mut names: Vec<&str> = match only {
        Some(only) => only.iter().map(StreamName::as_str).collect(),
        None => scope.streams.iter().map(|stream| stream.name.as_str()).collect(),
    };
    names.sort_unstable();
    names.dedup();
    names.join(",")
}

pub(super) async fn one(personal: &Personal, id: &SubscriptionId, as_json: bool) -> anyhow::Result<()> {
    let store = personal.store();
    let found = store.find_subscription(personal.subject(), id, None).await?.with_context(|| unknown(id))?;
    let deliveries = store.list_deliveries(personal.subject(), id, SHOWN).await?;
    if as_json {
        let mut value = shown(&found);
        value["deliveries"] = deliveries.iter().map(attempt).collect();
        return terminal::json(&value);
    }
    terminal::line(&format!("subscription  {}", found.subscription_id))?;
    terminal::line(&format!("client        {}", found.client_id))?;
    let grants: Vec<&str> = found.grant_ids.iter().map(GrantId::as_str).collect();
    terminal::line(&format!("grants        {}", grants.join(", ")))?;
    terminal::line(&format!("status        {}", status(&found)))?;
    terminal::line(&format!("streams       {}", streams(&found)))?;
    terminal::line(&format!("sent to       {}", found.callback_url))?;
    terminal::line(&format!("since         {}", found.created_at.to_rfc3339()))?;
    terminal::line("")?;
    let rows: Vec<[String; 5]> = deliveries.iter().map(attempt_row).collect();
    terminal::table(["WHEN", "EVENT", "ATTEMPT", "OUTCOME", "ANSWER"], &rows)?;
    Ok(())
}

fn attempt_row(delivery: &StoredDelivery) -> [String; 5] {
    let answer = match (&delivery.http_status, &delivery.reason) {
        (_, Some(reason)) => reason.clone(),
        (Some(status), None) => status.to_string(),
        (None, None) => String::new(),
    };
    [
        delivery.at.to_rfc3339(),
        delivery.event_type.as_str().to_owned(),
        delivery.attempt.to_string(),
        delivery.outcome.as_str().to_owned(),
        answer,
    ]
}

fn shown(subscription: &StoredSubscription) -> Value {
    json!({
        "subscription_id": subscription.subscription_id, "client_id": subscription.client_id,
        "grant_ids": subscription.grant_ids, "callback_url": subscription.callback_url,
        "status": subscription.status.as_str(),
        "disabled_reason": subscription.disabled_reason.map(DisabledReason::as_str),
        "scope": subscription.scope, "created_at": subscription.created_at.to_rfc3339(),
        "updated_at": subscription.updated_at.to_rfc3339(),
    })
}

fn attempt(delivery: &StoredDelivery) -> Value {
    json!({
        "event_id": delivery.event_id, "type": delivery.event_type.as_str(), "attempt": delivery.attempt,
        "attempted_at": delivery.at.to_rfc3339(), "outcome": delivery.outcome.as_str(),
        "http_status": delivery.http_status, "reason": delivery.reason, "response_snippet": delivery.snippet,
        "next_attempt_at": delivery.next_at.map(Instant::to_rfc3339),
    })
}
