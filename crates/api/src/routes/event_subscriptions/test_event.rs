//! `POST /v1/event-subscriptions/{subscription_id}/test-event`: something to try a receiver with.

use std::sync::Arc;

use http::StatusCode;
use pdpp_wire::{Code, QueuedEvent};
use serde_json::{Map, Value};

use super::{SUBSCRIPTION, body, served};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const TEST: Route = Route {
    method: Verb::Post,
    path: "/v1/event-subscriptions/{subscription_id}/test-event",
    operation: "sendTestEvent",
    action: "send_test_event",
    summary: "Send a test event; one that still waits is not sent twice.",
    parameters: &[&[SUBSCRIPTION]],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::Json(schema_of::<Map<String, Value>>),
    answers: &[AnswerDoc {
        status: 202,
        ..AnswerDoc::json(schema_of::<QueuedEvent>, "The event that will be sent.")
    }],
    errors: &[&[Code::NotFound, Code::InvalidState, Code::EventsUnavailable]],
    handler: handler!(Reader, test),
    pace: Pace::Read,
    test: "events::a_test_event_waits_once",
};

async fn test(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let (events, client) = served(&state, &principal)?;
    let said: Map<String, Value> = body(&call, "{}").await?;
    if let Some(name) = said.keys().next() {
        return Err(ApiError::new(Code::InvalidRequest, "Send `{}`, and no member.").param(name));
    }
    let event_id = events.test(&client, call.segment("subscription_id")).await?;
    Ok(Disclosed::new(json(StatusCode::ACCEPTED, &QueuedEvent { event_id })?, Shown::description()))
}
