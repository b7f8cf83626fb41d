//! `PATCH` and `DELETE /v1/event-subscriptions/{subscription_id}`: on, off, another secret, over.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use pdpp_wire::{Code, EventSubscriptionUpdate, UpdatedEventSubscription};

use super::{ONE_PATH, SUBSCRIPTION, body, served, shown};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const UPDATE: Route = Route {
    method: Verb::Patch,
    path: ONE_PATH,
    operation: "updateEventSubscription",
    action: "update_event_subscription",
    summary: "Switch delivery off, or on again, which verifies the receiver anew; or replace the secret.",
    parameters: &[&[SUBSCRIPTION]],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::Json(schema_of::<EventSubscriptionUpdate>),
    answers: &[AnswerDoc::json(
        schema_of::<UpdatedEventSubscription>,
        "The subscription, with its new secret if one was asked for.",
    )],
    errors: &[&[Code::CallbackNotAllowed, Code::NotFound, Code::InvalidState, Code::EventsUnavailable]],
    handler: handler!(Reader, update),
    pace: Pace::Read,
    test: "events::a_subscription_is_switched_off_and_on_again",
};

pub(crate) const DELETE: Route = Route {
    method: Verb::Delete,
    operation: "deleteEventSubscription",
    action: "delete_event_subscription",
    summary: "End a subscription for good; what waits is dropped.",
    body: BodyDoc::None,
    answers: &[AnswerDoc::empty(204, "The subscription is gone.")],
    errors: &[&[Code::NotFound, Code::EventsUnavailable]],
    handler: handler!(Reader, delete),
    test: "events::a_deleted_subscription_is_gone",
    ..UPDATE
};

async fn update(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    let wish: EventSubscriptionUpdate =
        body(&call, "{\"enabled\"?: true|false, \"rotate_secret\"?: true}").await?;
    let rotate = wish.rotate_secret == Some(true);
    if wish.enabled.is_none() && !rotate {
        let message = "There is nothing to change; give `enabled`, or `rotate_secret`: true.";
        return Err(ApiError::new(Code::InvalidRequest, message).param("enabled"));
    }
    let (now, secret) = events.update(&client, call.segment("subscription_id"), wish.enabled, rotate).await?;
    let answer = UpdatedEventSubscription {
        subscription: shown::subscription(now),
        secret: secret.map(|secret| secret.reveal().to_owned()),
    };
    Ok(Disclosed::new(json(StatusCode::OK, &answer)?, Shown::description()))
}

async fn delete(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    events.delete(&client, call.segment("subscription_id")).await?;
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(Disclosed::new(response, Shown::description()))
}
