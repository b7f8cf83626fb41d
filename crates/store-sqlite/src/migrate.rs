//! Brings a database up to the schema this program knows. Steps are only ever added.

use pdpp_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::fault::Outcome;

/// The archive's steps; the n-th leads to schema version n.
pub(crate) const STORE: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_doomed_blobs.sql"),
    include_str!("../migrations/0003_revisions.sql"),
    include_str!("../migrations/0004_oauth.sql"),
    include_str!("../migrations/0005_owners.sql"),
    include_str!("../migrations/0006_events.sql"),
    include_str!("../migrations/0007_transfers.sql"),
    include_str!("../migrations/0008_quotas.sql"),
];
/// The ledger's steps.
pub(crate) const LEDGER: &[&str] = &[
    include_str!("../migrations/ledger/0001_initial.sql"),
    include_str!("../migrations/ledger/0002_reads.sql"),
    include_str!("../migrations/ledger/0003_transfers.sql"),
    include_str!("../migrations/ledger/0004_fresh_entries.sql"),
];

/// Runs the missing steps in one transaction. Whoever comes second finds them done.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Outcome<()> {
    if version(connection, steps)? == steps.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = version(&transaction, steps)?;
    for step in &steps[done..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known(steps))?;
    Ok(transaction.commit()?)
}

fn version(connection: &Connection, steps: &[&str]) -> Outcome<usize> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match usize::try_from(found) {
        Ok(version) if version <= steps.len() => Ok(version),
        _ => Err(StoreError::TooNew { found, known: known(steps) }.into()),
    }
}

fn known(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}
