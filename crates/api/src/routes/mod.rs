//! One endpoint per file: its entry in the table of routes, its request, its handler.

pub(crate) mod aggregate;
pub(crate) mod blob;
pub(crate) mod blob_upload;
mod changes;
pub(crate) mod connectors;
pub(crate) mod delete;
pub(crate) mod discovery;
pub(crate) mod event_subscriptions;
pub(crate) mod field_window;
pub(crate) mod health;
pub(crate) mod ingest;
pub(crate) mod manifests;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod streams;
