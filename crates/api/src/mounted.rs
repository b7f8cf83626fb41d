//! Endpoints beside the routes of the table: they get the same frame (request id, host check, log line), and
//! their callers are recognised here, so that no other crate answers who somebody is.

use std::sync::Arc;

use axum::Router;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::MethodRouter;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use pdpp_access::{Bearer, Principal};
use pdpp_store::Door;
use pdpp_wire::{ClientId, Code};

use crate::authority::{Stopped, authenticate};
use crate::disclosure::turned_away;
use crate::dispatch::router_beside;
use crate::error::ErrorContext;
use crate::frame::AnsweredRoute;
use crate::rates::{Paused, Peer};
use crate::request_id::RequestId;
use crate::{ApiError, ApiState};

/// The whole REST surface as one router, with further endpoints inside the same frame.
pub fn router_with(
    state: Arc<ApiState>,
    endpoints: impl IntoIterator<Item = (&'static str, MethodRouter<Arc<ApiState>>)>,
) -> Router {
    let mut beside = Router::new();
    for (path, endpoint) in endpoints {
        let mark = move |mut response: Response| async move {
            response.extensions_mut().insert(AnsweredRoute(path));
            let private = HeaderValue::from_static("private, no-store");
            response.headers_mut().entry(CACHE_CONTROL).or_insert(private);
            response
        };
        beside = beside.route(path, endpoint.layer(map_response(mark)));
    }
    router_beside(state, beside)
}

/// Lets a request with a client's token pass, and says which client it is; anyone else gets the answer that says what to do. A token that opens
/// nothing any more is written down, as at every door.
///
/// `metadata_path` is appended to the address of the protected-resource document, because an endpoint has a
/// document of its own.
pub async fn admit_client(
    state: &ApiState,
    request: &Parts,
    door: Door,
    metadata_path: &str,
) -> Result<ClientId, Response> {
    let id = request
        .extensions
        .get::<RequestId>()
        .cloned()
        .unwrap_or_else(|| RequestId::of(&request.headers, state.entropy.as_ref()));
    let peer = request.extensions.get::<Peer>().copied();
    let principal = authenticate(state.authority.as_ref(), &request.headers).await;
    let refused = match principal {
        Ok(principal @ Principal::Client(_)) => match admitted(state, &principal, (&id, door), peer).await {
            Ok(client_id) => return Ok(client_id),
            Err(error) => error,
        },
        Ok(Principal::Owner(_)) => ApiError::new(
            Code::PermissionError,
            "This endpoint takes a grant-scoped client or MCP package token, never an owner token; make one with \
             `pdpp grant create`, or use owner-agent REST onboarding.",
        ),
        Err(Stopped { error, bearer: None }) => state.count_stranger(peer).err().unwrap_or(error),
        Err(Stopped { error, bearer: Some(bearer) }) => {
            match turned_away(state, *bearer, (&id, door, "connect"), None, &error).await {
                Ok(()) => error,
                Err(unwritten) => unwritten,
            }
        }
    };
    let metadata = state.resource_metadata.as_ref().map(|url| format!("{url}{metadata_path}"));
    let context = ErrorContext { resource_metadata: metadata.as_deref(), ..state.error_context(&id) };
    Err(refused.respond(context))
}

async fn admitted(
    state: &ApiState,
    principal: &Principal,
    (id, door): (&RequestId, Door),
    peer: Option<Peer>,
) -> Result<ClientId, ApiError> {
    if let Err(Paused { error, is_first }) = state.count(principal, peer).await {
        if is_first {
            let bearer = Bearer {
                subject_id: principal.subject_id().clone(),
                client_id: principal.client_id().cloned(),
                token_id: principal.token_id().cloned(),
                grant_ids: principal.grant_ids(),
            };
            turned_away(state, bearer, (id, door, "connect"), None, &error).await?;
        }
        return Err(error);
    }
    principal.client_id().cloned().ok_or_else(|| ApiError::internal("a client without an id"))
}
