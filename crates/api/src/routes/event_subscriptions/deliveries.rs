//! `GET /v1/event-subscriptions/{subscription_id}/deliveries`: the last attempts.

use std::sync::Arc;

use http::StatusCode;
use pdpp_wire::{Code, EventDeliveryList};

use super::{SUBSCRIPTION, served, shown};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, BodyDoc, Pace, Parameter, Route, Shape, Unknown, Verb, handler, schema_of};
use crate::{ApiError, ApiState};

/// Attempts shown unless asked otherwise, and at most.
const DEFAULT: u64 = 25;
const MOST: u64 = 100;

pub(crate) const DELIVERIES: Route = Route {
    method: Verb::Get,
    path: "/v1/event-subscriptions/{subscription_id}/deliveries",
    operation: "listEventDeliveries",
    action: "event_deliveries",
    summary: "List the last attempts to deliver events of a subscription.",
    parameters: &[&[
        SUBSCRIPTION,
        Parameter::query(
            "limit",
            Shape::Whole { min: 1, max: Some(MOST) },
            "At most so many; 25 unless given. More than 100 counts as 100.",
        ),
    ]],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::None,
    answers: &[AnswerDoc::json(schema_of::<EventDeliveryList>, "The attempts, newest first.")],
    errors: &[&[Code::NotFound, Code::EventsUnavailable]],
    handler: handler!(Reader, deliveries),
    pace: Pace::Read,
    test: "events::the_log_says_what_became_of_each_attempt",
};

async fn deliveries(
    state: Arc<ApiState>,
    Reader(principal): Reader,
    call: Call,
) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    let limit = call.query.positive("limit")?.unwrap_or(DEFAULT).min(MOST);
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let data = events.deliveries(&client, call.segment("subscription_id"), limit).await?;
    let data = data.into_iter().map(shown::delivery).collect();
    Ok(Disclosed::new(json(StatusCode::OK, &EventDeliveryList { data })?, Shown::description()))
}
