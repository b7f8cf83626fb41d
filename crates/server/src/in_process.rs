//! Our own router as a server that needs no socket, so that the MCP adapter reaches it as it reaches any other.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::header::HOST;
use axum::http::{HeaderValue, Request, Response};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use pdpp_client::InProcess;
use pdpp_store::Door;
use tower::{BoxError, Service};

/// The router behind a door: what is read through it is entered in the ledger as read there.
pub fn in_process(router: Router, door: Door) -> InProcess {
    InProcess::new(Here { router, door })
}

#[derive(Clone)]
struct Here {
    router: Router,
    door: Door,
}

impl Service<Request<Full<Bytes>>> for Here {
    type Response = Response<UnsyncBoxBody<Bytes, std::io::Error>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Service::<Request<Body>>::poll_ready(&mut self.router, context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.door);
        // A router answers for its own hosts only, and this one is called from its own machine.
        request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        let answer = self.router.call(request);
        Box::pin(
            async move { Ok(answer.await?.map(|body| body.map_err(std::io::Error::other).boxed_unsync())) },
        )
    }
}
