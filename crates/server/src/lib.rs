//! Reads the configuration and assembles one application.
//!
//! The only place where adapters meet. Nothing here answers a request: handlers live in the
//! adapters, and this crate hands them their clock, their entropy, their store and their settings.

mod client_documents;
mod config;
mod events;
mod hosts;
mod in_process;
mod listener;
mod local_grants;
mod local_owner;
mod logging;
mod mcp_mount;
mod metrics;
mod oauth_mount;
mod open_store;
mod opened;
mod outside;
mod pages_mount;
mod peer;
mod personal;
mod secrets_key;
mod serve;
mod stalled;
mod store_config;
mod upkeep;
mod value_route;

pub use config::{CONFIG_FILE, ConfigError, ConfigFile, LogFormat, ServeConfig};
pub use in_process::in_process;
pub use local_grants::{LocalGrants, LocalGrantsError};
pub use local_owner::LocalOwner;
pub use logging::start_logging;
pub use open_store::{migrate, move_attachments, renew, sweep_attachments};
pub use opened::NeedsDirectory;
pub use outside::{SystemClock, SystemEntropy};
pub use pdpp_store_postgres::{DEFAULT_PARTITIONS, DatabaseUrl, Migrated};
pub use pdpp_store_sqlite::{Alone, DATABASES, KeptBlob, Table, TableFile, snapshot};
pub use peer::Network;
pub use personal::{Personal, PersonalError, owner_subject};
pub use secrets_key::SecretsKeyError;
pub use serve::{ServeError, Server};
pub use store_config::{BlobsConfig, DatabaseConfig, StoreConfig};
