//! Keeps the store's promise in one directory on the owner's machine.
//!
//! `store.db` holds the archive, `ledger.db` the disclosures, `blobs/` the bytes. Several processes
//! may use the directory at once (a server and the command line), so nothing here remembers what
//! another process could change without asking first.
//!
//! Fields a manifest declares are typed, indexed columns of a table per stream; a declared query
//! never reads a record's JSON, except for the rows of its answer.

mod alone;
mod authority;
mod blob_files;
mod blobs;
mod catalogues;
mod change_log;
mod connections;
mod database;
mod events;
mod fault;
mod feed;
mod field_table;
mod fresh;
mod ingest;
mod layout;
mod ledger;
mod manifests;
mod migrate;
mod oauth;
mod options;
mod orphans;
mod owners;
mod pragmas;
mod purge;
mod quotas;
mod records;
mod renewal;
mod repair;
mod sequence;
mod snapshot;
mod statement;
mod store;
mod sync_state;
mod table_file;
mod transfer;
mod verify;
mod worker;

pub use alone::Alone;
pub use options::Options;
pub use snapshot::{DATABASES, KeptBlob, snapshot};
pub use statement::Traced;
pub use store::SqliteStore;
pub use table_file::{Table, TableFile};
