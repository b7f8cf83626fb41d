//! Speaks to a PDPP resource server: the one way in which the MCP adapter and `pdpp read` reach data.
//!
//! A [`Client`] sends [`Request`]s either over HTTP or into a service of the same process, always with one
//! grant-scoped bearer. Every call has a deadline, every answer a largest size; an idempotent read is tried once
//! more when the server was briefly unwell. Dropping the future stops the call. The client knows no tools and
//! decides no access: the server does.

mod answer;
pub mod authorization;
mod bearer;
mod client;
mod credential;
mod deadline;
mod error;
mod http_wire;
mod provider_url;
mod request;
mod watch;

pub use answer::Answer;
pub use bearer::{Bearer, BearerSource, FixedBearer};
pub use client::{Client, InProcess, Limits};
pub use credential::{CacheRoots, CachedCredential, CredentialError, Kept, Now, forget, keep, known_client};
pub use error::ClientError;
pub use provider_url::{ProviderUrl, ProviderUrlError};
pub use request::Request;
