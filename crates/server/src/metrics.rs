//! Prometheus metrics on a listener of their own, off unless asked.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

use crate::ServeConfig;
use crate::hosts::Hosts;
use crate::listener::{self, Bounds};

/// Scrapers connected at the same time.
const CONNECTIONS: usize = 64;

/// The metrics listener, bound but not yet answering.
#[derive(Debug)]
pub(crate) struct Metrics {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
}

impl Metrics {
    /// Collects this process's metrics and binds their listener; `None` when something already collects.
    pub(crate) async fn bind(address: SocketAddr, config: &ServeConfig) -> std::io::Result<Option<Self>> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let Ok(handle) = PrometheusBuilder::new().install_recorder() else { return Ok(None) };
        let router = router(handle, Hosts::of(config, address));
        Ok(Some(Self { listener, address, router }))
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `/metrics` until dropped.
    pub(crate) async fn run(self) {
        let bounds = Bounds { connections: CONNECTIONS, ..Bounds::default() };
        listener::serve(self.listener, self.router, (bounds, Arc::default()), std::future::pending()).await;
    }
}

fn router(handle: PrometheusHandle, hosts: Hosts) -> Router {
    let render = move || {
        let text = handle.render();
        async move { ([("content-type", "text/plain; version=0.0.4")], text) }
    };
    Router::new().route("/metrics", get(render)).layer(from_fn_with_state(Arc::new(hosts), check_host))
}

async fn check_host(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    if hosts.answer_for(request.uri(), request.headers()) {
        return next.run(request).await;
    }
    StatusCode::MISDIRECTED_REQUEST.into_response()
}
