//! The engine: settings, one client, and the way every tool reaches the resource server.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use pdpp_client::{Answer, Bearer, Client, Request};
use pdpp_wire::Code;
use serde_json::{Map, Value};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::page_memory::PageMemory;
use crate::progress::Progress;
use crate::role_cache::RoleCache;
use crate::tools::{self, Spec};

/// Which tools are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// All of them.
    #[default]
    All,
    /// The six that read records, for hosts that want the least surface.
    Read,
}

/// How much of a server's answer `structuredContent` repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultDetail {
    /// The whole envelope.
    #[default]
    Full,
    /// The hits once, without the envelope's copy of them.
    Compact,
}

/// What is known about the bearer before the server has answered anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BearerKind {
    /// It is a client's, under a grant.
    #[default]
    Scoped,
    /// It came from outside, in `PDPP_CLIENT_TOKEN`, and may be the owner's, so the server is asked before anything is
    /// read with it.
    Unknown,
}

/// How an adapter presents itself.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name hosts show.
    pub server_name: String,
    /// Which tools are listed.
    pub tools: ToolSet,
    /// How much of an answer is repeated.
    pub detail: ResultDetail,
    /// What day it is; without it no date is stated.
    pub now: Option<crate::Now>,
    /// What is known about the bearer.
    pub bearer: BearerKind,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            server_name: "pdpp-mcp-server".to_owned(),
            tools: ToolSet::default(),
            detail: ResultDetail::default(),
            now: None,
            bearer: BearerKind::default(),
        }
    }
}

/// The adapter over one resource server. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Adapter {
    pub(crate) client: Client,
    pub(crate) settings: Arc<Settings>,
    /// What this bearer is shown of streams' display roles.
    pub(crate) roles: RoleCache,
    /// What pages cost the last time.
    pub(crate) pages: PageMemory,
    /// Whether results may be handed over as text.
    pub(crate) results: Results,
    /// Who hears of the progress of this call.
    progress: Progress,
    /// Set once the server has said that the bearer is the owner's.
    owner: Arc<AtomicBool>,
    /// Set once the server need not be asked whose bearer it is.
    checked: Arc<AtomicBool>,
}

/// How results are handed to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// As values, which the protocol library writes.
    Trees,
    /// Perhaps as JSON that is written already.
    Written,
}

/// A server's answer in JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The body as the server sent it; it has not passed the boundary of [`crate::shown`].
    pub(crate) body: Value,
    pub(crate) status: u16,
    pub(crate) request_id: Option<String>,
}

impl Adapter {
    /// Puts an adapter before a client.
    pub fn new(client: Client, settings: Settings) -> Self {
        let checked = Arc::new(AtomicBool::new(settings.bearer == BearerKind::Scoped));
        Self {
            client,
            settings: Arc::new(settings),
            roles: RoleCache::default(),
            pages: PageMemory::default(),
            results: Results::Trees,
            progress: Progress::default(),
            owner: Arc::default(),
            checked,
        }
    }

    /// The same adapter for another bearer.
    #[must_use]
    pub fn with_bearer(&self, bearer: Bearer) -> Self {
        let pages = self.pages.of(&bearer);
        let client = self.client.with_bearer(bearer);
        let checked = Arc::new(AtomicBool::new(self.settings.bearer == BearerKind::Scoped));
        let (roles, owner) = (RoleCache::default(), Arc::default());
        Self { client, roles, pages, owner, checked, ..self.clone() }
    }

    /// The same adapter for one call, whose progress somebody hears of.
    pub(crate) fn reporting(&self, progress: Progress) -> Self {
        Self { progress, ..self.clone() }
    }

    /// The same adapter for a transport that takes results as text.
    pub(crate) fn writing(self) -> Self {
        Self { results: Results::Written, ..self }
    }

    /// Whether a tool of this name is listed.
    pub(crate) fn lists(&self, tool: &str) -> bool {
        self.specs().any(|spec| spec.name == tool)
    }

