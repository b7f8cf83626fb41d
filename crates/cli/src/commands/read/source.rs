//! The server a `read` command asks, and what its refusals mean for the exit code.

use clap::Args;
use pdpp_client::{Client, ClientError, Limits, ProviderUrl, Request};
use serde_json::Value;

use super::output::{self, Format};
use super::target::wrong;
use crate::credential::{CacheArgs, variable};
use crate::exit::{EndCode, Ended};

/// Where `pdpp serve` listens when nobody says otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:7663";

/// Which server, and how its answer is shown.
#[derive(Args, Debug)]
pub(super) struct SourceArgs {
    /// The server [env: `PDPP_PROVIDER_URL`] [default: where `pdpp serve` listens on this machine]
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,

    #[command(flatten)]
    cache: CacheArgs,

    /// How to print [default: table on a terminal, json elsewhere]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// A server with a credential for it.
#[derive(Debug)]
pub(super) struct Source {
    client: Client,
    /// Its address, for commands that are printed.
    pub(super) url: String,
    /// A cache directory that was named, for the same.
    pub(super) cache_root: Option<String>,
}

impl SourceArgs {
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or_else(Format::usual) }
    }

    /// The server, from the command, the environment or the default, with its credential.
    pub(super) fn connect(&self, word: Option<String>) -> Result<Source, Ended> {
        let given = self.url.clone().or(word).or_else(|| variable("PDPP_PROVIDER_URL"));
        let url = ProviderUrl::parse(given.as_deref().unwrap_or(DEFAULT_URL))
            .map_err(|error| wrong(error.to_string()))?;
        let found = self.cache.find(&url).map_err(|error| wrong(format!("{}: {error}", error.code())))?;
        let client = Client::http(&url, found.bearer, Limits::default())
            .map_err(|error| Ended::new(EndCode::Other, error.to_string()))?;
        let cache_root = self.cache.given().map(|root| root.display().to_string());
        Ok(Source { client, url: url.to_string(), cache_root })
    }
}

impl Source {
    /// The server's answer; its warnings go beside the output.
    pub(super) async fn json(&self, request: &Request) -> Result<Value, Ended> {
        let answer = self.client.send(request).await.map_err(|error| no_answer(&error))?;
        let body = serde_json::from_slice::<Value>(&answer.body);
        if !answer.is_success() {
            return Err(refusal(answer.status, &body.unwrap_or_default(), answer.request_id.as_deref()));
        }
        let body = body.map_err(|_| {
            Ended::new(EndCode::Other, format!("{} answered with something that is no JSON", self.url))
        })?;
        output::warnings(&body);
        Ok(body)
    }
}

fn no_answer(error: &ClientError) -> Ended {
    let code = match error {
        ClientError::Unreachable(_) | ClientError::TimedOut { .. } => EndCode::Unreachable,
        ClientError::NoCredential(_) => EndCode::ReadUsage,
        ClientError::TooLarge { .. } | ClientError::Malformed(_) => EndCode::Other,
    };
    Ended::new(code, error.to_string())
}

/// The server's own words, in either of the shapes errors have.
fn refusal(status: u16, body: &Value, request_id: Option<&str>) -> Ended {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let code = text("/error/code").or_else(|| text("/error")).map_or(format!("http_{status}"), str::to_owned);
    let said = text("/error/message").or_else(|| text("/error_description"));
    let mut message = format!("{code}: {}", said.unwrap_or("the server refused"));
    let connections = body.pointer("/error/available_connections").and_then(Value::as_array);
    let ids: Vec<&str> = connections
        .into_iter()
        .flatten()
        .filter_map(|one| one.get("connection_id")?.as_str())
        .take(12)
        .collect();
    if !ids.is_empty() {
        message = format!("{message} Choose with --connection-id: {}", ids.join(", "));
    }
    if let Some(id) = request_id {
        message = format!("{message} (request {id})");
    }
    let code = match status {
        401 => EndCode::Unauthenticated,
        403 => EndCode::Forbidden,
        404 => EndCode::NotFound,
        _ => EndCode::Other,
    };
    Ended::new(code, message)
}
