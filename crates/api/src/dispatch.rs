//! From a matched path to an answer: method, parameters, deadline, authority, handler, ledger.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::body::HttpBody as _;
use axum::extract::{Extension, RawPathParams, Request, State, rejection::RawPathParamsRejection};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::any;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH};
use http::{HeaderValue, Method};
use pdpp_store::Door;
use pdpp_wire::Code;

use crate::authority::{Owner, Reader, Stopped, authenticate};
use crate::call::Call;
use crate::disclosure::{self, Asking};
use crate::frame::{AnsweredRoute, frame};
use crate::query::parse;
use crate::rates::{Paused, Peer};
use crate::request_id::RequestId;
use crate::route::{Handler, Pace, Route, Unknown, Verb};
use crate::table::ROUTES;
use crate::{ApiError, ApiState};

/// The whole REST surface as one router.
pub fn router(state: Arc<ApiState>) -> Router {
    router_beside(state, Router::new())
}

/// The REST surface beside other endpoints, in one frame.
pub(crate) fn router_beside(state: Arc<ApiState>, endpoints: Router<Arc<ApiState>>) -> Router {
    let paths: BTreeSet<&'static str> = ROUTES.iter().map(|route| route.path).collect();
    let mut router = endpoints;
    for path in paths {
        let serve =
            move |State(state), Extension(id), params, request| serve(path, state, id, params, request);
        router = router.route(path, any(serve));
    }
    router.fallback(no_such_route).layer(from_fn_with_state(state.clone(), frame)).with_state(state)
}

async fn no_such_route(State(state): State<Arc<ApiState>>, Extension(id): Extension<RequestId>) -> Response {
    let message = "There is no such route; `/openapi.json` lists every one.";
    ApiError::new(Code::NotFound, message).respond(state.error_context(&id))
}

async fn serve(
    path: &'static str,
    state: Arc<ApiState>,
    id: RequestId,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let head = request.method() == Method::HEAD;
    let mut response = match find_route(path, request.method()) {
        Err(error) => error.respond(state.error_context(&id)),
        Ok(route) => match within_deadline(&state, route, &id, params, request).await {
            Ok(response) => response,
            Err(error) => error.respond(state.error_context(&id)),
        },
    };
    response.extensions_mut().insert(AnsweredRoute(path));
    let private = || HeaderValue::from_static("private, no-store");
    response.headers_mut().entry(CACHE_CONTROL).or_insert_with(private);
    if head { without_body(response) } else { response }
}

fn find_route(path: &str, method: &Method) -> Result<&'static Route, ApiError> {
    let here = || ROUTES.iter().filter(|route| route.path == path);
    if let Some(route) = here().find(|route| route.method.answers(method)) {
        return Ok(route);
    }
    let mut allowed: Vec<&str> = here().map(|route| route.method.as_str()).collect();
    if here().any(|route| route.method == Verb::Get) {
        allowed.push("HEAD");
    }
    let allowed = allowed.join(", ");
    let error = ApiError::new(Code::MethodNotAllowed, format!("This route answers {allowed} only."));
    Err(error.header(ALLOW, HeaderValue::try_from(allowed).unwrap_or(HeaderValue::from_static("GET"))))
}

async fn within_deadline(
    state: &Arc<ApiState>,
    route: &'static Route,
    id: &RequestId,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let deadline = state.deadline(route.pace);
    let work = async {
        // Closing the semaphore is not something this program does.
        let _permit = state.permits.acquire().await.map_err(ApiError::internal)?;
        answer(state, route, id, params, request).await
    };
    tokio::time::timeout(deadline, work).await.unwrap_or_else(|_| {
        let message = format!("The request took longer than {} seconds.", deadline.as_secs());
        Err(ApiError::new(Code::DeadlineExceeded, message))
    })
}

fn read_call(
    route: &Route,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Call, ApiError> {
    let not_utf8 = |_| ApiError::new(Code::InvalidRequest, "The path is not UTF-8.");
    let params = params.map_err(not_utf8)?;
    let path: Vec<_> = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if let Some((name, _)) = path.iter().find(|(_, value)| value.contains('\0')) {
        return Err(ApiError::new(Code::InvalidRequest, "The path holds a NUL.").param(name));
    }
    let (parts, body) = request.into_parts();
    let query = parse(parts.uri.query().unwrap_or(""))?;
    if route.unknown_parameters == Unknown::Refused {
        query.allow_only(|name| route.knows(name))?;
    }
    query.refuse_nul(|name| route.fault_of(name))?;
    Ok(Call { method: parts.method, uri: parts.uri, headers: parts.headers, path, query, body: body.into() })
}

/// Authentication comes before anything else is read, so a stranger learns nothing from a request's
/// faults; every refusal after it is written down.
async fn answer(
    state: &Arc<ApiState>,
    route: &Route,
    request_id: &RequestId,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    if let Handler::Anyone(handle) = route.handler {
        return handle(state.clone(), read_call(route, params, request)?).await;
    }
    let stream =
        params.iter().flatten().find(|(name, _)| *name == "stream").map(|(_, value)| value.to_owned());
    // Only a caller inside this process can say that it stands at another door.
    let door = request.extensions().get::<Door>().copied().unwrap_or(Door::Rest);
    let peer = request.extensions().get::<Peer>().copied();
    let principal = match authenticate(state.authority.as_ref(), request.headers()).await {
        Ok(principal) => principal,
        Err(Stopped { error, bearer: None }) => {
            state.count_stranger(peer)?;
            return Err(error);
        }
        Err(Stopped { error, bearer: Some(bearer) }) => {
            disclosure::turned_away(state, *bearer, (request_id, door, route.action), stream, &error).await?;
            return Err(error);
        }
    };
    let asking = Asking { principal: &principal, request_id, door, route };
    // A call through another door was counted there.
    if door == Door::Rest
        && let Err(Paused { error, is_first }) = state.count(&principal, peer).await
    {
        if is_first {
            disclosure::refused(state, asking, stream, &error).await?;
        }
        return Err(error);
    }
    let outcome = match read_call(route, params, request) {
        Ok(call) => authorized(state, asking, call).await,
        Err(error) => Err(error),
    };
    if let Err(error) = &outcome {
        disclosure::refused(state, asking, stream, error).await?;
    }
    outcome
}

async fn authorized(state: &Arc<ApiState>, asking: Asking<'_>, call: Call) -> Result<Response, ApiError> {
    let principal = asking.principal;
    match asking.route.handler {
        Handler::Anyone(handle) => handle(state.clone(), call).await,
        Handler::Owner(handle) => handle(state.clone(), Owner::from_principal(principal)?, call).await,
        Handler::Reader(handle) => {
            let disclosed = handle(state.clone(), Reader(principal.clone()), call).await?;
            disclosure::disclose(state, asking, disclosed).await
        }
    }
}

/// `HEAD` answers with the status and headers of `GET`, the length included.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let known = body.size_hint().exact();
    if let Some(length) = known
        && !parts.headers.contains_key(CONTENT_LENGTH)
    {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}

impl ApiState {
    fn deadline(&self, pace: Pace) -> Duration {
        match pace {
            Pace::Read => self.settings.limits.read_deadline,
            Pace::Upload => self.settings.limits.upload_deadline,
        }
    }
}
