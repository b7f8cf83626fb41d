//! What a request is refused with, and how that becomes the error envelope.
//!
//! Two texts: the message is public and built from declared names and the request's own words; the
//! cause is for the log, written once with the request id, and never leaves the server.

use std::error::Error;

use axum::response::Response;
use http::header::{CONTENT_TYPE, HeaderName, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use pdpp_access::Denial;
use pdpp_store::StoreError;
use pdpp_wire::{AvailableConnection, Code, ErrorBody, ErrorEnvelope, ErrorType};

use crate::rendering::real_label;

/// A refusal or failure on its way out.
#[derive(Debug)]
pub struct ApiError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: Code,
    /// Another status than the code's own.
    status: Option<u16>,
    message: String,
    param: Option<String>,
    available_connections: Vec<AvailableConnection>,
    retry_with: Option<&'static str>,
    headers: Vec<(HeaderName, HeaderValue)>,
    token_presented: bool,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// What an error answer says beside the error itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorContext<'a> {
    pub(crate) request_id: &'a str,
    /// Where the protected-resource document is, when the public URL is known.
    pub(crate) resource_metadata: Option<&'a str>,
    /// Whether that document leads to someone who gives out tokens.
    pub(crate) gives_tokens: bool,
}

impl ErrorContext<'_> {
    /// What someone without a valid token can do.
    fn next_step(&self) -> String {
        match self.resource_metadata {
            Some(url) if self.gives_tokens => {
                format!("Read {url} to learn how to obtain a token for this server.")
            }
            _ => "Ask the owner of this data for a token; `pdpp grant create` makes one.".to_owned(),
        }
    }
}

/// Marks a response with the code it carries, for the log and the counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnsweredCode(pub(crate) Code);

impl ApiError {
    /// A refusal with a public message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            status: None,
            message: message.into(),
            param: None,
            available_connections: Vec::new(),
            retry_with: None,
            headers: Vec::new(),
            token_presented: false,
            cause: None,
        }))
    }

    /// A failure inside the server; the cause goes to the log only.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Code::ApiError, "Something failed inside the server.").because(cause)
    }

    /// Answers with another status than the code's own, where the protocol says so.
    #[must_use]
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Names the parameter to blame.
    #[must_use]
    pub fn param(mut self, name: &str) -> Self {
        self.0.param = Some(name.to_owned());
        self
    }

    /// Lists the connections to choose from.
    #[must_use]
    pub fn choose_from(mut self, connections: Vec<AvailableConnection>) -> Self {
        self.0.retry_with = Some("connection_id");
        self.0.available_connections = connections;
        self
    }

    /// Names the parameter to add.
    #[must_use]
    pub(crate) fn retry_with(mut self, name: &'static str) -> Self {
        self.0.retry_with = Some(name);
        self
    }

    /// Says something more.
    #[must_use]
    pub(crate) fn and(mut self, text: &str) -> Self {
        self.0.message.push(' ');
        self.0.message.push_str(text);
        self
    }

    /// Adds a response header.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Says that a token was presented and did not serve.
    #[must_use]
    pub(crate) fn token_presented(mut self) -> Self {
        self.0.token_presented = true;
        self
    }

    /// Keeps the cause for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The public code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The public message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The parameter to blame.
    pub fn blamed(&self) -> Option<&str> {
        self.0.param.as_deref()
    }

    /// The envelope, with its status and headers. Logs the cause, if there is one.
    pub(crate) fn respond(self, context: ErrorContext<'_>) -> Response {
        let parts = *self.0;
        if let Some(cause) = &parts.cause {
            tracing::error!(request_id = context.request_id, code = %parts.code, cause = %chain(cause.as_ref()), "request failed");
        }
        let unauthenticated = parts.code.status() == 401;
        let metadata = context.resource_metadata.filter(|_| unauthenticated);
        let body = ErrorEnvelope {
            error: ErrorBody {
                error_type: parts.status.map_or(parts.code.error_type(), ErrorType::of_status),
                code: parts.code,
                message: parts.message,
                param: parts.param,
                request_id: context.request_id.to_owned(),
                available_connections: Some(parts.available_connections).filter(|list| !list.is_empty()),
                retry_with: parts.retry_with.map(str::to_owned),
                resource_metadata: metadata.map(str::to_owned),
                next_step: unauthenticated.then(|| context.next_step()),
            },
        };
        let mut response = Response::new(serde_json::to_vec(&body).unwrap_or_default().into());
        *response.status_mut() = status(parts.status.unwrap_or(parts.code.status()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if unauthenticated {
            headers.insert(WWW_AUTHENTICATE, challenge(metadata, parts.token_presented));
        }
        headers.extend(parts.headers);
        response.extensions_mut().insert(AnsweredCode(parts.code));
        response
    }
}

/// Codes of single ingest lines have no status of their own; as an answer they are bad requests.
fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST)
}

