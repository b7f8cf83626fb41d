//! Failures: the server's own errors pass through unchanged as long as they are of a size to be read, ours carry a
//! code from the same table. Either way the error stands in the text and again in the structure.

mod candidates;
mod fit;

use pdpp_client::{Answer, ClientError};
use pdpp_wire::Code;
use serde_json::{Map, Value, json};

use crate::adapter::BearerKind;
use crate::outcome::Outcome;
use crate::shown::neutral;
use crate::text::{append, clipped};
use crate::tokens::estimate;

/// The longest error text a model is given, in characters.
const MAX_TEXT_CHARS: usize = 4_000;

/// The longest of what stands before the error: a preface, or the connections to choose from.
const MAX_HEAD_CHARS: usize = 1_500;

/// What that may cost, which in a rare script is more than its letters.
const MAX_HEAD_TOKENS: usize = 600;

/// Lengths to which a preface is cut, one after the other, until it costs no more than that.
const PREFACES: [usize; 3] = [MAX_HEAD_CHARS, 400, 120];

/// Why a call did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// The error object, as both halves show it.
    pub(crate) error: Map<String, Value>,
    /// The server's status, when the server refused.
    pub(crate) http_status: Option<u16>,
    pub(crate) request_id: Option<Box<str>>,
    /// What stands before the error in the text, in place of nothing.
    preface: Option<Box<str>>,
}

impl Failure {
    /// A failure of the adapter itself; no request was made, or none brought an answer.
    pub(crate) fn adapter(code: Code, message: impl Into<String>) -> Self {
        let mut error = Map::new();
        error.insert("type".to_owned(), "adapter_error".into());
        error.insert("code".to_owned(), code.as_str().into());
        error.insert("message".to_owned(), message.into().into());
        Self { error, http_status: None, request_id: None, preface: None }
    }

    /// Arguments that do not fit the tool's input schema.
    pub(crate) fn invalid_arguments(tool: &str, param: &str, message: &str) -> Self {
        let sentence =
            format!("Input validation error: Invalid arguments for tool {tool}: `{param}` {message}");
        let mut failure = Self::adapter(Code::InvalidArguments, sentence.clone()).param(param);
        failure.preface = Some(format!("MCP error -32602: {sentence}").into());
        failure
    }

    /// Names the argument at fault.
    #[must_use]
    pub(crate) fn param(self, param: &str) -> Self {
        self.with("param", param)
    }

    /// Adds a member to the error object.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.error.insert(name.to_owned(), value.into());
        self
    }

    /// The error's code, whoever gave it.
    pub(crate) fn code(&self) -> &str {
        self.error.get("code").and_then(Value::as_str).unwrap_or("")
    }

    /// The server's refusal, in whichever shape it came.
    pub(crate) fn refused(answer: &Answer) -> Self {
        let body = serde_json::from_slice::<Value>(&answer.body).ok();
        let mut error = if let Some(Value::Object(mut members)) = body {
            match members.remove("error") {
                Some(Value::Object(error)) => error,
                Some(Value::String(code)) => {
                    let message = members.remove("error_description").unwrap_or_else(|| code.as_str().into());
                    object(&json!({"type": code, "code": code, "message": message}))
                }
                _ => members,
            }
        } else {
            let text = String::from_utf8_lossy(&answer.body);
            let plain = text.trim();
            // A page of HTML says nothing a model can use.
            let message = if plain.is_empty() || plain.starts_with('<') {
                format!("The resource server answered with status {}.", answer.status)
            } else {
                plain.chars().take(500).collect()
            };
            object(
                &json!({"type": "rs_error", "code": format!("http_{}", answer.status), "message": message}),
            )
        };
        if !error.contains_key("code") {
            error.insert("code".to_owned(), format!("http_{}", answer.status).into());
        }
        if let Some(id) = &answer.request_id {
            error.entry("request_id").or_insert_with(|| id.as_str().into());
        }
        if let Some(seconds) = answer.retry_after_seconds {
            error.entry("retry_after_seconds").or_insert_with(|| seconds.into());
        }
        Self {
            error,
            http_status: Some(answer.status),
            request_id: answer.request_id.as_deref().map(Into::into),
            preface: None,
        }
    }

    /// What to do about a credential that was refused: a server says how tokens are made there, what to type here
    /// only we know.
    #[must_use]
    pub(crate) fn reconnect(self, bearer: BearerKind, provider_url: &str) -> Self {
        if self.http_status != Some(401) {
            return self;
        }
        let connect = format!("pdpp connect {provider_url}");
        let (next_step, reconnect) = match bearer {
            BearerKind::Scoped => (
                "The credential was refused. Ask the owner to run `pdpp connect <provider-url>` again.",
                connect,
            ),
            // The variable goes before what `pdpp connect` keeps.
            BearerKind::Unknown => (
                "The token in PDPP_CLIENT_TOKEN was refused. Ask the owner for another one.",
                format!("replace PDPP_CLIENT_TOKEN, or remove it and run {connect}"),
            ),
        };
        let mut failure = self.with("reconnect", reconnect);
        failure.error.entry("next_step").or_insert_with(|| next_step.into());
        failure
    }

    /// The error as it is shown, cut until it takes at most `max_chars` as JSON and costs no more than an error may.
    pub(crate) fn shown(&self, max_chars: usize) -> Value {
        fit::fit(neutral(&Value::Object(self.error.clone())).value, max_chars)
    }

    /// The result the model sees: what to call next, then the error, the same in both halves.
    pub(crate) fn outcome(&self, provider_url: &str) -> Outcome {
        let mut text = String::new();
        if let Some(preface) = &self.preface {
            for chars in PREFACES {
                text = clipped(preface, chars);
                if estimate(&text) <= MAX_HEAD_TOKENS {
                    break;
                }
            }
            text.push('\n');
        }
        if let Some(candidates) = candidates::line(&self.error, MAX_HEAD_CHARS, MAX_HEAD_TOKENS) {
            append(&mut text, format_args!("{candidates}\n"));
        }
        let error = self.shown(MAX_TEXT_CHARS - text.chars().count());
        append(&mut text, format_args!("{error}"));
        let mut structured = json!({"error": error, "provider_url": provider_url});
        if let Some(status) = self.http_status {
            structured["http_status"] = status.into();
        }
        structured["request_id"] = self.request_id.as_deref().into();
        Outcome::error(text, structured)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let code = match &error {
            ClientError::Unreachable(_) => Code::RsUnreachable,
            ClientError::TimedOut { .. } => Code::RsTimeout,
            ClientError::TooLarge { .. } => Code::ResponseTooLarge,
            ClientError::NoCredential(error) => error.code(),
            ClientError::Malformed(_) => Code::InvalidArguments,
        };
        Self::adapter(code, format!("{error}. {}", code.advice()))
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
