//! Prometheus metrics on a listener of their own, off unless asked.

use std::net::SocketAddr;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

/// Collects this process's metrics; `None` when something already does.
pub(crate) fn recorder() -> Option<PrometheusHandle> {
    PrometheusBuilder::new().install_recorder().ok()
}

/// Serves `/metrics` until the process ends.
pub(crate) async fn serve(address: SocketAddr, handle: PrometheusHandle) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    let render = move || {
        let text = handle.render();
        async move { ([("content-type", "text/plain; version=0.0.4")], text) }
    };
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, Router::new().route("/metrics", get(render))).await {
            tracing::error!(%error, "the metrics listener stopped");
        }
    });
    Ok(bound)
}
