//! Keeps the store's promise in one directory on the owner's machine.
//!
//! `store.db` holds the archive, `ledger.db` the disclosures, `blobs/` the bytes. Several processes
//! may use the directory at once (a server and the command line), so nothing here remembers what
//! another process could change without asking first.
//!
//! Fields a manifest declares are typed, indexed columns of a table per stream; a declared query
//! never reads a record's JSON, except for the rows of its answer.

mod blob_files;
mod database;
mod fault;
mod migrate;
mod options;
mod pragmas;
mod statement;
mod store;
mod worker;

pub use options::Options;
pub use statement::Traced;
pub use store::SqliteStore;
