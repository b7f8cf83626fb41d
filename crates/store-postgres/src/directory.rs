//! Finds the subject that a secret or an id belongs to, when nothing else names it.
//!
//! A row is written in the transaction that writes what it names, and goes with it. The table has no row-level
//! security: whoever asks it does not yet know whose rows to mean. It tells nothing but a subject's id, and that
//! only to whoever has the whole handle.

use std::collections::HashMap;

use pdpp_access::SecretHash;
use pdpp_wire::{FamilyId, SubjectId, SubscriptionId};

use crate::fault::{Fault, Outcome};
use crate::session::Session;

/// Something that belongs to one subject, spelled with a byte for its kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handle(Vec<u8>);

impl Handle {
    pub(crate) fn of_token(hash: &SecretHash) -> Self {
        Self::new(1, hash.as_bytes())
    }

    pub(crate) fn of_session(hash: &SecretHash) -> Self {
        Self::new(2, hash.as_bytes())
    }

    pub(crate) fn of_refresh(hash: &SecretHash) -> Self {
        Self::new(3, hash.as_bytes())
    }

    pub(crate) fn of_family(family_id: &FamilyId) -> Self {
        Self::new(4, family_id.as_str().as_bytes())
    }

    pub(crate) fn of_passkey(passkey_id: &str) -> Self {
        Self::new(5, passkey_id.as_bytes())
    }

    pub(crate) fn of_subscription(subscription_id: &SubscriptionId) -> Self {
        Self::new(6, subscription_id.as_str().as_bytes())
    }

    /// Kinds are never given to anything else, whatever becomes of them.
    fn new(kind: u8, name: &[u8]) -> Self {
        Self([&[kind], name].concat())
    }

    /// The subject it belongs to; the session means that subject's rows from here on. One round trip for both.
    pub(crate) async fn turn_to_its_subject(&self, session: &Session) -> Outcome<Option<SubjectId>> {
        let sql = "SELECT set_config('pdpp.subject', subject_id, true) FROM directory WHERE handle = $1";
        let row = session.query_opt(sql, &[&self.0]).await?;
        let damaged = |_| Fault::damaged("the subject of a handle");
        row.map(|row| SubjectId::parse(row.get::<_, String>(0)).map_err(damaged)).transpose()
    }

    /// Says whose it is. Says whether it was free: not when anybody has it already.
    pub(crate) async fn claim(&self, session: &Session, subject_id: &SubjectId) -> Outcome<bool> {
        let sql =
            "INSERT INTO directory (handle, subject_id) VALUES ($1, $2) ON CONFLICT (handle) DO NOTHING";
        Ok(session.execute(sql, &[&self.0, &subject_id.as_str()]).await? > 0)
    }

    /// Says whose it is; it must be free.
    pub(crate) async fn insert(&self, session: &Session, subject_id: &SubjectId) -> Outcome<()> {
        let sql = "INSERT INTO directory (handle, subject_id) VALUES ($1, $2)";
        session.execute(sql, &[&self.0, &subject_id.as_str()]).await?;
        Ok(())
    }

    /// The subjects of those of the handles that have one.
    pub(crate) async fn subjects(session: &Session, handles: &[Self]) -> Outcome<HashMap<Self, SubjectId>> {
        let handles: Vec<&[u8]> = handles.iter().map(|handle| handle.0.as_slice()).collect();
        let sql = "SELECT handle, subject_id FROM directory WHERE handle = ANY($1)";
        let rows = session.query(sql, &[&handles]).await?;
        let damaged = |_| Fault::damaged("the subject of a handle");
        let read = |row: &tokio_postgres::Row| {
            Ok((Self(row.get(0)), SubjectId::parse(row.get::<_, String>(1)).map_err(damaged)?))
        };
        rows.iter().map(read).collect()
    }

    /// Forgets them.
    pub(crate) async fn remove(session: &Session, handles: &[Self]) -> Outcome<()> {
        let handles: Vec<&[u8]> = handles.iter().map(|handle| handle.0.as_slice()).collect();
        session.execute("DELETE FROM directory WHERE handle = ANY($1)", &[&handles]).await?;
        Ok(())
    }
}
