//! A store, opened for one owner: what every local command and the server start from.
//!
//! It also has a directory of this machine alone, for the search index, lock files and settings; where the store is
//! embedded, that directory holds the store too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_access::{Clock, Entropy, Sealer, TokenAuthority};
use pdpp_api::{ApiSettings, ApiState, SearchModes};
use pdpp_auth::LocalAuthority;
use pdpp_egress::Loopback;
use pdpp_events::{EventDesk, EventParts, SecretBox};
use pdpp_search::{IndexPool, Place, SearchEngine};
use pdpp_store::{SearchIndex, Store, StoreError};
use pdpp_store_sqlite::SqliteStore;
use pdpp_wire::SubjectId;

use crate::open_store::{Outside, open_directory, open_store};
use crate::opened::{NeedsDirectory, OpenedStore};
use crate::secrets_key::{Missing, SecretsKeyError, secrets_key};
use crate::store_config::{DatabaseConfig, StoreConfig};
use crate::{SystemClock, SystemEntropy, events};

/// The folder of the index, or of the indexes.
const SEARCH: &str = "search";

/// The owner who is meant where nobody says otherwise: the only one of a personal data directory.
pub fn owner_subject() -> SubjectId {
    SubjectId::parse("owner_local").expect("the name is within the grammar")
}

