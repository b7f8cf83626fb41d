//! The event-subscription tools: a server that tells a receiver of the client's own that something changed.
//!
//! They use the same scoped bearer as the reads. A secret is shown once, by the call that made it, and by no other.

mod discover;
mod render;

use http::Method;
use pdpp_client::Request;
use serde_json::{Map, Value};

use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};

const OUTPUT: &[&str] = &["data"];
const SUBSCRIPTION: Param = Param::required("subscription_id", Kind::Name, "");

pub(crate) const DISCOVER: Spec = Spec {
    name: "discover_event_subscription_capabilities",
    title: "Discover event subscription capabilities",
    description: "Read-only. GET /.well-known/oauth-protected-resource: capabilities.client_event_subscriptions. Events \
        are CloudEvents 1.0 JSON without record bodies, signed with Standard Webhooks: webhook-id, webhook-timestamp, \
        webhook-signature: v1,<base64>. Then query_records with data.changes_since.",
    params: &[],
    output: &["supported", "capability", "data"],
    effect: Effect::Reads,
    in_read_set: false,
    run: |adapter, _| Box::pin(discover::run(adapter)),
};

pub(crate) const CREATE: Spec = Spec {
    name: "create_event_subscription",
    title: "Create event subscription",
    description: "Mutating. POST /v1/event-subscriptions: change events to an HTTPS receiver; secret shown once. Needs \
        capabilities.client_event_subscriptions (discovery); else poll query_records + \
        changes_since.",
    params: &[
        Param::required("callback_url", Kind::Text, ""),
        Param::optional("connection_id", Kind::Name, ""),
        Param::optional("filters", Kind::EventFilters, ""),
    ],
    output: OUTPUT,
    effect: Effect::Changes,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(create(adapter, arguments)),
};

pub(crate) const LIST: Spec = Spec {
    name: "list_event_subscriptions",
    title: "List event subscriptions",
    description: "Read-only. GET /v1/event-subscriptions: own subscriptions, no secrets.",
    params: &[],
    output: OUTPUT,
    effect: Effect::Reads,
    in_read_set: false,
    run: |adapter, _| Box::pin(list(adapter)),
};

pub(crate) const GET: Spec = Spec {
    name: "get_event_subscription",
    title: "Get event subscription",
    description: "Read-only. GET /v1/event-subscriptions/{id}: its status.",
    params: &[SUBSCRIPTION],
    output: OUTPUT,
    effect: Effect::Reads,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(get(adapter, arguments)),
};

pub(crate) const UPDATE: Spec = Spec {
    name: "update_event_subscription",
    title: "Update event subscription",
    description: "Mutating. PATCH /v1/event-subscriptions/{id}: switch delivery to the HTTPS receiver, or renew the \
        secret. Needs capabilities.client_event_subscriptions; else poll query_records + changes_since.",
    params: &[
        SUBSCRIPTION,
        Param::optional("enabled", Kind::Flag, ""),
        Param::optional("rotate_secret", Kind::Flag, ""),
    ],
    output: OUTPUT,
    effect: Effect::Changes,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(update(adapter, arguments)),
};

pub(crate) const DELETE: Spec = Spec {
    name: "delete_event_subscription",
    title: "Delete event subscription",
    description: "Destructive. DELETE /v1/event-subscriptions/{id}: ends it for good.",
    params: &[SUBSCRIPTION],
    output: OUTPUT,
    effect: Effect::Destroys,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(delete(adapter, arguments)),
};

pub(crate) const TEST: Spec = Spec {
    name: "send_test_event",
    title: "Send subscription test event",
    description: "Mutating. POST /v1/event-subscriptions/{id}/test-event: tests the HTTPS receiver. \
        Needs capabilities.client_event_subscriptions; else poll query_records + changes_since.",
    params: &[SUBSCRIPTION],
    output: OUTPUT,
    effect: Effect::Changes,
    in_read_set: false,
    run: |adapter, arguments| Box::pin(test(adapter, arguments)),
};

const ROUTE: [&str; 2] = ["v1", "event-subscriptions"];

fn one(method: Method, arguments: &Arguments) -> Request {
    Request::new(method, ROUTE.into_iter().chain([arguments.needed("subscription_id")]))
}

async fn create(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let mut body = Map::new();
    body.insert("callback_url".to_owned(), arguments.needed("callback_url").into());
    body.extend(arguments.object("filters").map(|filters| ("filters".to_owned(), filters.clone().into())));
    body.extend(arguments.text("connection_id").map(|id| ("connection_id".to_owned(), id.into())));
    let reply = adapter.json(&Request::new(Method::POST, ROUTE).json(body.into())).await?;
    Ok(render::changed("create_event_subscription", adapter.provider_url(), &reply))
}

async fn list(adapter: Adapter) -> Result<Outcome, Failure> {
    let reply = adapter.json(&Request::get(ROUTE)).await?;
    Ok(render::list(adapter.provider_url(), &reply))
}

async fn get(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let reply = adapter.json(&one(Method::GET, &arguments)).await?;
    Ok(render::read("get_event_subscription", adapter.provider_url(), &reply))
}

async fn update(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let mut body = Map::new();
    body.extend(arguments.flag("enabled").map(|enabled| ("enabled".to_owned(), Value::Bool(enabled))));
    if arguments.flag("rotate_secret") == Some(true) {
        body.insert("rotate_secret".to_owned(), Value::Bool(true));
    }
    if body.is_empty() {
        let message = "has nothing to change; give `enabled`, or `rotate_secret`: true";
        return Err(Failure::invalid_arguments("update_event_subscription", "enabled", message));
    }
    let reply = adapter.json(&one(Method::PATCH, &arguments).json(body.into())).await?;
    Ok(render::changed("update_event_subscription", adapter.provider_url(), &reply))
}

async fn delete(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let id = arguments.needed("subscription_id");
    let reply = adapter.json(&one(Method::DELETE, &arguments)).await?;
    Ok(render::deleted(id, adapter.provider_url(), &reply))
}

async fn test(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let id = arguments.needed("subscription_id");
    let route = ROUTE.into_iter().chain([id, "test-event"]);
    let reply = adapter.json(&Request::new(Method::POST, route).json(Map::new().into())).await?;
    Ok(render::tested(id, adapter.provider_url(), &reply))
}
