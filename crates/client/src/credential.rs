//! The credential an owner approved once, kept in a file and renewed in place.
//!
//! One server has one file. It holds a grant-scoped access token and perhaps a refresh token of the same grant; a
//! file that holds an owner's token is refused. Nothing here falls back to another file or another credential
//! once a file was chosen.

mod cached;
mod error;
mod file;
mod keep;
mod place;
mod private;
mod refresh;

pub use cached::{CachedCredential, Now};
pub use error::CredentialError;
pub(crate) use file::is_owners;
pub use keep::{Kept, forget, keep, known_client};
pub use place::CacheRoots;
