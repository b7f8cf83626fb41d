//! Clients as they are kept.

use pdpp_wire::{ClientId, Instant, SubjectId};

/// A client the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    /// Names it.
    pub client_id: ClientId,
    /// How it became known.
    pub source: ClientSource,
    /// Its metadata, as JSON the authorization server wrote.
    pub metadata: String,
    /// A hash of the members whose change must end its access.
    pub security_hash: String,
    /// When it was first seen.
    pub first_seen: Instant,
    /// The owner who registered it, when one was signed in.
    pub subject_id: Option<SubjectId>,
    /// Recognises the token that manages the registration.
    pub registration_token: Option<pdpp_access::SecretHash>,
}

/// How a client became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSource {
    /// It registered itself.
    Dynamic,
    /// Its id is the address of its metadata.
    MetadataDocument,
    /// It is part of this program.
    PreRegistered,
    /// The owner named it on the command line.
    Local,
}

/// What became of a client that was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientPut {
    /// It was not known before.
    New,
    /// It was known, and nothing that matters changed.
    Known,
    /// What matters changed, so its access ended.
    Changed,
}

impl ClientSource {
    /// The word it is kept under.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::MetadataDocument => "metadata_document",
            Self::PreRegistered => "pre_registered",
            Self::Local => "local",
        }
    }

    /// From the word it is kept under.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Dynamic, Self::MetadataDocument, Self::PreRegistered, Self::Local]
            .into_iter()
            .find(|source| source.as_str() == text)
    }
}
