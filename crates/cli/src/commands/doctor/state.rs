//! The store and what is derived from it.

use pdpp_server::{Personal, PersonalError};
use pdpp_store::{SearchIndex as _, StoreError};

use super::Check;
use crate::holdings;
use crate::screen::counted;

pub(super) async fn look(personal: &Personal) -> Vec<Check> {
    let mut checks = vec![store(personal).await];
    // With a database each node makes an owner's index when it is first asked for.
    if personal.directory("doctor").is_ok() {
        checks.push(index(personal).await);
    }
    checks.push(guarded(personal).await);
    // A directory would make its key when it is looked for.
    if personal.directory("doctor").is_err()
        && let Err(error) = personal.webhook_secrets()
    {
        checks.push(Check::note("events", error.to_string(), "a node does not start without it"));
    }
    if personal.is_unguarded() {
        checks.push(Check::wrong(
            "database",
            "this role is above row-level security, the second lock between owners",
            "let nodes connect as a role that is no superuser and has no BYPASSRLS",
        ));
    }
    checks
}

/// Why a store cannot be opened, with the way out.
pub(super) fn unusable(error: &anyhow::Error) -> Check {
    let said = format!("{error:#}");
    if let Some(PersonalError::SeveralSubjects | PersonalError::UnknownSubject(_)) = error.downcast_ref() {
        return Check::note("store", said, "look at one owner's data: pdpp doctor --subject NAME");
    }
    let fix = match error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()) {
        Some(StoreError::TooNew { .. }) => "use the newer pdpp that wrote it, or restore an older backup",
        Some(StoreError::TooOld { .. }) => "bring it up to date: pdpp migrate",
        Some(StoreError::Unreachable(_)) => "see that the database runs, and that this machine may reach it",
        Some(StoreError::Damaged(_)) => "restore a backup: pdpp restore FILE --force",
        Some(StoreError::Busy(_)) => "another program holds it; wait, or stop that program",
        _ => "check the disk, the directory's modes and its owner",
    };
    Check::wrong("store", said, fix)
}

async fn store(personal: &Personal) -> Check {
    let held = async {
        let catalogue = personal.store().catalogue(personal.subject()).await?;
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
    match personal.store().find_passphrase(personal.subject()).await {
        Ok(Some(_)) => Check::well("passphrase", "set; commands that widen access ask for it"),
        Ok(None) => Check::note(
            "passphrase",
            format!("none; whoever can open {} is the owner", personal.place()),
            "`pdpp owner reset` sets one; a server that others can reach needs it",
        ),
        Err(error) => unusable(&error.into()),
    }
}
