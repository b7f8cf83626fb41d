//! The store itself: opening a directory, and the two databases in it.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use pdpp_access::{Clock, Entropy};
use pdpp_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::Options;
use crate::blob_files::BlobFiles;
use crate::catalogues::CatalogueCache;
use crate::database::{Database, Running, Writer};
use crate::fault::Outcome;
use crate::pragmas::{self, Durability, Role};
use crate::statement::Traced;
use crate::{migrate, orphans};

/// How often a checkpoint is tried; together about two seconds.
const CHECKPOINT_ATTEMPTS: usize = 10;

/// A store in one directory, or in memory.
pub struct SqliteStore {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    main: Database,
    ledger: Database,
    pub(crate) blob_files: Arc<BlobFiles>,
    pub(crate) catalogues: Arc<CatalogueCache>,
    pub(crate) sealing_key: OnceLock<[u8; 32]>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("blobs", &self.blob_files.root()).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a data directory, making it and its databases when they are missing.
    pub fn open(directory: &Path, options: Options) -> Result<Self, StoreError> {
        Self::try_open(directory, options).map_err(StoreError::from)
    }

    /// A store that ends with this value, for tests. One connection serves reads and writes.
    pub fn in_memory(options: Options) -> Result<Self, StoreError> {
        let open = || -> Outcome<Self> {
            let main = Database::open_in_memory(main(1))?;
            let ledger = Database::open_in_memory(ledger())?;
            Ok(Self::assemble(options, main, ledger, BlobFiles::temporary()?))
        };
        open().map_err(StoreError::from)
    }

    fn try_open(directory: &Path, options: Options) -> Outcome<Self> {
        make_private_directory(directory)?;
        let (store, ledger_file) = (directory.join("store.db"), directory.join("ledger.db"));
        for file in [&store, &ledger_file] {
            make_private_file(file)?;
        }
        let main = Database::open(&store, main(options.readers))?;
        let ledger = Database::open(&ledger_file, ledger())?;
        let files = BlobFiles::in_directory(directory);
        if let Err(fault) = remove_left_files(&store, &files) {
            tracing::warn!(error = %StoreError::from(fault), "the files of removed blobs are left for later");
        }
        Ok(Self::assemble(options, main, ledger, files))
    }

    fn assemble(options: Options, main: Database, ledger: Database, blobs: BlobFiles) -> Self {
        let Options { clock, entropy, .. } = options;
        let blob_files = Arc::new(blobs);
        Self {
            clock,
            entropy,
            main,
            ledger,
            blob_files,
            catalogues: Arc::default(),
            sealing_key: OnceLock::new(),
        }
    }

    /// Reads one state of the archive.
    pub(crate) async fn read<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        self.main.read(work).await
    }

    /// Reads what an index gives at once, on the caller's own thread.
    pub(crate) async fn glance<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        self.main.glance(work).await
    }

    /// The same for one statement, which needs no transaction to see one state.
    pub(crate) async fn peek<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        self.main.peek(work).await
    }

    /// Changes the archive in one transaction; durable when it returns.
    pub(crate) async fn write<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        self.main.write(work).await
    }

    /// Changes the archive from a value that may outlive this one.
    pub(crate) fn writer(&self) -> Writer {
        self.main.writer()
    }

    /// Empties the write-ahead log into the database, so that what was deleted is nowhere. A reader
    /// that still looks at the old state is waited for, with other writes let in between; one that
    /// goes on for long keeps it until the next checkpoint.
    pub(crate) async fn checkpoint(&self) -> Result<(), StoreError> {
        for _ in 0..CHECKPOINT_ATTEMPTS {
            if self.main.write_alone(|connection| pragmas::empty_log(connection)).await? {
                return Ok(());
            }
        }
        tracing::warn!("a reader keeps removed data in the write-ahead log until the next checkpoint");
        Ok(())
    }

    /// Removes the files of blobs whose rows are gone. The rows are what counts: files that cannot be
    /// removed now are met again by the next one to look.
    pub(crate) async fn remove_orphaned_files(&self) {
        let files = Arc::clone(&self.blob_files);
        if let Err(error) = self.write(move |connection| orphans::remove_files(connection, &files)).await {
            tracing::warn!(%error, "the files of removed blobs are left for later");
        }
    }

    /// The disclosure ledger's database; what waits together is committed together.
    pub(crate) fn ledger(&self) -> &Database {
        &self.ledger
    }

    /// Starts collecting the statements of reads, with their query plans.
    #[doc(hidden)]
    pub fn trace_statements(&self) {
        self.main.traces().start();
    }

    /// The statements executed since the last call.
    #[doc(hidden)]
    pub fn take_traced(&self) -> Vec<Traced> {
        self.main.traces().take()
    }
}

fn main(readers: usize) -> Running {
    Running {
        name: "pdpp-store",
        migrations: migrate::STORE,
        durability: Durability::Full,
        group: 1,
        readers,
        glancing: readers,
    }
}

fn ledger() -> Running {
    Running {
        name: "pdpp-ledger",
        migrations: migrate::LEDGER,
        durability: Durability::Process,
        group: 256,
        readers: 1,
        glancing: 0,
    }
}

/// Removes the files a process that died had no time for.
fn remove_left_files(store: &Path, files: &BlobFiles) -> Outcome<()> {
    let mut connection = pragmas::open(store, Role::Writer, Durability::Full)?;
    if !orphans::any_doomed(&connection)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    orphans::remove_files(&transaction, files)?;
    Ok(transaction.commit()?)
}

/// The directory is the authority over what is in it: nobody else may look.
fn make_private_directory(directory: &Path) -> Outcome<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    restrict(directory, 0o700)
}

/// The engine gives its side files the permissions of the database they belong to.
fn make_private_file(path: &Path) -> Outcome<()> {
    let mut options = fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?;
    restrict(path, 0o600)
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) -> Outcome<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = fs::metadata(path)?.permissions();
    if found.mode() & 0o777 != mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn restrict(_: &Path, _: u32) -> Outcome<()> {
    Ok(())
}
