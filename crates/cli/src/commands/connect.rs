//! `pdpp connect`: ask the owner of a server for access, and keep what they give.
//!
//! What is kept can be renewed and given back; nothing is kept before the server has shown that it works.

mod browser;
mod callback;
mod choose;
mod flow;
mod shown;

use std::time::Duration;

use clap::Args;
use pdpp_access::Clock as _;
use pdpp_auth::DEFAULT_PURPOSE;
use pdpp_client::authorization::{
    ClientRegistration, ConnectError, DetailAsk, Grant, ServerMetadata, StreamAsk, details, discover,
    register, revoke,
};
use pdpp_client::{CacheRoots, Client, FixedBearer, Limits, ProviderUrl, Request, keep, known_client};
use pdpp_server::SystemClock;
use pdpp_wire::Instant;
use serde_json::Value;

use crate::credential::CacheArgs;
use crate::exit::{EndCode, Ended, Usage};
use crate::{asking, moment, terminal};
use flow::Way;

/// Ask for access to a PDPP server, and keep the credential
///
/// The owner of the server is shown what you ask for, and decides. Without --source you are asked on a terminal what you
/// want; elsewhere you ask for nothing in particular, and the owner chooses on the server's page. How long the access lasts
/// is the owner's choice too. The credential is kept in a file only you can read, and renewed when needed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  pdpp connect https://data.example.org\n  \
                  pdpp connect https://data.example.org --source notes --stream notes:title,body --since 90d --expires 30d\n  \
                  pdpp connect https://data.example.org --device")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people type")]
pub(crate) struct ConnectArgs {
    /// The server
    #[arg(value_name = "URL")]
    url: String,
    /// A source to ask for: its URI, or its short key (`notes` for `urn:pdpp:source:notes`); may be repeated
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// What of it: [CONNECTION/]NAME[:FIELD,...]; may be repeated [default: every stream]
    #[arg(long, value_name = "STREAM", requires = "source")]
    stream: Vec<String>,
    /// Only records from this time on: a date, or how long ago (90d)
    #[arg(long, value_name = "TIME", requires = "source")]
    since: Option<String>,
    /// Only records before this time
    #[arg(long, value_name = "TIME", requires = "source")]
    until: Option<String>,
    /// When the access should end: 30d, 12h or a date; the owner is told, and it is not used here any longer than that
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// One token that is not renewed, instead of lasting access
    #[arg(long, requires = "source")]
    single_use: bool,
    /// What for, as an absolute URI
    #[arg(long, value_name = "URI", default_value = DEFAULT_PURPOSE)]
    purpose: String,
    /// What for, in your words; the owner reads it
    #[arg(long, value_name = "TEXT", requires = "source")]
    because: Option<String>,
    /// What the owner is told you are called
    #[arg(long, value_name = "NAME", default_value = "pdpp command line")]
    name: String,
    /// Show a code to type into any browser, instead of opening one here
    #[arg(long)]
    device: bool,
    /// Only print the address, and wait for a browser of this machine to come back from it
    #[arg(long, conflicts_with = "device")]
    no_browser: bool,
    /// How long to wait for the owner, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    #[command(flatten)]
    cache: CacheArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: ConnectArgs) -> anyhow::Result<()> {
    let url =
        ProviderUrl::parse(&args.url).map_err(|error| Usage(format!("invalid_provider_url: {error}")))?;
    let now = SystemClock.now();
    let mut wanted = args.wanted(now)?;
    let server = discover(&url).await.map_err(ended)?;
    if args.source.is_empty() && !args.json && asking::is_answered() {
        choose::missing(&mut wanted, &args.cache, &url, now).await?;
    }
    let asks = args.asks(&wanted);
    let request = (!asks.is_empty()).then(|| details(&asks));
    let roots = args.cache.roots();
    let (client, grant) = args.ask(&server, &url, &roots, request.as_ref()).await?;
    let schema = match verify(&url, &grant).await {
        Ok(schema) => schema,
        Err(problem) => {
            give_back(&server, &client, &grant).await;
            return Err(problem.into());
        }
    };
    let kept = keep(&roots, &url, (&server, &client), &grant, wanted.ends_at, SystemClock.now());
    let path = match kept {
        Ok(path) => path,
        Err(error) => {
            give_back(&server, &client, &grant).await;
            let place = roots.root().display();
            return Err(
                anyhow::Error::from(error).context(format!("the credential cannot be kept in {place}"))
            );
        }
    };
    shown::connected(&url, &server, &client, &grant, &schema, (&path, wanted.ends_at), args.json)
}

/// What is asked for.
#[derive(Debug, Default)]
struct Wanted {
    /// Each source with its streams; no streams means all of them.
    sources: Vec<(String, Vec<StreamAsk>)>,
    since: Option<String>,
    until: Option<String>,
    ends_at: Option<Instant>,
}