    /// The listed tools, in their stable order.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &'static Spec> {
        let set = self.settings.tools;
        tools::TABLE.iter().copied().filter(move |spec| set == ToolSet::All || spec.in_read_set)
    }

    /// Calls a tool. Whatever goes wrong is a result the model can read.
    pub(crate) async fn call(&self, tool: &str, given: Map<String, Value>) -> Outcome {
        let Some(spec) = self.specs().find(|spec| spec.name == tool) else {
            let names: Vec<&str> = self.specs().map(|spec| spec.name).collect();
            let shown = crate::text::quoted(tool, 80);
            let message = format!("Tool {shown} not found; the tools are {}.", names.join(", "));
            return Failure::adapter(Code::NotFound, message).outcome(self.provider_url());
        };
        let outcome = match Arguments::check(spec.name, spec.params, given) {
            Ok(arguments) => {
                let work = AssertUnwindSafe((spec.run)(self.clone(), arguments)).catch_unwind();
                work.await.unwrap_or_else(|_| Err(defect()))
            }
            Err(failure) => Err(failure),
        };
        outcome.unwrap_or_else(|failure| failure.outcome(self.provider_url()))
    }

    pub(crate) fn provider_url(&self) -> &str {
        self.client.provider_url()
    }

    /// Sends a request; a refusal is a failure.
    pub(crate) async fn send(&self, request: &Request) -> Result<Answer, Failure> {
        // A schema says by itself whose bearer it was given to.
        if !self.checked.load(Ordering::Relaxed) && !request.path_and_query().starts_with("/v1/schema") {
            self.check_bearer().await;
        }
        if self.owner.load(Ordering::Relaxed) {
            return Err(owner_refused());
        }
        self.progress.request().await;
        let answer = self.client.send(request).await?;
        if answer.is_success() {
            return Ok(answer);
        }
        Err(Failure::refused(&answer).reconnect(self.settings.bearer, self.provider_url()))
    }

    /// Asks whose bearer it is, once. Whatever else is wrong, the call that follows meets it too and says it.
    async fn check_bearer(&self) {
        let request = Request::get(["v1", "schema"]);
        let mut asked = self.client.send(&request.clone().query("view", "compact")).await;
        if asked.as_ref().is_ok_and(|answer| answer.status == 400) {
            asked = self.client.send(&request).await;
        }
        let Ok(answer) = asked else { return };
        if serde_json::from_slice::<Value>(&answer.body).is_ok_and(|body| is_owners(&body)) {
            self.owner.store(true, Ordering::Relaxed);
        }
        self.checked.store(answer.is_success(), Ordering::Relaxed);
    }

    /// Sends a request whose answer is JSON.
    pub(crate) async fn json(&self, request: &Request) -> Result<Reply, Failure> {
        self.read(&self.send(request).await?)
    }

    /// Reads an answer that is JSON.
    pub(crate) fn read(&self, answer: &Answer) -> Result<Reply, Failure> {
        let reply = |body| Reply { body, status: answer.status, request_id: answer.request_id.clone() };
        if answer.body.is_empty() && answer.status == 204 {
            return Ok(reply(Value::Null));
        }
        let parsed = serde_json::from_slice::<Value>(&answer.body);
        if parsed.as_ref().is_ok_and(is_owners) {
            self.owner.store(true, Ordering::Relaxed);
            return Err(owner_refused());
        }
        parsed.map(reply).map_err(|_| {
            let kind = answer.media_type.as_deref().unwrap_or("no media type");
            let message = format!(
                "The resource server answered status {} with {} bytes of {}, which is no JSON. Check the provider URL.",
                answer.status,
                answer.body.len(),
                crate::text::quoted(kind, 80),
            );
            Failure::adapter(Code::RsInvalidResponse, message)
        })
    }
}

/// Whether a schema says that it was given to the owner. Where a token came from cannot tell; the server can.
fn is_owners(body: &Value) -> bool {
    let bearer = body.get("bearer").or_else(|| body.get("data").and_then(|data| data.get("bearer")));
    bearer.and_then(|bearer| bearer.get("token_kind")).and_then(Value::as_str) == Some("owner")
}

/// A defect of ours ends one call, not the conversation.
fn defect() -> Failure {
    Failure::adapter(
        Code::ApiError,
        "The call failed because of a defect in the adapter; other calls still work.",
    )
}

fn owner_refused() -> Failure {
    let message = "The token is the owner's, and an assistant must not hold it. Nothing was shown; make a scoped one \
                   with `pdpp grant create`.";
    Failure::adapter(Code::OwnerTokenRefused, message)
}
