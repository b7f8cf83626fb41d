//! The accept loop: how many connections may be open, how long one may dawdle, and an orderly end.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::peer::{Network, peer};
use crate::stalled::Stalled;

/// How long to wait when the system has no connection to give, for example no file handle.
const REST: Duration = Duration::from_secs(1);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Connections open at the same time; more wait unaccepted.
    pub(crate) connections: usize,
    /// How long a request's head may take to arrive, and how long a connection may lie idle.
    pub(crate) head: Duration,
    /// How long a client may take none of its answer.
    pub(crate) stall: Duration,
    /// How long open requests may take to finish after the server was told to stop.
    pub(crate) drain: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1_024,
            head: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            drain: Duration::from_secs(10),
        }
    }
}

/// Answers until told to stop, then lets open requests finish for a while and drops the rest.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    (bounds, proxies): (Bounds, Arc<[Network]>),
    stop: impl Future<Output = ()>,
) {
    let permits = Arc::new(Semaphore::new(bounds.connections));
    let graceful = GracefulShutdown::new();
    // Dropped at the end, and every connection still open with it.
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let (stream, permit) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let around = (bounds, Arc::clone(&proxies));
        open.spawn(answer(stream, permit, graceful.watcher(), router.clone(), around));
        while open.try_join_next().is_some() {}
    }
    drop(listener);
    tracing::info!("stopping: open requests may finish");
    if tokio::time::timeout(bounds.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    let permit = Arc::clone(permits).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// Whether a connection failed before it was accepted, which says nothing about the next one.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn answer(
    stream: TcpStream,
    permit: OwnedSemaphorePermit,
    watcher: hyper_util::server::graceful::Watcher,
    router: Router,
    (bounds, proxies): (Bounds, Arc<[Network]>),
) {
    let connection = stream.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip());
    let service = router.map_request(move |mut request: Request<Incoming>| {
        let peer = peer(connection, request.headers(), &proxies);
        request.extensions_mut().insert(peer);
        request
    });
    let io = TokioIo::new(Stalled::new(stream, bounds.stall));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head)
        .keep_alive(true)
        .serve_connection(io, TowerToHyperService::new(service));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
    drop(permit);
}

#[cfg(test)]
mod tests;
