//! `POST /v1/event-subscriptions`: a new subscription, and its secret.

use std::sync::Arc;

use http::StatusCode;
use pdpp_store::EventWish;
use pdpp_wire::{Code, CreatedEventSubscription, NewEventSubscription};

use super::{PATH, body, served};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const CREATE: Route = Route {
    method: Verb::Post,
    path: PATH,
    operation: "createEventSubscription",
    action: "create_event_subscription",
    summary: "Ask to be told when something in the grant changes; the receiver must then prove itself.",
    parameters: &[],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::Json(schema_of::<NewEventSubscription>),
    answers: &[AnswerDoc {
        status: 201,
        ..AnswerDoc::json(
            schema_of::<CreatedEventSubscription>,
            "The subscription, with its secret, shown once.",
        )
    }],
    errors: &[&[Code::CallbackNotAllowed, Code::ConnectionNotFound, Code::EventsUnavailable]],
    handler: handler!(Reader, create),
    pace: Pace::Read,
    test: "events::a_subscription_is_made_shown_and_listed_without_its_secret",
};

async fn create(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    let wish: NewEventSubscription =
        body(&call, "{\"callback_url\": …, \"filters\"?: {\"streams\": […]}, \"connection_id\"?: …}").await?;
    let streams = wish.filters.and_then(|filters| filters.streams).unwrap_or_default();
    let wish = EventWish { callback_url: wish.callback_url, streams, connection_id: wish.connection_id };
    let (made, secret) = events.create(&client, wish).await?;
    let answer = CreatedEventSubscription {
        subscription_id: made.subscription_id,
        secret: secret.reveal().to_owned(),
        status: made.status,
        callback_url: made.callback_url,
        created_at: made.created_at.to_rfc3339(),
    };
    Ok(Disclosed::new(json(StatusCode::CREATED, &answer)?, Shown::description()))
}
