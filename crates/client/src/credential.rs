//! The credential an owner approved once, kept in a file and renewed in place.
//!
//! One server has one file. It holds a grant-scoped access token and perhaps a refresh token of the same grant; a
//! file that holds an owner's token is refused. Nothing here falls back to another file or another credential
//! once a file was chosen.

mod cached;
mod error;
mod file;
mod place;
mod refresh;

pub use cached::{CachedCredential, Now};
pub use error::CredentialError;
pub use place::CacheRoots;
