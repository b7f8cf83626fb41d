//! The server a `read` command asks, or the owner's own data directory, and what refusals mean for the exit code.

use std::path::PathBuf;

use clap::Args;
use pdpp_client::{Answer, Client, ClientError, Limits, ProviderUrl, Request};
use serde_json::Value;

use super::local::{self, Holdings};
use super::output::{self, Format};
use super::target::wrong;
use crate::credential::CacheArgs;
use crate::exit::{EndCode, Ended};
use crate::kept::KeptArgs;
use crate::passphrase::PassphraseArgs;

/// Which server, and how its answer is shown.
#[derive(Args, Debug)]
pub(super) struct SourceArgs {
    /// The server [env: `PDPP_PROVIDER_URL`] [default: the only one connected, else `pdpp serve` on this machine]
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Read your own data in this directory, as its owner; no server and no grant is needed
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    data: Option<PathBuf>,

    #[command(flatten)]
    kept: KeptArgs,

    #[command(flatten)]
    passphrase: PassphraseArgs,

    #[command(flatten)]
    cache: CacheArgs,

    /// How to print [default: table on a terminal, json elsewhere]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Where the answers come from, as printed commands name it.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A server's address.
    Server(String),
    /// A data directory, and whose data in it when that was said.
    Directory(String, Option<String>),
}

/// A server with a credential for it, or a data directory.
#[derive(Debug)]
pub(super) struct Source {
    client: Client,
    /// For commands that are printed.
    pub(super) place: Place,
    /// What a data directory holds.
    holdings: Option<Holdings>,
    /// A cache directory that was named, for the same.
    pub(super) cache_root: Option<String>,
}

impl SourceArgs {
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or_else(Format::usual) }
    }

    /// Whether options already say where to read, so that no word can.
    pub(super) fn is_fixed(&self) -> bool {
        self.url.is_some() || self.data.is_some()
    }

    /// The place to read from, with its credential. An address that was written wins over the environment, that over
    /// the only connected server, that over the address `pdpp serve` has by default.
    pub(super) async fn connect(&self, word: Option<String>) -> anyhow::Result<Source> {
        if let Some(data) = &self.data {
            let personal = self.kept.open(data).await?;
            let (client, holdings) = local::client(&personal, self.passphrase).await?;
            let whole = std::path::absolute(data).unwrap_or_else(|_| data.clone());
            let subject = self.kept.subject().map(ToString::to_string);
            return Ok(Source {
                client,
                place: Place::Directory(whole.display().to_string(), subject),
                holdings: Some(holdings),
                cache_root: None,
            });
        }
        let given = self.url.clone().or(word);
        let url = self.cache.provider(given.as_deref()).map_err(wrong)?;
        let found = self.cache.find(&url).map_err(|error| wrong(format!("{}: {error}", error.code())))?;
        let client = Client::http(&url, found.bearer, Limits::default())
            .map_err(|error| Ended::new(EndCode::Other, error.to_string()))?;
        let cache_root = self.cache.given().map(|root| root.display().to_string());
        Ok(Source { client, place: Place::Server(url.to_string()), holdings: None, cache_root })
    }
}

impl Source {
    /// The server's answer; its warnings go beside the output.
    pub(super) async fn json(&self, request: &Request) -> Result<Value, Ended> {
        let answer = self.send(request).await?;
        let body = serde_json::from_slice::<Value>(&answer.body);
        let body = body.map_err(|_| {
            Ended::new(EndCode::Other, format!("{} answered with something that is no JSON", self.name()))
        })?;
        output::warnings(&body);
        Ok(body)
    }

    /// An answer that is no refusal.
    pub(super) async fn send(&self, request: &Request) -> Result<Answer, Ended> {
        let answer = self.client.send(request).await.map_err(|error| self.no_answer(&error))?;
        if answer.is_success() {
            return Ok(answer);
        }
        let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
        Err(self.refusal(answer.status, &body, answer.request_id.as_deref()))
    }

    /// Whether a cursor of a search serves in a later call: a server goes on running, a directory has nobody to ask.
    pub(super) fn keeps_searches(&self) -> bool {
        self.holdings.is_none()
    }

    /// The connection to name to the server.
    pub(super) fn connection(&self, stream: &str, given: Option<String>) -> Result<Option<String>, Ended> {
        match &self.holdings {
            Some(holdings) => holdings.connection(stream, given),
            None => Ok(given),
        }
    }

    /// The connection that was named, by its id.
    pub(super) fn named_connection(&self, given: Option<String>) -> Option<String> {
        match &self.holdings {
            Some(holdings) => given.map(|given| holdings.named(given)),
            None => given,
        }
    }

    /// What people call it.
    pub(super) fn name(&self) -> &str {
        match &self.place {
            Place::Server(name) | Place::Directory(name, _) => name,
        }
    }

    fn no_answer(&self, error: &ClientError) -> Ended {
        let code = match error {
            ClientError::Unreachable(_) | ClientError::TimedOut { .. } => EndCode::Unreachable,
            ClientError::NoCredential(_) => EndCode::ReadUsage,
            ClientError::TooLarge { .. } | ClientError::Malformed(_) => EndCode::Other,
        };
        let mut message = match error {
            ClientError::NoCredential(kept) => format!("{}: {kept}", kept.code()),
            error => format!("{}: {error}", self.name()),
        };
        let here = matches!(&self.place, Place::Server(url) if is_here(url));
        if here && matches!(error, ClientError::Unreachable(_)) {
            message.push_str(". Start it with `pdpp serve`, or read the directory itself with --data DIR");
        }
        Ended::new(code, message)
    }

    /// The server's own words, in either of the shapes errors have.
    fn refusal(&self, status: u16, body: &Value, request_id: Option<&str>) -> Ended {
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
        let code =
            text("/error/code").or_else(|| text("/error")).map_or(format!("http_{status}"), str::to_owned);
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
        } else if let Some(holdings) = &self.holdings
            && status == 400
            && message.contains("`connection_id`")
        {
            message = format!("{message} Here that is --connection-id: {}", holdings.labels().join(", "));
        }
        if let (401, Place::Server(url)) = (status, &self.place) {
            message = format!("{message} `pdpp connect {url}` gets a new credential.");
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
}

fn is_here(url: &str) -> bool {
    ProviderUrl::parse(url).is_ok_and(|url| url.is_loopback())
}
