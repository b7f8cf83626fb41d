//! A server over the sample archive, and the people who ask it things.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use pdpp_access::{AuthError, Catalogue, Denial, Principal, Sealer, Secret, TokenAuthority};
use pdpp_api::{ApiLimits, ApiSettings, ApiState, router};
use pdpp_store::{Catalogues as _, Ledger as _, StoreError};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, SeededEntropy, client, grant, owner, sample};
use pdpp_wire::Code;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::described;

/// A server, its store and its clock.
pub(crate) struct World {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) loaded: sample::Loaded,
    pub(crate) catalogue: Arc<Catalogue>,
    router: Router,
    tokens: Arc<Tokens>,
}

/// Recognises the tokens a test made.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<HashMap<String, Result<Principal, Denial>>>);

#[async_trait]
impl TokenAuthority for Tokens {
    async fn introspect(&self, token: &Secret) -> Result<Principal, AuthError> {
        match token.reveal() {
            "panics" => panic!("the authority lost its mind over /secret/path"),
            "hangs" => tokio::time::sleep(Duration::from_hours(1)).await,
            "breaks" => return Err(AuthError::Unavailable("no route to /secret/path".into())),
            "busy" => return Err(AuthError::Unavailable(Box::new(StoreError::Busy("no lock".into())))),
            "away" => {
                return Err(AuthError::Unavailable(Box::new(StoreError::Unreachable("no route".into()))));
            }
            _ => {}
        }
        let known = self.0.lock().unwrap().get(token.reveal()).cloned();
        let unknown = || Denial::new(Code::AuthenticationError, "The token is invalid or has expired.");
        Ok(known.unwrap_or_else(|| Err(unknown()))?)
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A world with a changed state.
    pub(crate) async fn with(change: impl FnOnce(&mut ApiState)) -> Self {
        let (clock, entropy) = (Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
        let store = Arc::new(SqliteStore::in_memory(Options::new(clock.clone(), entropy.clone())).unwrap());
        let loaded = sample::loaded(store.as_ref()).await;
        let catalogue = store.catalogue(&loaded.subject_id).await.unwrap();
        let settings = ApiSettings {
            public_url: Some("https://data.test".to_owned()),
            resource_name: "Sample".to_owned(),
            authorization_servers: vec!["https://data.test".to_owned()],
            allowed_hosts: Vec::new(),
            limits: ApiLimits { read_deadline: Duration::from_secs(20), ..ApiLimits::default() },
        };
        let tokens = Arc::new(Tokens::default());
        let sealer = Sealer::new(&store.sealing_key().await.unwrap());
        let mut state = ApiState::new(store.clone(), tokens.clone(), (clock, entropy), sealer, settings);
        change(&mut state);
        let world = Self { router: router(Arc::new(state)), store, loaded, catalogue, tokens };
        world.admit("owner", owner(&world.loaded.subject_id));
        world.admit("client", client(&[world.narrow_grant(), world.notes_grant()]));
        world
    }

    /// Messages at home since 10 January: id, author, text, time; and their attachments' names.
    fn narrow_grant(&self) -> pdpp_wire::Grant {
        grant(&self.catalogue.sources[0])
            .id("grt_chat")
            .stream("messages", &["id", "author", "text", "sent_at"])
            .connections(&[&self.loaded.home])
            .since("2026-01-10")
            .stream("attachments", &["id", "message_id", "name"])
            .connections(&[&self.loaded.home])
            .expires("2026-12-31T00:00:00Z")
            .build()
    }

    fn notes_grant(&self) -> pdpp_wire::Grant {
        grant(&self.catalogue.sources[1]).id("grt_notes").stream("notes", &["id", "title", "body"]).build()
    }

    /// Makes a token for a principal.
    pub(crate) fn admit(&self, token: &str, principal: Principal) {
        self.tokens.0.lock().unwrap().insert(token.to_owned(), Ok(principal));
    }

    /// Makes a token that is refused.
    pub(crate) fn refuse(&self, token: &str, code: Code, message: &str) {
        self.tokens.0.lock().unwrap().insert(token.to_owned(), Err(Denial::new(code, message)));
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Asks as whoever holds the token; an empty token sends none.
    pub(crate) async fn ask(&self, token: &str, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        let answer = Answer::of(self, self.send(request(token, method, path, body.into())).await).await;
        described::check(method, path, &answer);
        answer
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Answer {
        self.ask(token, "GET", path, Body::empty()).await
    }

    /// Every `code` a request is refused with, or `ok`, after the status.
    pub(crate) async fn verdict(&self, token: &str, path: &str) -> String {
        self.get(token, path).await.verdict()
    }

    /// What the ledger says, newest first, one line each.
    pub(crate) async fn ledger(&self) -> String {
        let filter = pdpp_store::DisclosureFilter { limit: 100, ..Default::default() };
        let entries = self.store.list_disclosures(&self.loaded.subject_id, &filter).await.unwrap();
        let lines: Vec<_> = entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
        self.named(&lines.join("\n"))
    }

    /// The store's ids by their readable names.
    pub(crate) fn named(&self, text: &str) -> String {
        let names = [(&self.loaded.home, "HOME"), (&self.loaded.work, "WORK"), (&self.loaded.notes, "NOTES")];
        names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id.as_str(), name))
    }

    /// A path with readable names put back to the store's ids.
    pub(crate) fn path(&self, text: &str) -> String {
        let names = [("HOME", &self.loaded.home), ("WORK", &self.loaded.work), ("NOTES", &self.loaded.notes)];
        names.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, id.as_str()))
    }
}

pub(crate) fn request(token: &str, method: &str, path: &str, body: Body) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header("request-id", "req_test");
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    request.body(body).unwrap()
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
    text: String,
}

impl Answer {
    pub(crate) async fn of(world: &World, response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let headers = parts.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        let text = world.named(&String::from_utf8_lossy(&bytes));
        Self { status: parts.status.as_u16(), headers, bytes, text }
    }

    /// The JSON body, with the store's ids by their readable names.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Status, then `ok` or the error's code and blamed parameter.
    pub(crate) fn verdict(&self) -> String {
        let error = &self.json()["error"];
        let param = error["param"].as_str().map(|param| format!(" ({param})")).unwrap_or_default();
        format!("{} {}{param}", self.status, error["code"].as_str().unwrap_or("ok"))
    }

    /// The whole answer as text; sealed tokens are replaced, for they differ when nothing else does.
    pub(crate) fn show(&self) -> String {
        let mut text = format!("{}\n", self.status);
        for (name, value) in &self.headers {
            // The same on every answer, or a mere consequence of the body.
            if !["request-id", "x-request-id", "pdpp-version", "content-length"].contains(&name.as_str()) {
                writeln!(text, "{name}: {value}").unwrap();
            }
        }
        let mut body = self.json();
        if body.is_null() {
            return text + &self.text;
        }
        hide_tokens(&mut body);
        text + &serde_json::to_string_pretty(&body).unwrap()
    }
}

fn hide_tokens(body: &mut Value) {
    for name in ["next_cursor", "next_changes_since"] {
        if let Some(token) = body.get_mut(name) {
            *token = "SEALED".into();
        }
    }
    if let Some(next) = body.pointer_mut("/links/next")
        && let Some((head, _)) = next.as_str().and_then(|next| next.rsplit_once("cursor="))
    {
        *next = format!("{head}cursor=SEALED").into();
    }
}
