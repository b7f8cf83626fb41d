//! Reads the configuration and assembles one application.
//!
//! The only place where adapters meet. Nothing here answers a request: handlers live in the
//! adapters, and this crate hands them their clock, their entropy, their store and their settings.

mod config;
mod hosts;
mod listener;
mod logging;
mod metrics;
mod outside;
mod personal;
mod serve;
mod stalled;

pub use config::{CONFIG_FILE, ConfigError, ConfigFile, LogFormat, ServeConfig};
pub use logging::start_logging;
pub use outside::{SystemClock, SystemEntropy};
pub use personal::{Personal, PersonalError, owner_subject};
pub use serve::{ServeError, Server};
