//! One owner's data directory, opened: what every local command and the server start from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_access::{Clock, Entropy, Sealer, TokenAuthority};
use pdpp_api::{ApiSettings, ApiState, SearchModes};
use pdpp_auth::LocalAuthority;
use pdpp_egress::Loopback;
use pdpp_events::{EventDesk, EventParts, SecretBox};
use pdpp_search::{Place, SearchEngine};
use pdpp_store::{Catalogues as _, Store, StoreError};
use pdpp_store_sqlite::{Options, Renewed, SqliteStore};
use pdpp_wire::SubjectId;

use crate::{SystemClock, SystemEntropy, events};

/// Reader threads of the embedded store.
const READERS: usize = 4;

/// The one subject of a personal data directory.
pub fn owner_subject() -> SubjectId {
    SubjectId::parse("owner_local").expect("the name is within the grammar")
}

/// An opened data directory.
#[derive(Clone)]
pub struct Personal {
    data: PathBuf,
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Personal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Personal").field("data", &self.data).finish_non_exhaustive()
    }
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PersonalError {
    /// There is nothing yet.
    #[error("there is no data in {0} yet; load some with `pdpp import`, or look around with `pdpp demo`")]
    Empty(String),
    /// The store cannot be opened.
    #[error("cannot open the store in {path}")]
    Store {
        /// Which directory.
        path: String,
        /// Why.
        source: StoreError,
    },
}

impl Personal {
    /// Opens a directory, making it when it is not there.
    pub fn open(data: &Path) -> Result<Self, PersonalError> {
        Self::open_with(data, Arc::new(SystemClock), Arc::new(SystemEntropy))
    }

    /// Opens a directory under another clock and other randomness, for tests.
    pub fn open_with(
        data: &Path,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, PersonalError> {
        let options = Options { clock: Arc::clone(&clock), entropy: Arc::clone(&entropy), readers: READERS };
        let store = SqliteStore::open(data, options)
            .map_err(|source| PersonalError::Store { path: data.display().to_string(), source })?;
        Ok(Self { data: data.to_owned(), store: Arc::new(store), clock, entropy })
    }

    /// Opens a directory that must already hold a store.
    pub fn open_existing(data: &Path) -> Result<Self, PersonalError> {
        if !data.join("store.db").exists() {
            return Err(PersonalError::Empty(data.display().to_string()));
        }
        Self::open(data)
    }

    /// Where it is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    /// The local authorization server.
    pub fn authority(&self) -> LocalAuthority {
        LocalAuthority::new(self.store(), Arc::clone(&self.clock), Arc::clone(&self.entropy))
    }

    /// The randomness everything here draws from.
    pub(crate) fn entropy(&self) -> &dyn Entropy {
        self.entropy.as_ref()
    }

    /// Clock and randomness, to be shared.
    pub(crate) fn outside(&self) -> (Arc<dyn Clock>, Arc<dyn Entropy>) {
        (Arc::clone(&self.clock), Arc::clone(&self.entropy))
    }

    /// Opens the webhook secrets of this directory.
    pub fn webhook_secrets(&self) -> Result<SecretBox, StoreError> {
        events::secret_box(self)
    }

    /// The clock everything here runs by.
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    pub(crate) fn shared_clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// The search index of this directory, opened and not yet kept up to date.
    pub fn search_engine(&self) -> Result<SearchEngine, StoreError> {
        let place = Place::Directory(self.data.join("search"));
        SearchEngine::open(place, self.store()).map_err(|error| StoreError::Backend(error.into()))
    }

    /// Brings the search index up to date, so that what was removed is gone from it and what was added is
    /// found at once. A server that runs on the same data does so itself; a failure is met again by the next
    /// one to look.
    pub async fn update_index(&self) {
        let updated = match self.search_engine() {
            Ok(engine) => engine.catch_up().await.map_err(|error| StoreError::Backend(error.into())),
            Err(error) => Err(error),
        };
        if let Err(error) = updated {
            tracing::info!(%error, "the search index is left to whoever writes it");
        }
    }

    /// What is wrong with the store, in sentences.
    pub async fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.store.verify().await
    }

    /// Puts right what can be made again from the records, and says what was done.
    pub async fn repair(&self) -> Result<Vec<String>, StoreError> {
        self.store.repair().await
    }

    /// Makes a restored directory begin anew: new epochs, and no access from before unless it is kept.
    pub async fn renew(&self, keep_grants: bool) -> Result<Renewed, StoreError> {
        self.store.renew(keep_grants).await
    }

    /// How the index differs from one made anew from the records, if it does.
    pub async fn compare_index(&self, engine: &SearchEngine) -> Result<Option<String>, StoreError> {
        let scratch = self.data.join("search.verify");
        let compared = engine.compare_with_store(&scratch).await;
        compared.map_err(|error| StoreError::Backend(error.into()))
    }

    /// The REST surface's state over this directory, with its index kept up to date from now on.
    pub async fn api_state(&self, settings: ApiSettings) -> Result<Arc<ApiState>, StoreError> {
        self.api_state_for(Arc::new(self.authority()), settings).await
    }

    /// The same for callers whom another authority recognises. Events are delivered by a server, if one runs.
    pub(crate) async fn api_state_for(
        &self,
        authority: Arc<dyn TokenAuthority>,
        settings: ApiSettings,
    ) -> Result<Arc<ApiState>, StoreError> {
        let events = events::parts(self, events::elsewhere(self.data()), Loopback::Refused).await?;
        self.api_state_with(authority, settings, events).await
    }

    /// The same with other parts for events.
    pub(crate) async fn api_state_with(
        &self,
        authority: Arc<dyn TokenAuthority>,
        settings: ApiSettings,
        events: EventParts,
    ) -> Result<Arc<ApiState>, StoreError> {
        let sealer = Sealer::new(&self.store.sealing_key().await?);
        let outside = (Arc::clone(&self.clock), Arc::clone(&self.entropy));
        let engine = self.search_engine()?;
        engine.start().map_err(|error| StoreError::Backend(error.into()))?;
        let modes = SearchModes { lexical: Some(Arc::new(engine)), ..SearchModes::default() };
        let state = ApiState::new(self.store(), authority, outside, sealer, settings);
        Ok(Arc::new(state.with_search(modes).with_events(Arc::new(EventDesk::new(events)))))
    }
}
