//! How an S3-compatible store is reached, and how far it is trusted.

use std::fmt;
use std::time::Duration;

use rustls::RootCertStore;

/// What [`Objects::open`](crate::Objects::open) needs besides the place. A directory needs none of it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the store answers, such as `https://s3.example.org`; plain `http` only to this machine. Without one it is
    /// Amazon's, in the region.
    pub endpoint: Option<String>,
    /// The region requests are signed for; `us-east-1` unless told otherwise, which most other stores accept.
    pub region: Option<String>,
    /// Whether the bucket stands in the path instead of the host name. Unless told: yes with an endpoint of one's own.
    pub path_style: Option<bool>,
    /// Whose requests these are. They are never looked for in the environment or asked from the network.
    pub credentials: Option<Credentials>,
    /// What is checked before an upload counts as stored.
    pub verify: Verify,
    /// How long the store may take to accept a connection, to answer a request, and between two pieces of an answer.
    pub patience: Duration,
    /// Whose certificates are believed, instead of those the system trusts.
    pub roots: Option<RootCertStore>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            endpoint: None,
            region: None,
            path_style: None,
            credentials: None,
            verify: Verify::default(),
            patience: Duration::from_secs(10),
            roots: None,
        }
    }
}

/// What is checked before an upload counts as stored. A store that compares the SHA-256 sent with each request finds
/// what was damaged on the way to it in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// The object is read again and its digest compared: the only way to find a store that lies. It costs one more
    /// reading of every upload.
    #[default]
    Content,
    /// The store is asked for the object's size.
    Length,
}

/// A pair of keys. Printing it for debugging shows neither secret.
#[derive(Clone)]
pub struct Credentials {
    /// The public half.
    pub access_key_id: String,
    /// The secret half.
    pub secret_access_key: String,
    /// For keys that were lent for a while.
    pub session_token: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}
