//! The owner's pages, mounted beside the REST surface. Where a page and an endpoint share a path, the page decides who
//! answers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use pdpp_api::{ApiState, RequestId};
use pdpp_auth::{Asked, overdue};
use pdpp_web::{MAX_FORM, PAGES, Pages, answer};

use crate::peer::Peer;

/// How long a request may take, its body included.
const DEADLINE: Duration = Duration::from_secs(30);

/// Every path that has a page.
pub(crate) fn paths() -> BTreeSet<&'static str> {
    PAGES.iter().map(|page| page.path).collect()
}

/// Every page by its path.
pub(crate) fn endpoints(pages: &Pages) -> Vec<(&'static str, MethodRouter<Arc<ApiState>>)> {
    paths().into_iter().map(|path| (path, endpoint(pages.clone(), path))).collect()
}

fn endpoint(pages: Pages, path: &'static str) -> MethodRouter<Arc<ApiState>> {
    let serve = move |Extension(id): Extension<RequestId>, params: RawPathParams, request: Request| {
        let pages = pages.clone();
        let parameter = params.iter().next().map(|(_, value)| value.to_owned());
        async move { serve(&pages, (path, parameter), &id, request).await }
    };
    any(serve)
}

async fn serve(
    pages: &Pages,
    (path, id): (&'static str, Option<String>),
    request_id: &RequestId,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    // Forwarded headers say nothing here: anyone can send them.
    let address = parts.extensions.get::<Peer>().map_or("local".to_owned(), |peer| peer.0.to_string());
    let work = async {
        let body = to_bytes(body, MAX_FORM).await.ok();
        let request_id = request_id.as_str().to_owned();
        answer(pages, Asked { path, id, parts, body, request_id, address }).await
    };
    let answered = tokio::time::timeout(DEADLINE, work).await;
    answered.unwrap_or_else(|_| overdue(path, request_id.as_str())).map(Body::from)
}
