//! `pdpp events listen`: a receiver on this machine that verifies and prints, to develop with.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use clap::Args;
use pdpp_access::{Clock as _, Secret};
use pdpp_events::{SignatureFault, verify};
use pdpp_server::{Personal, SystemClock};
use pdpp_wire::SubscriptionId;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::args::DataArgs;
use crate::commands::serve::stop_signal;
use crate::exit::Usage;
use crate::terminal;

/// Largest event taken.
const MAX_EVENT: usize = 256 * 1024;

/// Receive events on this machine, verify them and print them, one JSON object a line
///
/// For development: it answers challenges and takes everything that is signed as it should be. Signatures are checked
/// with the secrets of the data directory, or with --secret where the events come from another server. `pdpp serve`
/// sends to this machine only with --allow-loopback-callbacks, and only to hosts that are allowed for the client.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp events listen --listen 127.0.0.1:9000")]
pub(super) struct ListenArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Where to listen; this machine only
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The secret of a subscription at another server
    #[arg(long, value_name = "SECRET", env = "PDPP_WEBHOOK_SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Stop after so many events
    #[arg(long, value_name = "COUNT")]
    count: Option<u32>,
}

struct Receiver {
    personal: Option<Personal>,
    secret: Option<Secret>,
    /// One permit for each printed event.
    printed: Semaphore,
}

pub(super) async fn run(args: ListenArgs) -> anyhow::Result<()> {
    if !args.listen.ip().is_loopback() {
        return Err(Usage("listen on this machine only, such as 127.0.0.1:9000".to_owned()).into());
    }
    let secret = args.secret.map(Secret::presented);
    let personal = match secret {
        Some(_) => None,
        None => Some(args.data.open().await?),
    };
    let listener =
        TcpListener::bind(args.listen).await.with_context(|| format!("cannot listen on {}", args.listen))?;
    let asked = stop_signal();
    terminal::note(&format!("waiting for events on http://{}/", listener.local_addr()?));
    let receiver = Arc::new(Receiver { personal, secret, printed: Semaphore::new(0) });
    let router = Router::new().fallback(take).with_state(Arc::clone(&receiver));
    let stop = async move {
        tokio::select! {
            () = asked => {}
            () = receiver.enough(args.count) => {}
        }
    };
    axum::serve(listener, router).with_graceful_shutdown(stop).await?;
    Ok(())
}

async fn take(State(receiver): State<Arc<Receiver>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_EVENT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    match receiver.read(&head.headers, &body).await {
        Ok(event) => {
            let printed = terminal::json_line(&event);
            receiver.printed.add_permits(1);
            if printed.is_err() {
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
            match event.pointer("/data/challenge") {
                Some(challenge) => axum_json(&json!({ "challenge": challenge })),
                None => StatusCode::NO_CONTENT.into_response(),
            }
        }
        Err(problem) => {
            terminal::note(&format!("refused: {problem}"));
            (StatusCode::BAD_REQUEST, problem).into_response()
        }
    }
}

fn axum_json(value: &Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}

impl Receiver {
    /// Ends when so many events were printed.
    async fn enough(&self, count: Option<u32>) {
        match count {
            // The semaphore is never closed.
            Some(count) => drop(self.printed.acquire_many(count).await),
            None => std::future::pending().await,
        }
    }

    /// The event, if it is signed as it should be.
    async fn read(&self, headers: &HeaderMap, body: &Bytes) -> Result<Value, String> {
        let event: Value = serde_json::from_slice(body).map_err(|_| "that is no event".to_owned())?;
        let secret = self.secret_of(&event).await?;
        verify(&secret, headers, body, SystemClock.now()).map_err(|fault| {
            match fault {
                SignatureFault::Malformed => "the webhook headers are missing or malformed",
                SignatureFault::Stale => "the event was signed too long ago, or in the future",
                SignatureFault::Wrong => "the signature is not that of this subscription's secret",
            }
            .to_owned()
        })?;
        Ok(event)
    }

    async fn secret_of(&self, event: &Value) -> Result<Secret, String> {
        let Some(personal) = &self.personal else {
            return self.secret.clone().ok_or_else(|| "there is no secret".to_owned());
        };
        let unknown = || "the event names no subscription of this data directory".to_owned();
        let named = event.pointer("/data/subscription_id").and_then(Value::as_str).ok_or_else(unknown)?;
        let id = SubscriptionId::parse(named).map_err(|_| unknown())?;
        let found = personal.store().find_subscription(personal.subject(), &id, None).await;
        let found = found.map_err(|error| error.to_string())?.ok_or_else(unknown)?;
        let secrets = personal.webhook_secrets().map_err(|error| error.to_string())?;
        secrets.open(&id, &found.sealed_secret).ok_or_else(|| "the secret does not open".to_owned())
    }
}
