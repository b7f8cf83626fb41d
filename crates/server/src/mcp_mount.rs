//! `/mcp`: the MCP adapter over HTTP, on our own router without a socket.
//!
//! Every request is authenticated anew; nothing is kept between two of them. The token that opened the door is the
//! one the reads are made with, so the adapter can do no more than its caller.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, ORIGIN};
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use pdpp_api::{ApiState, admit_client};
use pdpp_auth::AuthorizationServer;
use pdpp_client::{Bearer, Client, FixedBearer, Limits};
use pdpp_mcp::{Adapter, HttpEndpoint, Now, Settings};
use pdpp_store::Door;

use crate::Personal;
use crate::in_process::in_process;

/// How the hosted adapter calls itself.
const SERVER_NAME: &str = "pdpp";

/// How much is read of a message that is refused, and for how long.
const REFUSED_BYTES: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

/// The MCP endpoint, to stand beside the REST surface.
pub(crate) fn endpoint(
    state: &Arc<ApiState>,
    public_url: &str,
    personal: &Personal,
    oauth: &AuthorizationServer,
) -> MethodRouter<Arc<ApiState>> {
    // Replaced by the caller's token before any call is made.
    let nobody = Arc::new(FixedBearer(Bearer::new("none")));
    let rest = in_process(pdpp_api::router(Arc::clone(state)), Door::Mcp);
    let client = Client::in_process(rest, public_url, nobody, Limits::default());
    let settings =
        Settings { server_name: SERVER_NAME.to_owned(), now: Some(today(personal)), ..Settings::default() };
    let adapter = Adapter::new(client, settings);
    let endpoint = HttpEndpoint::new(origins(public_url));
    let mount = Arc::new(Mount { adapter, endpoint, oauth: oauth.clone() });
    let serve = move |State(state): State<Arc<ApiState>>, request: Request| {
        let mount = Arc::clone(&mount);
        async move { mount.answer(&state, request).await }
    };
    any(serve)
}

/// The time as this data directory knows it.
fn today(personal: &Personal) -> Now {
    let personal = personal.clone();
    Now::new(move || personal.clock().now())
}

struct Mount {
    adapter: Adapter,
    endpoint: HttpEndpoint,
    oauth: AuthorizationServer,
}

impl Mount {
    async fn answer(&self, state: &ApiState, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        let client_id = match admit_client(state, &parts, Door::Mcp, "/mcp").await {
            Ok(client_id) => client_id,
            Err(refusal) => {
                read_to_the_end(body).await;
                return refusal;
            }
        };
        // A page of the client whose token it is is as good as the client; others meet the endpoint's own list.
        let origin = parts.headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
        if let Some(origin) = origin
            && self.oauth.is_page_of(&client_id, origin).await
        {
            parts.headers.remove(ORIGIN);
        }
        let adapter = self.adapter.with_bearer(bearer(&parts));
        self.endpoint.answer(adapter, Request::from_parts(parts, body)).await.map(Body::new)
    }
}

/// Lets a refused message arrive. Otherwise its connection is closed behind the answer, and a host that sends its next
/// message on it, with a better token perhaps, is told nothing.
async fn read_to_the_end(body: Body) {
    // A stranger who sends more, or more slowly, loses the connection.
    let _ = tokio::time::timeout(PATIENCE, axum::body::to_bytes(body, REFUSED_BYTES)).await;
}

/// The token of a request that has been admitted with it.
fn bearer(request: &Parts) -> Bearer {
    let header = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("");
    Bearer::new(header.strip_prefix("Bearer ").unwrap_or(""))
}

/// Pages of our own origin, and of this machine, may call.
fn origins(public_url: &str) -> Vec<String> {
    let own = public_url.split('/').take(3).collect::<Vec<_>>().join("/");
    let here = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned);
    let own = match own.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => own,
        _ if own.starts_with("https:") => format!("{own}:443"),
        _ => format!("{own}:80"),
    };
    here.into_iter().chain([own]).collect()
}
