//! The owner's own data directory, read without a server.

use std::path::Path;
use std::sync::Arc;

use pdpp_client::{Bearer, Client, FixedBearer, Limits};
use pdpp_server::{LocalOwner, Personal, in_process};
use pdpp_store::Door;

use crate::passphrase::PassphraseArgs;

/// A client of the directory with its owner's authority. Where there is a passphrase, it is asked for: what is read
/// this way is everything.
pub(super) async fn client(data: &Path, passphrase: PassphraseArgs) -> anyhow::Result<Client> {
    let personal = Personal::open_existing(data)?;
    passphrase.require(&personal).await?;
    let (owner, secret) = LocalOwner::open(&personal);
    let router = owner.router(&personal).await?;
    let bearer = Arc::new(FixedBearer(Bearer::new(secret.reveal())));
    Ok(Client::in_process(in_process(router, Door::Cli), "http://localhost", bearer, Limits::default()))
}
