//! Endpoints that answer HTTP values, as routes: the body is read up to a bound, the caller's address is named, and the
//! whole has a deadline.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use bytes::Bytes;
use pdpp_api::{ApiState, RequestId};
use pdpp_auth::{Asked, overdue};

use crate::peer::Peer;

/// How long a request may take, its body included.
const DEADLINE: Duration = Duration::from_secs(30);

/// The route of one path. `answer` decides what every method gets.
pub(crate) fn value_route<A, F>(path: &'static str, max_body: usize, answer: A) -> MethodRouter<Arc<ApiState>>
where
    A: Fn(Asked) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = axum::http::Response<Bytes>> + Send + 'static,
{
    any(move |Extension(request_id): Extension<RequestId>, params: RawPathParams, request: Request| {
        let answer = answer.clone();
        let id = params.iter().next().map(|(_, value)| value.to_owned());
        async move { serve((path, id), max_body, &request_id, request, answer).await }
    })
}

async fn serve<A, F>(
    (path, id): (&'static str, Option<String>),
    max_body: usize,
    request_id: &RequestId,
    request: Request,
    answer: A,
) -> Response
where
    A: Fn(Asked) -> F,
    F: Future<Output = axum::http::Response<Bytes>>,
{
    let (parts, body) = request.into_parts();
    let address = parts.extensions.get::<Peer>().map_or("local".to_owned(), |peer| peer.0.to_string());
    let work = async {
        let body = to_bytes(body, max_body).await.ok();
        let request_id = request_id.as_str().to_owned();
        answer(Asked { path, id, parts, body, request_id, address }).await
    };
    let answered = tokio::time::timeout(DEADLINE, work).await;
    answered.unwrap_or_else(|_| overdue(path, request_id.as_str())).map(Body::from)
}