fn challenge(metadata: Option<&str>, token_presented: bool) -> HeaderValue {
    let mut said = Vec::new();
    if let Some(url) = metadata {
        said.push(format!("resource_metadata=\"{url}\""));
    }
    if token_presented {
        said.push("error=\"invalid_token\"".to_owned());
    }
    let text = if said.is_empty() { "Bearer".to_owned() } else { format!("Bearer {}", said.join(", ")) };
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

impl From<Denial> for ApiError {
    fn from(denial: Denial) -> Self {
        let mut error = Self::new(denial.code, denial.message);
        error.0.param = denial.param;
        if denial.available_connections.is_empty() {
            return error;
        }
        error.choose_from(denial.available_connections.into_iter().map(offered).collect())
    }
}

/// A connection to choose, called by its owner's own words only.
fn offered(connection: AvailableConnection) -> AvailableConnection {
    let key = connection.connector_key.as_ref().map_or("", |key| key.as_str());
    let ids = [connection.connection_id.as_str(), key];
    AvailableConnection { display_name: real_label(connection.display_name.as_deref(), &ids), ..connection }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy(_) => {
                let message = "The data is being changed right now; try again shortly.";
                Self::new(Code::ConnectorInstanceBusy, message).because(error)
            }
            StoreError::OverQuota(over) => Self::new(Code::QuotaExceeded, over.to_string()),
            StoreError::Unreachable(_) => {
                let message = "The data cannot be reached right now; try again shortly.";
                Self::new(Code::StoreUnavailable, message).because(error)
            }
            _ => Self::internal(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`expect!` makes a value")]
    fn check(error: ApiError, resource_metadata: Option<&str>, expected: Expect) {
        let response =
            error.respond(ErrorContext { request_id: "req_1", resource_metadata, gives_tokens: true });
        let headers: Vec<_> =
            response.headers().iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        expected.assert_eq(&format!("{} {}", response.status().as_u16(), headers.join("; ")));
    }

    #[test]
    fn a_missing_token_is_challenged_with_the_place_to_learn_more() {
        let missing = || ApiError::new(Code::AuthenticationError, "Send a bearer token.");
        check(
            missing(),
            None,
            expect![[r#"401 content-type: "application/json"; www-authenticate: "Bearer""#]],
        );
        check(
            missing().token_presented(),
            Some("https://x.test/.well-known/oauth-protected-resource"),
            expect![[
                r#"401 content-type: "application/json"; www-authenticate: "Bearer resource_metadata=\"https://x.test/.well-known/oauth-protected-resource\", error=\"invalid_token\"""#
            ]],
        );
    }

    #[test]
    fn connections_to_choose_from_never_carry_a_placeholder_label() {
        let connection = |label: &str| AvailableConnection {
            connection_id: "cin_1".parse().unwrap(),
            connector_key: Some("post".parse().unwrap()),
            stream: None,
            display_name: Some(label.to_owned()),
        };
        let labels = ["legacy", "post", "cin_1", "Home"].map(connection).to_vec();
        let error = ApiError::from(Denial::new(Code::AmbiguousConnection, "Choose.").choose_from(labels));
        let shown: Vec<_> = error.0.available_connections.iter().map(|c| c.display_name.as_deref()).collect();
        assert_eq!(shown, [None, None, None, Some("Home")]);
    }

    #[test]
    fn causes_stay_inside() {
        let error = ApiError::internal("disk /secret/path is full");
        assert!(!error.message().contains("secret"));
        check(error, None, expect![[r#"500 content-type: "application/json""#]]);
    }
}
