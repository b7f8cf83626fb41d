//! The store and what is derived from it.

use pdpp_server::{Personal, owner_subject};
use pdpp_store::{SearchIndex as _, StoreError};

use super::Check;
use crate::holdings;
use crate::screen::counted;

pub(super) async fn look(personal: &Personal) -> Vec<Check> {
    vec![store(personal).await, index(personal).await, guarded(personal).await]
}

/// Why a store cannot be opened, with the way out.
pub(super) fn unusable(error: &anyhow::Error) -> Check {
    let said = format!("{error:#}");
    let fix = match error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()) {
        Some(StoreError::TooNew { .. }) => "use the newer pdpp that wrote it, or restore an older backup",
        Some(StoreError::Damaged(_)) => "restore a backup: pdpp restore FILE --force",
        Some(StoreError::Busy(_)) => "another program holds it; wait, or stop that program",
        _ => "check the disk, the directory's modes and its owner",
    };
    Check::wrong("store", said, fix)
}

async fn store(personal: &Personal) -> Check {
    let held = async {
        let catalogue = personal.store().catalogue(&owner_subject()).await?;
        holdings::all(personal, &catalogue).await
    };
    match held.await {
        Ok(held) => {
            let records = held.iter().map(|held| held.records).sum();
            let streams = counted(held.len() as u64, "stream");
            Check::well("store", format!("{} in {streams}", counted(records, "record")))
        }
        Err(error) => unusable(&error),
    }
}

async fn index(personal: &Personal) -> Check {
    let fix = "start `pdpp serve`, which takes it up, or build it anew: pdpp verify --repair";
    let engine = match personal.search_engine() {
        Ok(engine) => engine,
        Err(error) => return Check::wrong("search", format!("the index cannot be opened: {error}"), fix),
    };
    match engine.is_current().await {
        Ok(true) => Check::well("search", counted(engine.passages(), "passage")),
        Ok(false) => Check::note("search", "the index is behind the records", fix),
        Err(error) => Check::wrong("search", format!("the index cannot be read: {error}"), fix),
    }
}

async fn guarded(personal: &Personal) -> Check {
    match personal.store().find_passphrase(&owner_subject()).await {
        Ok(Some(_)) => Check::well("passphrase", "set; commands that widen access ask for it"),
        Ok(None) => Check::note(
            "passphrase",
            "none; whoever can open the directory is the owner",
            "`pdpp owner reset` sets one; a server that others can reach needs it",
        ),
        Err(error) => unusable(&error.into()),
    }
}
