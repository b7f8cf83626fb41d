//! Opens the store the settings name: the one place that knows which kinds there are.

use std::path::Path;
use std::sync::Arc;

use pdpp_access::{Clock, Entropy};
use pdpp_objects::{Credentials, Objects, Settings, Swept};
use pdpp_store::{Disclosure, Renewed, StoreError};
use pdpp_store_postgres::{Migrated, PostgresStore};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_wire::{Instant, SubjectId};

use crate::opened::OpenedStore;
use crate::outside::{SystemClock, SystemEntropy};
use crate::store_config::{DatabaseConfig, StoreConfig};
use crate::{BlobsConfig, PersonalError};

/// Reader threads of the embedded store.
const READERS: usize = 4;

/// Where time and randomness come from.
pub(crate) type Outside = (Arc<dyn Clock>, Arc<dyn Entropy>);

/// Opens the store, wherever it is.
pub(crate) async fn open_store(
    config: &StoreConfig,
    outside: &Outside,
) -> Result<OpenedStore, PersonalError> {
    match &config.database {
        None => open_directory(&config.data, outside),
        Some(database) => {
            make_private(&config.data)?;
            open_database(database, outside).await
        }
    }
}

/// A node over a database has a directory too, for its index, its lock and its settings.
fn make_private(data: &Path) -> Result<(), PersonalError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let unwritable = |error| PersonalError::Store {
        path: data.display().to_string(),
        source: StoreError::Unwritable(Box::new(error)),
    };
    builder.create(data).map_err(unwritable)
}

/// Opens the embedded store of a directory, making it when it is not there.
pub(crate) fn open_directory(data: &Path, (clock, entropy): &Outside) -> Result<OpenedStore, PersonalError> {
    let options = Options { clock: Arc::clone(clock), entropy: Arc::clone(entropy), readers: READERS };
    let store = SqliteStore::open(data, options)
        .map_err(|source| PersonalError::Store { path: data.display().to_string(), source })?;
    Ok(OpenedStore::Directory(Arc::new(store)))
}

/// Connects to a database, and to where its attachments are.
async fn open_database(database: &DatabaseConfig, outside: &Outside) -> Result<OpenedStore, PersonalError> {
    let (clock, entropy) = (Arc::clone(&outside.0), Arc::clone(&outside.1));
    let objects = open_objects(&database.blobs, Arc::clone(&entropy))?;
    let options = pdpp_store_postgres::Options::new(clock, entropy);
    let store = PostgresStore::connect(&database.url, objects, options).await;
    let store = store.map_err(|source| PersonalError::Store { path: database.url.to_string(), source })?;
    let (clock, is_unguarded) = (store.clock(), store.is_unguarded());
    Ok(OpenedStore::Database { store: Arc::new(store), clock, is_unguarded })
}

/// The place of attachments; a bucket is not asked anything yet.
fn open_objects(blobs: &BlobsConfig, entropy: Arc<dyn Entropy>) -> Result<Objects, PersonalError> {
    let credentials =
        std::env::var("AWS_ACCESS_KEY_ID").ok().zip(std::env::var("AWS_SECRET_ACCESS_KEY").ok());
    let settings = Settings {
        endpoint: blobs.endpoint.clone(),
        region: blobs.region.clone(),
        credentials: credentials.map(|(access_key_id, secret_access_key)| Credentials {
            access_key_id,
            secret_access_key,
            session_token: std::env::var("AWS_SESSION_TOKEN").ok(),
        }),
        ..Settings::default()
    };
    Objects::open(&blobs.place, &settings, entropy).map_err(|error| PersonalError::Blobs(error.into()))
}

/// Brings a database's schema up to date; tells of each step before it runs.
pub async fn migrate(
    database: &DatabaseConfig,
    partitions: u16,
    tell: impl FnMut(i64) + Send,
) -> Result<Migrated, PersonalError> {
    let options = pdpp_store_postgres::Options::new(Arc::new(SystemClock), Arc::new(SystemEntropy));
    let migrated = PostgresStore::migrate(&database.url, &options, partitions, tell).await;
    migrated.map_err(|source| PersonalError::Store { path: database.url.to_string(), source })
}

/// Lets the place of the settings be the one where a database's attachments are; says how it is called.
pub async fn move_attachments(database: &DatabaseConfig) -> Result<String, PersonalError> {
    let place = &database.blobs.place;
    if !place.contains("://") && !Path::new(place).is_dir() {
        return Err(PersonalError::Blobs(format!("{place} is no directory").into()));
    }
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
    let objects = open_objects(&database.blobs, entropy.clone())?;
    let options = pdpp_store_postgres::Options::new(clock, entropy);
    let moved = PostgresStore::move_blobs(&database.url, &objects, &options).await;
    moved.map_err(|source| PersonalError::Store { path: database.url.to_string(), source })?;
    Ok(objects.place().to_owned())
}

/// Removes attachments that lie in the place of the settings and that nothing in the database refers to.
pub async fn sweep_attachments(database: &DatabaseConfig) -> Result<Swept, PersonalError> {
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
    let objects = open_objects(&database.blobs, entropy.clone())?;
    let options = pdpp_store_postgres::Options::new(clock, entropy);
    let failed = |source| PersonalError::Store { path: database.url.to_string(), source };
    let store = PostgresStore::connect(&database.url, objects, options).await.map_err(failed)?;
    store.sweep_unknown_blobs().await.map_err(failed)
}

/// Lets a database that was brought back from a backup begin anew: every stream in a new epoch and, unless they are kept,
/// without any access it once gave. `entry` makes the entry of each owner's ledger.
pub async fn renew(
    database: &DatabaseConfig,
    keep_grants: bool,
    entry: impl Fn(&SubjectId, Renewed, Instant) -> Disclosure + Send + Sync,
) -> Result<Renewed, PersonalError> {
    let options = pdpp_store_postgres::Options::new(Arc::new(SystemClock), Arc::new(SystemEntropy));
    let renewed = PostgresStore::renew(&database.url, options, keep_grants, entry).await;
    renewed.map_err(|source| PersonalError::Store { path: database.url.to_string(), source })
}
