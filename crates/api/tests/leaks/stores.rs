//! Where the stores of the cases are: each in a memory of its own, or all of them together in two databases.
//!
//! Together, every case is a pair of owners more in the same tables, under the same grant ids, token ids, stream names
//! and record keys. What one of them is shown then also proves that thousands of others do not show.

use std::sync::{Arc, Mutex};

use pdpp_access::Entropy;
use pdpp_objects::{Objects, Settings};
use pdpp_store::Store;
use pdpp_store_postgres::{DatabaseUrl, PostgresStore, Time, schema_fingerprint};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::{FixedClock, FreshDatabase, PostgresServer, SeededEntropy};
use pdpp_wire::{Instant, SubjectId};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::rng::mix;
use crate::server::NOW;
use crate::world::Place;

/// Gives every case its store and its twin's.
pub(crate) enum Stores {
    Embedded,
    Postgres { ours: Box<Shared>, twins: Box<Shared> },
}

/// One store, the clock and the dice it goes by, and its two owners.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) dice: Arc<Dice>,
    pub(crate) owners: [SubjectId; 2],
}

impl Stores {
    /// Two databases of their own on the server of this run, for as long as this value lives.
    pub(crate) fn on_postgres(runtime: &Runtime) -> Self {
        let shared = || Box::new(Shared::open(runtime));
        Self::Postgres { ours: shared(), twins: shared() }
    }

    /// A store that holds nothing, or nothing of these owners.
    pub(crate) fn open(&self, place: Place, seed: u64) -> Opened {
        let shared = match self {
            Self::Embedded => return embedded(),
            Self::Postgres { ours, twins } => {
                if place == Place::TwinOnly {
                    twins
                } else {
                    ours
                }
            }
        };
        // Cases come one after the other, so the clock and the dice are this one's alone.
        shared.clock.set(now());
        let owners = ["owner", "other"].map(|name| owner(&format!("{name}_{seed:016x}")));
        Opened { store: shared.store.clone(), clock: shared.clock.clone(), dice: shared.dice.clone(), owners }
    }
}

fn embedded() -> Opened {
    let (clock, dice) = (Arc::new(FixedClock::at(now())), Arc::new(Dice::default()));
    let options = pdpp_store_sqlite::Options::new(clock.clone(), dice.clone());
    let store = Arc::new(SqliteStore::in_memory(options).expect("memory is there"));
    Opened { store, clock, dice, owners: ["owner_local", "owner_other"].map(owner) }
}

fn now() -> Instant {
    Instant::parse(NOW).expect("a time")
}

fn owner(name: &str) -> SubjectId {
    SubjectId::parse(name).expect("an id")
}

/// A database with many owners.
pub(crate) struct Shared {
    store: Arc<PostgresStore>,
    clock: Arc<FixedClock>,
    dice: Arc<Dice>,
    _objects: TempDir,
    _database: FreshDatabase,
}

impl Shared {
    fn open(runtime: &Runtime) -> Self {
        let (clock, dice) = (Arc::new(FixedClock::at(now())), Arc::new(Dice::default()));
        let options = pdpp_store_postgres::Options {
            connections: 4,
            time: Time::Given,
            ..pdpp_store_postgres::Options::new(clock.clone(), dice.clone())
        };
        let parse = |url: &str| DatabaseUrl::parse(url).expect("the server of this run has an address");
        let template = format!("pdpp_{}", schema_fingerprint());
        let database = PostgresServer::of_this_run().copy_of(&template, |url| {
            let url = parse(url);
            let migrate = PostgresStore::migrate(&url, &options, 2, |_| ());
            runtime.block_on(migrate).expect("an empty database takes our schema");
        });
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().to_str().expect("a plain name");
        let objects = Objects::open(place, &Settings::default(), Arc::new(SeededEntropy::default()));
        let objects = objects.expect("a folder takes bytes");
        let url = parse(&database.url());
        let connect = PostgresStore::connect(&url, objects, options);
        let store = Arc::new(runtime.block_on(connect).expect("the server of this run answers"));
        Self { store, clock, dice, _objects: folder, _database: database }
    }
}

/// Bytes that can be set back, so that the same thing gets the same id in two stores.
#[derive(Debug, Default)]
pub(crate) struct Dice(Mutex<u64>);

impl Dice {
    pub(crate) fn set(&self, seed: u64) {
        *self.0.lock().expect("nobody panics while drawing") = seed;
    }
}

impl Entropy for Dice {
    fn fill(&self, buffer: &mut [u8]) {
        let mut state = self.0.lock().expect("nobody panics while drawing");
        for chunk in buffer.chunks_mut(8) {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&mix(*state).to_le_bytes()[..chunk.len()]);
        }
    }
}