impl ConnectArgs {
    /// What the flags say.
    fn wanted(&self, now: Instant) -> Result<Wanted, Usage> {
        if self.source.len() > 1 && !self.stream.is_empty() {
            return Err(Usage("--stream goes with one --source; ask for each source by itself, or for all streams of several".to_owned()));
        }
        let bound = |text: &Option<String>| {
            text.as_deref().map(|text| moment::parse_past(text, now).map(Instant::to_rfc3339)).transpose()
        };
        let (since, until) = (bound(&self.since)?, bound(&self.until)?);
        let ends_at = self.expires.as_deref().map(|text| ends(text, now)).transpose()?;
        let stream = |text: &String| {
            StreamAsk::parse(text).ok_or_else(|| {
                Usage(format!("'{text}' names no stream; write [CONNECTION/]NAME[:FIELD,...]"))
            })
        };
        let streams = self.stream.iter().map(stream).collect::<Result<Vec<_>, _>>()?;
        let sources = self.source.iter().map(|source| (source.clone(), streams.clone())).collect();
        Ok(Wanted { sources, since, until, ends_at })
    }

    fn asks(&self, wanted: &Wanted) -> Vec<DetailAsk> {
        // No request can carry an end of its own, so the owner reads it beside the purpose.
        let end = wanted.ends_at.map(|at| format!("Asks for access until {}.", at.to_rfc3339()));
        let said: Vec<String> = [self.because.clone(), end].into_iter().flatten().collect();
        let ask = |(source, streams): &(String, Vec<StreamAsk>)| DetailAsk {
            source: source.clone(),
            purpose_code: self.purpose.clone(),
            purpose_description: (!said.is_empty()).then(|| said.join(" ")),
            single_use: self.single_use,
            streams: streams.clone(),
            since: wanted.since.clone(),
            until: wanted.until.clone(),
        };
        wanted.sources.iter().map(ask).collect()
    }

    /// Registers where needed, and asks. A registration of an earlier time that the server no longer knows is made anew.
    async fn ask(
        &self,
        server: &ServerMetadata,
        url: &ProviderUrl,
        roots: &CacheRoots,
        wanted: Option<&Value>,
    ) -> Result<(ClientRegistration, Grant), Ended> {
        let way = Way {
            device: self.device,
            no_browser: self.no_browser,
            patience: Duration::from_secs(self.timeout),
        };
        if let Some(client) = known_client(roots, url, &server.issuer) {
            match flow::ask(server, &client, url, wanted, way).await {
                Err(ConnectError::Refused { code, .. }) if is_about_the_client(&code) => {}
                asked => return asked.map(|grant| (client, grant)).map_err(ended),
            }
        }
        let client = register(server, &self.name).await.map_err(ended)?;
        let grant = flow::ask(server, &client, url, wanted, way).await.map_err(ended)?;
        Ok((client, grant))
    }
}

/// When the access should end, which must be later than now.
fn ends(text: &str, now: Instant) -> Result<Instant, Usage> {
    match moment::parse_future(text, now)? {
        at if at > now => Ok(at),
        _ => Err(Usage(format!("'{text}' is over; write a later time, such as 30d"))),
    }
}

fn is_about_the_client(code: &str) -> bool {
    ["invalid_client", "unauthorized_client", "invalid_redirect_uri"].contains(&code)
}

/// What the token opens, by asking for it.
async fn verify(url: &ProviderUrl, grant: &Grant) -> Result<Value, Ended> {
    let failed = |message: String| Ended::new(EndCode::Unreachable, message);
    let bearer = std::sync::Arc::new(FixedBearer(grant.access_token.clone()));
    let client = Client::http(url, bearer, Limits::default()).map_err(|error| failed(error.to_string()))?;
    let request = Request::get(["v1", "schema"]).query("view", "compact");
    let answer =
        client.send(&request).await.map_err(|error| failed(format!("token_verification_failed: {error}")))?;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match answer.status {
        200 if body.pointer("/bearer/token_kind").and_then(Value::as_str) == Some("owner") => Err(failed(
            "connect_contract_invalid: the server gave an owner's token; it was not kept".to_owned(),
        )),
        200 => Ok(body),
        403 => Err(failed(format!("insufficient_scope: the new token reads nothing: {}", said(&body)))),
        status => Err(failed(format!(
            "token_verification_failed: {url} answers the new token with status {status}: {}",
            said(&body)
        ))),
    }
}

fn said(body: &Value) -> &str {
    body.pointer("/error/message").and_then(Value::as_str).unwrap_or("nothing more is said")
}

/// A token nobody will use should not live.
async fn give_back(server: &ServerMetadata, client: &ClientRegistration, grant: &Grant) {
    if let Some(endpoint) = &server.revocation_endpoint {
        let token = grant.refresh_token.as_ref().unwrap_or(&grant.access_token);
        if revoke(endpoint, token, Some(&client.client_id)).await.is_err() {
            terminal::note(
                "the token that was given could not be given back; the server's owner can revoke it",
            );
        }
    }
}

/// How a failed connection ends the command.
pub(crate) fn ended(error: ConnectError) -> Ended {
    let mut message = format!("{}: {error}", error.code());
    if message.contains("cannot be reached") {
        message.push_str("; is the address right, and does the server run?");
    }
    Ended::new(EndCode::Unreachable, message)
}
