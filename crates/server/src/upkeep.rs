//! What a server drops in time: ended codes and tokens, old entries of every owner's ledger, and bytes nothing refers to.
//!
//! Of all nodes over one store one does it at a time. Whose turn it is says the store, for as long as a round lasts, so
//! that a node which dies leaves its turn to the next.

use std::time::Duration;

use pdpp_auth::NOBODY;
use pdpp_store::StoreError;
use pdpp_wire::{Instant, SubjectId};

use crate::Personal;

/// How often old ledger entries are dropped.
const LEDGER_ROUND: Duration = Duration::from_hours(6);
/// Owners whose ledgers are looked at before the next are asked for.
const OWNERS_AT_ONCE: u32 = 500;
/// How often ended codes, tokens and sessions are dropped.
const OAUTH_ROUND: Duration = Duration::from_mins(5);
/// How often bytes nothing refers to are removed.
const BLOBS_ROUND: Duration = Duration::from_mins(10);

/// Ended codes, tokens and sessions are dropped, and grants nobody fetched are taken back.
pub(crate) async fn keep_oauth_short(personal: Personal) {
    let prune = |personal: Personal| async move {
        personal.store().prune_oauth(personal.clock().now()).await.map(drop)
    };
    in_turns(personal, ("oauth", OAUTH_ROUND), prune).await;
}

/// Entries older than the owner wants them are dropped.
pub(crate) async fn keep_ledgers_short(personal: Personal, days: u32) {
    let prune = move |personal: Personal| async move {
        let before = personal.clock().now().plus_seconds(-i64::from(days) * 86_400);
        prune_ledgers(&personal, before).await
    };
    in_turns(personal, ("ledgers", LEDGER_ROUND), prune).await;
}

/// Bytes whose last reference went, and those of uploads that died, are removed.
pub(crate) async fn keep_blobs_swept(personal: Personal) {
    let sweep = |personal: Personal| async move {
        while personal.store().sweep_blobs().await? {}
        Ok(())
    };
    in_turns(personal, ("blobs", BLOBS_ROUND), sweep).await;
}

/// Does the work once in each round, unless another node did.
async fn in_turns<F: Future<Output = Result<(), StoreError>>>(
    personal: Personal,
    (name, round): (&'static str, Duration),
    work: impl Fn(Personal) -> F,
) {
    loop {
        let done = match is_our_turn(&personal, name, round).await {
            Ok(true) => work(personal.clone()).await,
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            tracing::warn!(%error, name, "upkeep failed and is tried again in its next round");
        }
        tokio::time::sleep(round).await;
    }
}

/// The first to count in a round has it. A little shorter than the sleep between two, or it would often be met at its end.
async fn is_our_turn(personal: &Personal, name: &str, round: Duration) -> Result<bool, StoreError> {
    // Nobody else opens an embedded store, and a server that starts there cleans up at once.
    if personal.directory("serve").is_ok() {
        return Ok(true);
    }
    let seconds = i64::try_from(round.as_secs() * 9 / 10).unwrap_or(i64::MAX);
    let key = format!("upkeep {name}");
    let counted = personal.store().count_attempt(&key, seconds, personal.clock().now()).await?;
    Ok(counted.count == 1)
}

/// Every owner's ledger, and the one of what nobody signed for.
async fn prune_ledgers(personal: &Personal, before: Instant) -> Result<(), StoreError> {
    let store = personal.store();
    let nobody = SubjectId::parse(NOBODY).expect("a plain id");
    for unlisted in [personal.subject(), &nobody] {
        store.prune_disclosures(unlisted, before).await?;
    }
    let mut after = None;
    loop {
        let owners = store.list_subjects(after.as_ref(), OWNERS_AT_ONCE).await?;
        for owner in &owners {
            store.prune_disclosures(owner, before).await?;
        }
        match owners.into_iter().last() {
            Some(last) => after = Some(last),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::personal::tests::{at, two_nodes};

    #[tokio::test]
    async fn of_two_nodes_one_does_the_work_of_a_round() {
        let (one, two) = two_nodes();
        assert!(is_our_turn(&one, "oauth", OAUTH_ROUND).await.unwrap());
        assert!(!is_our_turn(&two, "oauth", OAUTH_ROUND).await.unwrap());
        assert!(is_our_turn(&two, "blobs", BLOBS_ROUND).await.unwrap(), "other work is another turn");
        // The node that had it is gone, and the next round comes.
        let later = at(&two, two.clock().now().plus_seconds(300));
        assert!(is_our_turn(&later, "oauth", OAUTH_ROUND).await.unwrap());
    }
}
