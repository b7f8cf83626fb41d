//! Keeps the store's promise on a Postgres server, for many owners and many nodes.
//!
//! Nothing is remembered here that another node could change without asking first. Every statement names its
//! subject, every transaction declares it to the server's row-level security, and whoever writes for a subject
//! locks that subject's row, so its changes are numbered in the order they are committed.
//!
//! Declared fields are rows of one table, sorted as bytes: owners bring their own manifests, and a table for each
//! would be too many tables. A declared query walks an index and never reads a record's JSON, except for the rows
//! of its answer.

mod authority;
mod blobs;
mod catalogue_cache;
mod catalogues;
mod change_log;
mod clock;
mod config;
mod connect;
mod connections;
mod directory;
mod events;
mod fault;
mod feed;
mod field_rows;
mod ingest;
mod layout;
mod ledger;
mod manifests;
mod migrate;
mod oauth;
mod options;
mod orphans;
mod owners;
mod pipeline;
mod purge;
mod quotas;
mod records;
mod relaying;
mod renewal;
mod scope;
mod session;
mod store;
mod subject_row;
mod sync_state;
mod trace;
mod transfer;
mod value;

pub use blobs::BlobSweep;
pub use clock::Time;
pub use config::{DatabaseUrl, DatabaseUrlError};
pub use migrate::{DEFAULT_PARTITIONS, Migrated, schema_fingerprint};
pub use options::Options;
pub use store::PostgresStore;
pub use trace::{Traced, traced};
