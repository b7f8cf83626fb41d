//! Whether the process is alive, and whether it can serve.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use pdpp_store::StoreError;
use pdpp_wire::{Health, HealthStatus};

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
    summary: "Say whether the store is open, migrated and writable.",
    answers: &[
        AnswerDoc::json(schema_of::<Health>, "The server can serve."),
        AnswerDoc {
            status: 503,
            description: "The store does not answer yet.",
            content: Content::Json(schema_of::<Health>),
            headers: &[],
        },
    ],
    handler: handler!(Anyone, ready),
    test: "operations::a_running_server_is_alive_and_ready",
    ..INDEX
};

async fn alive(_state: Arc<ApiState>, _call: Call) -> Result<Response, ApiError> {
    json(StatusCode::OK, &Health { status: HealthStatus::Ok })
}

async fn ready(state: Arc<ApiState>, _call: Call) -> Result<Response, ApiError> {
    match is_ready(&state).await {
        Ok(true) => json(StatusCode::OK, &Health { status: HealthStatus::Ready }),
        Ok(false) => json(StatusCode::SERVICE_UNAVAILABLE, &Health { status: HealthStatus::Starting }),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            json(StatusCode::SERVICE_UNAVAILABLE, &Health { status: HealthStatus::Starting })
        }
    }
}

/// Migrated, and the index has caught up.
async fn is_ready(state: &ApiState) -> Result<bool, StoreError> {
    state.store.check_ready().await?;
    match &state.search.lexical {
        None => Ok(true),
        Some(index) => index.is_current().await,
    }
}
