//! `GET /v1/event-subscriptions` and one of them: how they stand, without secrets.

use std::sync::Arc;

use http::StatusCode;
use pdpp_wire::{Code, EventSubscription, EventSubscriptionList};

use super::{ONE_PATH, PATH, SUBSCRIPTION, served, shown};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const LIST: Route = Route {
    method: Verb::Get,
    path: PATH,
    operation: "listEventSubscriptions",
    action: "event_subscriptions",
    summary: "List this client's subscriptions under its grants.",
    parameters: &[],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::None,
    answers: &[AnswerDoc::json(schema_of::<EventSubscriptionList>, "The subscriptions, oldest first.")],
    errors: &[&[Code::EventsUnavailable]],
    handler: handler!(Reader, list),
    pace: Pace::Read,
    test: "events::a_subscription_is_made_shown_and_listed_without_its_secret",
};

pub(crate) const ONE: Route = Route {
    path: ONE_PATH,
    operation: "readEventSubscription",
    summary: "Read one subscription.",
    parameters: &[&[SUBSCRIPTION]],
    answers: &[AnswerDoc::json(schema_of::<EventSubscription>, "The subscription.")],
    errors: &[&[Code::NotFound, Code::EventsUnavailable]],
    handler: handler!(Reader, one),
    ..LIST
};

async fn list(state: Arc<ApiState>, Reader(principal): Reader, _: Call) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    let data = events.list(&client).await?.into_iter().map(shown::subscription).collect();
    Ok(Disclosed::new(json(StatusCode::OK, &EventSubscriptionList { data })?, Shown::description()))
}

async fn one(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    let found = events.find(&client, call.segment("subscription_id")).await?;
    Ok(Disclosed::new(json(StatusCode::OK, &shown::subscription(found))?, Shown::description()))
}
