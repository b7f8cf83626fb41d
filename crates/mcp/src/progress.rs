//! Progress of a call that takes more than one request, for clients that asked to hear of it.
//!
//! A call that one request answers has nothing to report: its result is there as soon as a report would be. Each
//! further request is announced before it is sent, with a number that only grows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};

/// How long a report may take to be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// Who hears of one call's progress; nobody, by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Option<Arc<Listener>>);

#[derive(Debug)]
struct Listener {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    /// How many requests the call has made.
    requests: AtomicU32,
}

impl Progress {
    /// Reports to a client under the token it gave, if it gave one.
    pub(crate) fn to(peer: &Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self(token.map(|token| Arc::new(Listener { peer: peer.clone(), token, requests: AtomicU32::new(0) })))
    }

    /// Says that another request is about to be made.
    pub(crate) async fn request(&self) {
        let Some(listener) = &self.0 else { return };
        let made = listener.requests.fetch_add(1, Ordering::Relaxed);
        if made == 0 {
            return;
        }
        let message = format!("{made} request(s) answered; asking the resource server again.");
        let report =
            ProgressNotificationParam::new(listener.token.clone(), f64::from(made)).with_message(message);
        // A client that has gone, or reads nothing, must not hold up the call.
        let reported = tokio::time::timeout(PATIENCE, listener.peer.notify_progress(report)).await;
        if !matches!(reported, Ok(Ok(()))) {
            tracing::debug!("progress could not be reported");
        }
    }
}