/// An opened store, the directory of this machine, and the owner it is opened for.
#[derive(Clone)]
pub struct Personal {
    data: PathBuf,
    secrets_key_file: Option<PathBuf>,
    database: Option<DatabaseConfig>,
    subject_id: SubjectId,
    opened: OpenedStore,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Personal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Personal")
            .field("data", &self.data)
            .field("subject_id", &self.subject_id)
            .field("opened", &self.opened)
            .finish_non_exhaustive()
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
    /// The store is open and fails.
    #[error("the store failed")]
    Failed(#[from] StoreError),
    /// Nobody made this owner.
    #[error(
        "there is no owner '{0}'; `pdpp subjects list` shows who there is, `pdpp subjects create {0}` makes one"
    )]
    UnknownSubject(SubjectId),
    /// Nobody said which.
    #[error(
        "there are several owners here; say whose data is meant with --subject NAME (`pdpp subjects list`)"
    )]
    SeveralSubjects,
    /// The place of attachments cannot be used.
    #[error("--blobs-url: {0}")]
    Blobs(#[source] Box<dyn std::error::Error + Send + Sync>),
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
        let outside = (clock, entropy);
        let opened = open_directory(data, &outside)?;
        Ok(Self::of(&StoreConfig::directory(data), opened, outside))
    }

    /// Opens what the settings name, making a directory that is not there.
    pub async fn open_home(config: &StoreConfig) -> Result<Self, PersonalError> {
        let outside: Outside = (Arc::new(SystemClock), Arc::new(SystemEntropy));
        let opened = open_store(config, &outside).await?;
        Ok(Self::of(config, opened, outside))
    }

    /// Opens what the settings name, which must be there already.
    pub async fn open_existing_home(config: &StoreConfig) -> Result<Self, PersonalError> {
        if config.database.is_none() && !config.data.join("store.db").exists() {
            return Err(PersonalError::Empty(config.data.display().to_string()));
        }
        Self::open_home(config).await
    }

    fn of(config: &StoreConfig, opened: OpenedStore, (clock, entropy): Outside) -> Self {
        let subject_id = config.subject.clone().unwrap_or_else(owner_subject);
        let clock = opened.clock().unwrap_or(clock);
        let (data, database) = (config.data.clone(), config.database.clone());
        let secrets_key_file = config.secrets_key_file.clone();
        Self { data, secrets_key_file, database, subject_id, opened, clock, entropy }
    }

    /// The same for the owner a local command means: the one that was named, who must exist; else the usual one, or the
    /// only one there is. Where several others are, one has to be named.
    pub async fn for_local_command(self, named: Option<&SubjectId>) -> Result<Self, PersonalError> {
        let store = self.store();
        if store.has_subject(self.subject()).await? {
            return Ok(self);
        }
        let mut others = store.list_subjects(None, 2).await?;
        match (named, others.len()) {
            (Some(name), _) if *name != owner_subject() => Err(PersonalError::UnknownSubject(name.clone())),
            (None, 1) => Ok(self.for_subject(others.remove(0))),
            (None, 2..) => Err(PersonalError::SeveralSubjects),
            _ => Ok(self),
        }
    }

    /// Opens a directory that must already hold a store.
    pub fn open_existing(data: &Path) -> Result<Self, PersonalError> {
        if !data.join("store.db").exists() {
            return Err(PersonalError::Empty(data.display().to_string()));
        }
        Self::open(data)
    }

    /// The same store for another owner.
    #[must_use]
    pub fn for_subject(mut self, subject_id: SubjectId) -> Self {
        self.subject_id = subject_id;
        self
    }

    /// Where the data is, for people: without whatever it takes to get in.
    pub fn place(&self) -> String {
        match &self.database {
            None => self.data.display().to_string(),
            Some(database) => database.url.to_string(),
        }
    }

    /// Whether the database's role is above row-level security, so that one of two locks between owners is open.
    pub fn is_unguarded(&self) -> bool {
        matches!(self.opened, OpenedStore::Database { is_unguarded: true, .. })
    }

    /// The directory of this machine.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Whose data a local command works on. A server serves every owner of its store; what nobody signed for is
    /// entered in this one's ledger.
    pub fn subject(&self) -> &SubjectId {
        &self.subject_id
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        self.opened.store()
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

    /// Opens the webhook secrets of this store.
    pub fn webhook_secrets(&self) -> Result<SecretBox, SecretsKeyError> {
        let missing = match self.opened {
            OpenedStore::Directory(_) => Missing::Made,
            OpenedStore::Database { .. } => Missing::Refused,
        };
        let place = (self.secrets_key_file.as_deref(), self.data());
        secrets_key(place, missing, self.entropy()).map(|key| SecretBox::new(&key))
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
        let place = Place::Directory(self.data.join(SEARCH));
        SearchEngine::open(place, self.store()).map_err(|error| StoreError::Backend(error.into()))
    }

    /// Brings the search index up to date, so that what was removed is gone from it and what was added is
    /// found at once. A server that runs on the same data does so itself; a failure is met again by the next
    /// one to look.
    pub async fn update_index(&self) {
        // A node that is asked for this owner brings its own up to date.
        if self.database.is_some() {
            return;
        }
        let updated = match self.search_engine() {
            Ok(engine) => engine.expunge().await.map_err(|error| StoreError::Backend(error.into())),
            Err(error) => Err(error),
        };
        if let Err(error) = updated {
            tracing::info!(%error, "the search index is left to whoever writes it");
        }
    }

    /// What only an embedded store can do: be checked, repaired and begun anew. The command that needs it is named to
    /// whoever has a database instead.
    pub fn directory(&self, command: &'static str) -> Result<&SqliteStore, NeedsDirectory> {
        self.opened.directory(command).map(AsRef::as_ref)
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
        let events = match self.webhook_secrets() {
            // Without the key that all nodes share nobody is subscribed from here, and everything else goes on.
            Err(SecretsKeyError::Missing(_)) => None,
            _ => Some(events::parts(self, events::elsewhere(self), Loopback::Refused).await?),
        };
        self.api_state_with(authority, settings, events).await
    }

    /// The same with other parts for events.
    pub(crate) async fn api_state_with(
        &self,
        authority: Arc<dyn TokenAuthority>,
        settings: ApiSettings,
        events: Option<EventParts>,
    ) -> Result<Arc<ApiState>, StoreError> {
        let sealer = Sealer::new(&self.store().sealing_key().await?);
        let outside = (Arc::clone(&self.clock), Arc::clone(&self.entropy));
        let modes = SearchModes { lexical: Some(self.search_index().await?), ..SearchModes::default() };
        let state = ApiState::new(self.store(), authority, outside, sealer, settings).with_search(modes);
        Ok(Arc::new(match events {
            Some(events) => state.with_events(Arc::new(EventDesk::new(events))),
            None => state,
        }))
    }

    /// What answers searches, kept up to date from now on: the one index of a directory, or those of the owners this
    /// node is asked for.
    async fn search_index(&self) -> Result<Arc<dyn SearchIndex>, StoreError> {
        let place = self.data.join(SEARCH);
        if let Some(database) = &self.database {
            let entropy = Arc::clone(&self.entropy);
            let pool = Arc::new(IndexPool::new(place, database.search_cache_bytes, self.store(), entropy));
            pool.evict().await?;
            pool.start();
            return Ok(pool);
        }
        let engine = self.search_engine()?;
        engine.start().map_err(|error| StoreError::Backend(error.into()))?;
        Ok(Arc::new(engine))
    }
}

#[cfg(test)]
pub(crate) mod tests;
