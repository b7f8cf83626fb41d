//! The store itself: a pool of connections, and what is remembered beside it.

use std::sync::{Arc, OnceLock};

use deadpool_postgres::Pool;
use pdpp_access::{Clock, Entropy};
use pdpp_objects::Objects;
use pdpp_store::StoreError;

use crate::catalogue_cache::CatalogueCache;
use crate::clock::StoreClock;
use crate::config::DatabaseUrl;
use crate::fault::Outcome;
use crate::ledger::Groups;
use crate::migrate::{self, Migrated};
use crate::session::{Session, Whose};
use crate::{Options, connect};

/// A store on a Postgres server.
pub struct PostgresStore {
    pub(crate) clock: Arc<StoreClock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) catalogues: CatalogueCache,
    pub(crate) ledger: Groups,
    pool: Pool,
    pub(crate) objects: Objects,
    pub(crate) sealing_key: OnceLock<[u8; 32]>,
    /// The mark of the place of attachments, once it is known to be the right one.
    pub(crate) mark: OnceLock<String>,
    is_unguarded: bool,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects to a database whose schema is up to date, and to where the bytes of its blobs lie.
    pub async fn connect(url: &DatabaseUrl, objects: Objects, options: Options) -> Result<Self, StoreError> {
        let open = async || -> Outcome<Self> {
            let pool = connect::pool(url, &options)?;
            let client = pool.get().await?;
            migrate::check(&client).await?;
            let sql = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";
            let is_unguarded = client.query_opt(sql, &[]).await?.is_some_and(|row| row.get(0));
            let Options { clock, time, entropy, .. } = options;
            let clock = Arc::new(StoreClock::new(clock, time));
            clock.set(&client).await?;
            drop(client);
            if is_unguarded {
                tracing::warn!(
                    "the database's role is above row-level security; owners are kept apart by one lock only"
                );
            }
            let (catalogues, ledger) = (CatalogueCache::default(), Groups::default());
            let (sealing_key, mark) = (OnceLock::new(), OnceLock::new());
            Ok(Self { clock, entropy, catalogues, ledger, pool, objects, sealing_key, mark, is_unguarded })
        };
        open().await.map_err(StoreError::from)
    }

    /// Whether the role is above row-level security, so that the second lock between owners is open.
    pub fn is_unguarded(&self) -> bool {
        self.is_unguarded
    }

    /// What time it is for every node over this database. Whoever hands times to the store takes them from here.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    /// Brings the schema of a database up to date; tells of each step before it runs. Needs the right to create
    /// tables. `partitions` counts only in an empty database.
    pub async fn migrate(
        url: &DatabaseUrl,
        options: &Options,
        partitions: u16,
        tell: impl FnMut(i64) + Send,
    ) -> Result<Migrated, StoreError> {
        let run = async || -> Outcome<Migrated> {
            let mut client = connect::pool(url, options)?.get().await?;
            // Making an index of a large table takes as long as it takes.
            client.batch_execute("SET statement_timeout = 0; SET lock_timeout = '60s'").await?;
            migrate::migrate(&mut client, partitions, tell).await
        };
        run().await.map_err(StoreError::from)
    }

    /// Looks at one state of the database.
    pub(crate) async fn reading(&self, whose: impl Into<Whose<'_>>) -> Outcome<Session> {
        Session::read(&self.pool, whose.into()).await
    }

    /// Changes it in one transaction.
    pub(crate) async fn writing(&self, whose: impl Into<Whose<'_>>) -> Outcome<Session> {
        Session::write(&self.pool, whose.into()).await
    }

    /// The connections, for work that outlives this value.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}
