//! A store on a database of its own.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use pdpp_objects::{Objects, Settings};
use pdpp_store::Store;
use pdpp_store_postgres::{DatabaseUrl, Options, PostgresStore, Time, schema_fingerprint};
use pdpp_testkit::{FixedClock, FreshDatabase, PostgresServer, SeededEntropy};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// What tests open stores with.
pub(crate) fn options() -> Options {
    Options {
        connections: 4,
        time: Time::Given,
        ..Options::new(Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()))
    }
}

/// A database with our schema and nothing in it. Two partitions are enough to have more than one.
pub(crate) fn fresh_database() -> FreshDatabase {
    let server = PostgresServer::of_this_run();
    server.copy_of(&format!("pdpp_{}", schema_fingerprint()), |url| {
        let url = DatabaseUrl::parse(url).unwrap();
        block_on(async move { PostgresStore::migrate(&url, &options(), 2, |_| ()).await.unwrap() });
    })
}

/// What must live as long as a store.
pub(crate) struct Kept {
    pub(crate) database: FreshDatabase,
    pub(crate) objects: TempDir,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self { database: fresh_database(), objects: tempfile::tempdir().unwrap() }
    }
}

impl Deref for Kept {
    type Target = FreshDatabase;
    fn deref(&self) -> &FreshDatabase {
        &self.database
    }
}

/// An empty store, and what must live as long.
pub(crate) fn fresh_store() -> (Arc<dyn Store>, Kept) {
    let kept = Kept::new();
    (Arc::new(connect(&kept, options())), kept)
}

/// A node of this store.
pub(crate) fn connect(kept: &Kept, options: Options) -> PostgresStore {
    connect_at(kept, kept.objects.path(), options)
}

/// A node that looks for bytes in another folder.
pub(crate) fn connect_at(kept: &Kept, folder: &Path, options: Options) -> PostgresStore {
    let url = DatabaseUrl::parse(&kept.database.url()).unwrap();
    let objects = objects(folder);
    block_on(async move { PostgresStore::connect(&url, objects, options).await.unwrap() })
}

/// Bytes in a folder. Names of uploads are told apart by chance, so no two nodes draw the same.
pub(crate) fn objects(folder: &Path) -> Objects {
    static NODES: AtomicU64 = AtomicU64::new(1);
    let entropy = SeededEntropy::new(NODES.fetch_add(1, Ordering::Relaxed) << 32);
    Objects::open(folder.to_str().unwrap(), &Settings::default(), Arc::new(entropy)).unwrap()
}

/// Where connections live, whatever runtime a test has of its own.
static HOME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
});

/// Runs to the end there, also inside a test that has a runtime of its own.
fn block_on<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    std::thread::spawn(move || HOME.block_on(work)).join().unwrap()
}

// Each binary of tests takes what it needs of this module; none of it is dead because one takes less.
const _: fn() -> (Arc<dyn Store>, Kept) = fresh_store;
