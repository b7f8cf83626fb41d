//! Streamable HTTP: stateless, one request, one JSON answer (or events, when a call reports progress).
//!
//! Nothing is kept between requests: no session, no authorization. Whoever mounts this has already checked the
//! host and the bearer. Requests from web pages of other origins are refused, so that a page cannot use a server
//! on its reader's machine.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::batch;

/// The largest request that is taken.
const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024;

/// An answer on its way out.
pub type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// What a mounted endpoint accepts.
#[derive(Clone)]
pub struct HttpEndpoint {
    config: StreamableHttpServerConfig,
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint").field("origins", &self.config.allowed_origins).finish_non_exhaustive()
    }
}

impl HttpEndpoint {
    /// An endpoint that web pages of these origins may use; others are refused. The host is checked by whoever
    /// mounts it.
    pub fn new<O: Into<String>>(allowed_origins: impl IntoIterator<Item = O>) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_REQUEST_BYTES)
            .disable_allowed_hosts()
            .with_allowed_origins(allowed_origins)
            .enforce_origin_validation();
        Self { config }
    }

    /// The same endpoint, answering only for these hosts.
    #[must_use]
    pub fn with_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.config = self.config.with_allowed_hosts(hosts);
        self
    }

    /// Answers one request with a handler made for it alone.
    pub async fn answer<S, B>(&self, handler: S, request: Request<B>) -> HttpAnswer
    where
        S: ServerHandler + Clone + Send + Sync + 'static,
        B: http_body::Body + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        B::Data: Send + 'static,
    {
        if request.method() != Method::POST {
            let mut refusal = refusal(
                StatusCode::METHOD_NOT_ALLOWED,
                -32000,
                "This endpoint is stateless and answers POST only.",
            );
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            return refusal;
        }
        let (parts, body) = request.into_parts();
        let body = match Limited::new(body, MAX_REQUEST_BYTES).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let message = format!("The request is larger than {MAX_REQUEST_BYTES} bytes.");
                return refusal(StatusCode::PAYLOAD_TOO_LARGE, -32600, &message);
            }
            Err(_) => {
                return refusal(StatusCode::BAD_REQUEST, -32600, "The request ended before it was complete.");
            }
        };
        if !is_json(&parts.headers) {
            return self.one(handler, parts, body).await;
        }
        match serde_json::from_slice::<Value>(&body) {
            Err(error) => refusal(StatusCode::BAD_REQUEST, -32700, &format!("Parse error: {error}")),
            Ok(Value::Array(messages)) => self.batch(handler, parts, messages).await,
            Ok(_) => self.one(handler, parts, body).await,
        }
    }

    async fn one<S>(&self, handler: S, parts: Parts, body: Bytes) -> HttpAnswer
    where
        S: ServerHandler + Clone + Send + Sync + 'static,
    {
        let make = move || Ok(handler.clone());
        let sessions = Arc::new(NeverSessionManager::default());
        let service = StreamableHttpService::new(make, sessions, self.config.clone());
        match service.oneshot(Request::from_parts(parts, Full::new(body))).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Several messages in one array, which only one revision has; the answers leave together.
    async fn batch<S>(&self, handler: S, parts: Parts, messages: Vec<Value>) -> HttpAnswer
    where
        S: ServerHandler + Clone + Send + Sync + 'static,
    {
        let version = parts.headers.get("mcp-protocol-version").map(HeaderValue::as_bytes);
        if version.is_some_and(|version| version != batch::REVISION.as_bytes()) {
            let message =
                format!("Batches exist only in revision {}; send one message a request.", batch::REVISION);
            return refusal(StatusCode::BAD_REQUEST, -32600, &message);
        }
        let alone = messages.iter().any(|message| message["method"] == "initialize");
        if alone || messages.is_empty() || messages.len() > batch::MAX_MESSAGES {
            let message =
                format!("A batch holds 1 to {} messages, and `initialize` comes alone.", batch::MAX_MESSAGES);
            return refusal(StatusCode::BAD_REQUEST, -32600, &message);
        }
        let mut answers = Vec::new();
        for mut message in messages {
            // The answers leave together, so there is nowhere to report progress to.
            if let Some(meta) = message.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
                meta.shift_remove("progressToken");
            }
            let id = message.get("id").cloned().unwrap_or(Value::Null);
            let answer = self.one(handler.clone(), parts.clone(), Bytes::from(message.to_string())).await;
            let status = answer.status();
            // What is wrong with the headers is wrong for the whole batch.
            if [StatusCode::FORBIDDEN, StatusCode::NOT_ACCEPTABLE].contains(&status) {
                return answer;
            }
            let Ok(body) = answer.into_body().collect().await;
            match serde_json::from_slice::<Value>(&body.to_bytes()) {
                Ok(answer) => answers.push(answer),
                Err(_) if status.is_client_error() => answers.push(complaint(&id, -32600, "Invalid request")),
                // A notification has no answer.
                Err(_) => {}
            }
        }
        if answers.is_empty() {
            let mut accepted = Response::new(Full::new(Bytes::new()).boxed());
            *accepted.status_mut() = StatusCode::ACCEPTED;
            return accepted;
        }
        json(StatusCode::OK, &Value::from(answers))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    given.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("application/json")
}

fn refusal(status: StatusCode, code: i32, message: &str) -> HttpAnswer {
    json(status, &complaint(&Value::Null, code, message))
}

fn complaint(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn json(status: StatusCode, body: &Value) -> HttpAnswer {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
