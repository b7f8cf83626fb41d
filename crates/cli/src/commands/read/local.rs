//! The owner's own data directory, read without a server.

use std::sync::Arc;

use pdpp_client::{Bearer, Client, FixedBearer, Limits};
use pdpp_server::{LocalOwner, Personal, in_process};
use pdpp_store::Door;

use super::target::wrong;
use crate::exit::Ended;
use crate::holdings::{self, Held};
use crate::passphrase::PassphraseArgs;

/// A client of the directory with its owner's authority, and what the directory holds. Where there is a passphrase, it is
/// asked for: what is read this way is everything.
pub(super) async fn client(
    personal: &Personal,
    passphrase: PassphraseArgs,
) -> anyhow::Result<(Client, Holdings)> {
    passphrase.require(personal).await?;
    let (owner, secret) = LocalOwner::open(personal);
    let router = owner.router(personal).await?;
    let bearer = Arc::new(FixedBearer(Bearer::new(secret.reveal())));
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let held = holdings::all(personal, &catalogue).await?;
    let client =
        Client::in_process(in_process(router, Door::Cli), "http://localhost", bearer, Limits::default());
    Ok((client, Holdings(held)))
}

/// What a directory holds, for telling which connection is meant.
#[derive(Debug)]
pub(super) struct Holdings(Vec<Held>);

impl Holdings {
    /// The id of a connection that is named by its label.
    pub(super) fn named(&self, given: String) -> String {
        let same = |held: &&Held| held.display_name.as_deref() == Some(given.as_str());
        let found = self.0.iter().find(same).map(|held| held.connection_id.to_string());
        found.unwrap_or(given)
    }

    /// What the connections are called.
    pub(super) fn labels(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = self.0.iter().map(Held::label).collect();
        labels.dedup();
        labels
    }

    /// The connection that is meant: the one with this id or label, else the only one that has records of the stream. A
    /// client's grant says it for a client; an owner has to, where there is a choice.
    pub(super) fn connection(&self, stream: &str, given: Option<String>) -> Result<Option<String>, Ended> {
        if let Some(given) = given {
            return Ok(Some(self.named(given)));
        }
        let several_sources = self.0.windows(2).any(|pair| pair[0].connector_key != pair[1].connector_key);
        if !several_sources {
            return Ok(None);
        }
        let having: Vec<&Held> = self.0.iter().filter(|held| held.stream.as_str() == stream).collect();
        let filled: Vec<&Held> = having.iter().copied().filter(|held| held.records > 0).collect();
        match (filled.as_slice(), having.as_slice()) {
            ([only], _) | ([], [only]) => Ok(Some(only.connection_id.to_string())),
            ([], _) => Ok(None),
            (several, _) => {
                let names: Vec<&str> = several.iter().copied().map(Held::label).collect();
                Err(wrong(format!(
                    "several connections have {stream}; choose with --connection-id: {}",
                    names.join(", ")
                )))
            }
        }
    }
}
