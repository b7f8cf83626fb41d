//! Whether the process is alive, and whether it can serve.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use pdpp_store::StoreError;
use pdpp_wire::{Health, HealthPart, HealthStatus};

use super::discovery::INDEX;
use crate::call::{Call, json};
use crate::route::{AnswerDoc, Content, Route, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const ALIVE: Route = Route {
    path: "/healthz",
    operation: "readHealth",
    action: "health",
    summary: "Say that the process answers.",
    answers: &[AnswerDoc::json(schema_of::<Health>, "The process answers.")],
    handler: handler!(Anyone, alive),
    test: "operations::a_running_server_is_alive_and_ready",
    ..INDEX
};

pub(crate) const READY: Route = Route {
    path: "/readyz",
    operation: "readReadiness",
    action: "health",
    summary: "Say whether the store is open, migrated and writable, and if not, which part fails.",
    answers: &[
        AnswerDoc::json(schema_of::<Health>, "The server can serve."),
        AnswerDoc {
            status: 503,
            description: "A part does not answer: `failing` says which.",
            content: Content::Json(schema_of::<Health>),
            headers: &[],
        },
    ],
    handler: handler!(Anyone, ready),
    test: "operations::a_running_server_is_alive_and_ready",
    ..INDEX
};

async fn alive(_state: Arc<ApiState>, _call: Call) -> Result<Response, ApiError> {
    json(StatusCode::OK, &Health { status: HealthStatus::Ok, failing: None })
}

async fn ready(state: Arc<ApiState>, _call: Call) -> Result<Response, ApiError> {
    match find_failing(&state).await {
        None => json(StatusCode::OK, &Health { status: HealthStatus::Ready, failing: None }),
        failing => {
            let health = Health { status: HealthStatus::Starting, failing };
            json(StatusCode::SERVICE_UNAVAILABLE, &health)
        }
    }
}

/// The first part that cannot serve: the store is migrated, the bytes of attachments can be read, the index has caught up.
async fn find_failing(state: &ApiState) -> Option<HealthPart> {
    let is_well = |part: HealthPart, checked: Result<bool, StoreError>| match checked {
        Ok(true) => None,
        Ok(false) => Some(part),
        Err(error) => {
            tracing::warn!(%error, ?part, "not ready");
            Some(part)
        }
    };
    if let Some(part) = is_well(HealthPart::Store, state.store.check_ready().await.map(|()| true)) {
        return Some(part);
    }
    if let Some(part) = is_well(HealthPart::Attachments, state.store.check_blobs().await.map(|()| true)) {
        return Some(part);
    }
    match &state.search.lexical {
        None => None,
        Some(index) => is_well(HealthPart::Search, index.is_current().await),
    }
}
