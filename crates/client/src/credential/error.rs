//! Why there is no credential to send. No message holds a token.

use std::path::PathBuf;

use pdpp_wire::Code;

/// A credential that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Nobody connected to this server yet.
    #[error(
        "No scoped PDPP credential for {provider_url} in {}. Run `pdpp connect {provider_url}`, or put a \
         client token in PDPP_CLIENT_TOKEN",
        looked_in.display()
    )]
    NotConnected {
        /// The server.
        provider_url: String,
        /// Where one would be.
        looked_in: PathBuf,
    },
    /// It had an end, and that is over.
    #[error("The credential in {} expired at {expired_at}. Run `pdpp connect {provider_url}`", path.display())]
    Expired {
        /// The server.
        provider_url: String,
        /// The file.
        path: PathBuf,
        /// When.
        expired_at: String,
    },
    /// The file is not what it should be.
    #[error("The credential in {} cannot be used: {problem}. Run `pdpp connect {provider_url}`", path.display())]
    Invalid {
        /// The server.
        provider_url: String,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// An owner's token opens everything, and no assistant is given that.
    #[error(
        "Refusing the owner credential in {}: only a grant-scoped one is used. Run `pdpp connect {provider_url}`",
        path.display()
    )]
    OwnerRefused {
        /// The server.
        provider_url: String,
        /// The file.
        path: PathBuf,
    },
    /// The token cannot stand in a header.
    #[error("The token holds characters no header can carry")]
    Unsendable,
}

impl CredentialError {
    /// The code every surface gives it.
    pub fn code(&self) -> Code {
        match self {
            Self::NotConnected { .. } => Code::NotConnected,
            Self::Expired { .. } => Code::CredentialExpired,
            Self::Invalid { .. } | Self::Unsendable => Code::CredentialInvalid,
            Self::OwnerRefused { .. } => Code::OwnerTokenRefused,
        }
    }
}
