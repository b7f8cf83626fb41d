//! Endpoints beside the routes of the table: they get the same frame (request id, host check, log line), and
//! their callers are recognised here, so that no other crate answers who somebody is.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use http::request::Parts;
use pdpp_access::Principal;
use pdpp_wire::Code;

use crate::authority::authenticate;
use crate::dispatch::router_beside;
use crate::error::ErrorContext;
use crate::request_id::RequestId;
use crate::{ApiError, ApiState};

/// The whole REST surface as one router, with further endpoints inside the same frame.
pub fn router_with(state: Arc<ApiState>, endpoints: Router<Arc<ApiState>>) -> Router {
    router_beside(state, endpoints)
}

/// Lets a request with a client's token pass; anyone else gets the answer that says what to do.
///
/// `metadata_path` is appended to the address of the protected-resource document, because an endpoint has a
/// document of its own.
pub async fn admit_client(state: &ApiState, request: &Parts, metadata_path: &str) -> Result<(), Response> {
    let refused = match authenticate(state.authority.as_ref(), &request.headers).await {
        Ok(Principal::Client(_)) => return Ok(()),
        Ok(Principal::Owner(_)) => ApiError::new(
            Code::PermissionError,
            "This endpoint takes a grant-scoped client or MCP package token, never an owner token; make one with \
             `pdpp grant create`, or use owner-agent REST onboarding.",
        ),
        Err(stopped) => stopped.error,
    };
    let id = request
        .extensions
        .get::<RequestId>()
        .cloned()
        .unwrap_or_else(|| RequestId::of(&request.headers, state.entropy.as_ref()));
    let metadata = state.resource_metadata.as_ref().map(|url| format!("{url}{metadata_path}"));
    let context = ErrorContext { resource_metadata: metadata.as_deref(), ..state.error_context(&id) };
    Err(refused.respond(context))
}
