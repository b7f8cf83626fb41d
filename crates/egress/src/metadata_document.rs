//! OAuth client ID metadata documents: a client whose identifier is the address of a document about itself.
//!
//! Fetched through [`Egress`], kept as long as the document's server says, within bounds. What the members mean
//! (redirect URIs, names, logos) is decided by the authorization server; here it is only certain that the document
//! is a JSON object, of bearable size, that names its own address. A document that could not be fetched or is not
//! in order is never kept, and an old one is not used in its place.

mod client_id_url;
mod content;
mod freshness;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use pdpp_access::Clock;
use pdpp_wire::Instant;

use crate::{Answer, Egress, EgressError, EgressFault, Limits};

pub use client_id_url::ClientIdUrl;
pub use content::{Content, ContentFault};

/// The time a fetch may take.
pub const FETCH_TIME: Duration = Duration::from_secs(5);
/// The largest document.
pub const MAX_DOCUMENT_BYTES: usize = 5 * 1024;
/// The most documents kept.
const MAX_KEPT: usize = 512;
/// The most documents fetched at one time.
const MAX_UNDERWAY: usize = 16;

/// A document that was in order when it was fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataDocument {
    /// What it says.
    pub content: Content,
    /// When it was fetched.
    pub fetched_at: Instant,
    /// Until when it is not fetched again.
    pub fresh_until: Instant,
}

/// Why there is no document. Printed, it may be shown to whoever named the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Too many other documents are being fetched.
    #[error("too many client metadata documents are being fetched; try again shortly")]
    Busy,
    /// The address could not be called, or gave no answer.
    #[error("the client metadata document could not be fetched: {0}")]
    Fetch(#[from] EgressError),
    /// Another status than 200, a redirect for instance.
    #[error("the client metadata document was answered with status {status} instead of 200")]
    Status {
        /// What was answered.
        status: u16,
    },
    /// What was answered is no such document.
    #[error("the client metadata document is not in order: {0}")]
    Content(#[from] ContentFault),
}

impl DocumentError {
    /// What the log should say; a stranger must never see it.
    pub fn internal(&self) -> String {
        match self {
            Self::Fetch(error) => error.internal(),
            other => other.to_string(),
        }
    }
}

type Outcome = Result<Arc<MetadataDocument>, DocumentError>;
type Fetch = BoxFuture<'static, Outcome>;

/// Fetches and keeps documents. Clones share what is kept.
#[derive(Clone)]
pub struct MetadataDocuments {
    egress: Arc<Egress>,
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    kept: HashMap<String, Arc<MetadataDocument>>,
    /// Callers who ask for one document at the same time wait for one fetch. It belongs to them alone: when all of
    /// them go away, it ends.
    underway: HashMap<String, WeakShared<Fetch>>,
}

enum Found {
    Kept(Arc<MetadataDocument>),
    Underway(Shared<Fetch>),
}

impl MetadataDocuments {
    /// Nothing kept yet.
    pub fn new(egress: Arc<Egress>, clock: Arc<dyn Clock>) -> Self {
        Self { egress, clock, state: Arc::default() }
    }

    /// The document of this client: the one that is kept, if it is fresh, or a new one.
    pub async fn get(&self, client_id: &ClientIdUrl) -> Outcome {
        match self.find(client_id)? {
            Found::Kept(document) => Ok(document),
            Found::Underway(fetch) => fetch.await,
        }
    }

    fn find(&self, client_id: &ClientIdUrl) -> Result<Found, DocumentError> {
        // A document kept from a time of looser settings does not let its client in.
        client_id
            .url()
            .allowed_by(self.egress.policy())
            .map_err(|fault| EgressFault::Url(fault).because(client_id))?;
        let mut state = self.state();
        let key = client_id.as_str();
        if let Some(document) = state.kept.get(key).filter(|kept| self.clock.now() < kept.fresh_until) {
            return Ok(Found::Kept(Arc::clone(document)));
        }
        if let Some(fetch) = state.underway.get(key).and_then(WeakShared::upgrade) {
            return Ok(Found::Underway(fetch));
        }
        state.underway.retain(|_, fetch| fetch.upgrade().is_some());
        if state.underway.len() >= MAX_UNDERWAY {
            return Err(DocumentError::Busy);
        }
        let fetch = self.clone().fetch(client_id.clone()).boxed().shared();
        if let Some(weak) = fetch.downgrade() {
            state.underway.insert(key.to_owned(), weak);
        }
        Ok(Found::Underway(fetch))
    }

    async fn fetch(self, client_id: ClientIdUrl) -> Outcome {
        let limits = Limits::within(FETCH_TIME, MAX_DOCUMENT_BYTES);
        let outcome = match self.egress.get(client_id.url(), &limits).await {
            Ok(answer) => self.read(&client_id, &answer),
            Err(error) => Err(error.into()),
        };
        let mut state = self.state();
        state.underway.remove(client_id.as_str());
        match &outcome {
            Ok(document) => state.keep(client_id.as_str(), document),
            Err(_) => drop(state.kept.remove(client_id.as_str())),
        }
        outcome
    }

    fn read(&self, client_id: &ClientIdUrl, answer: &Answer) -> Outcome {
        if answer.status != http::StatusCode::OK {
            return Err(DocumentError::Status { status: answer.status.as_u16() });
        }
        let content = Content::parse(client_id.as_str(), &answer.headers, &answer.body)?;
        let fetched_at = self.clock.now();
        let fresh_until = fetched_at.plus_seconds(freshness::seconds(&answer.headers));
        Ok(Arc::new(MetadataDocument { content, fetched_at, fresh_until }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Keeps the document, in place of the one that would go stale first if there are too many.
    fn keep(&mut self, client_id: &str, document: &Arc<MetadataDocument>) {
        self.kept.insert(client_id.to_owned(), Arc::clone(document));
        if self.kept.len() > MAX_KEPT {
            let others = self.kept.iter().filter(|(other, _)| *other != client_id);
            let oldest = others.min_by_key(|(_, kept)| kept.fresh_until).map(|(other, _)| other.clone());
            oldest.map(|oldest| self.kept.remove(&oldest));
        }
    }
}

impl fmt::Debug for MetadataDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetadataDocuments").field("kept", &self.state().kept.len()).finish_non_exhaustive()
    }
}
