//! Owners, the link of a first run, and passkeys.

use async_trait::async_trait;
use pdpp_access::SecretHash;
use pdpp_store::{Owners, StoreError, StoredPasskey};
use pdpp_wire::{Instant, SubjectId};
use rusqlite::{Connection, Row, params};

use crate::SqliteStore;
use crate::authority::instant;
use crate::fault::{Fault, Outcome};

#[async_trait]
impl Owners for SqliteStore {
    async fn create_subject(&self, subject_id: &SubjectId) -> Result<bool, StoreError> {
        let subject_id = subject_id.clone();
        let create = move |connection: &Connection| {
            if has_subject(connection, &subject_id)? {
                return Ok(false);
            }
            let sql = "INSERT INTO subjects (subject_id) VALUES (?1)";
            connection.prepare_cached(sql)?.execute([subject_id.as_str()])?;
            Ok(true)
        };
        self.write(create).await
    }

    async fn has_subject(&self, subject_id: &SubjectId) -> Result<bool, StoreError> {
        let subject_id = subject_id.clone();
        self.read(move |connection| has_subject(connection, &subject_id)).await
    }

    async fn list_subjects(
        &self,
        after: Option<&SubjectId>,
        limit: u32,
    ) -> Result<Vec<SubjectId>, StoreError> {
        let after = after.map(ToString::to_string).unwrap_or_default();
        let list = move |connection: &Connection| {
            let sql = "SELECT subject_id FROM subjects WHERE subject_id > ?1
                       UNION SELECT subject_id FROM owner_secrets WHERE subject_id > ?1
                       ORDER BY subject_id LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(params![after, limit])?;
            let mut subjects = Vec::new();
            while let Some(row) = rows.next()? {
                let subject = SubjectId::parse(row.get::<_, String>(0)?);
                subjects.push(subject.map_err(|_| Fault::damaged("a subject's name"))?);
            }
            Ok(subjects)
        };
        self.read(list).await
    }

    async fn put_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        expires_at: Instant,
    ) -> Result<bool, StoreError> {
        let (subject_id, link) = (subject_id.clone(), *link);
        let put = move |connection: &Connection| {
            let sql = "INSERT INTO first_run_links (subject_id, link, expires_at)
                       SELECT ?1, ?2, ?3
                       WHERE NOT EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = ?1)
                       ON CONFLICT (subject_id) DO UPDATE SET
                           link = excluded.link, expires_at = excluded.expires_at";
            let values = params![subject_id.as_str(), link.as_bytes(), expires_at.micros()];
            Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
        };
        self.write(put).await
    }

    async fn is_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let (subject_id, link) = (subject_id.clone(), *link);
        self.read(move |connection| is_first_run(connection, &subject_id, &link, at)).await
    }

    async fn claim_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        phc: &str,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let (subject_id, link, phc) = (subject_id.clone(), *link, phc.to_owned());
        let claim = move |connection: &Connection| {
            if !is_first_run(connection, &subject_id, &link, at)? {
                return Ok(false);
            }
            let sql = "INSERT INTO owner_secrets (subject_id, phc) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute([subject_id.as_str(), &phc])?;
            let sql = "DELETE FROM first_run_links WHERE subject_id = ?1";
            connection.prepare_cached(sql)?.execute([subject_id.as_str()])?;
            Ok(true)
        };
        self.write(claim).await
    }

    async fn put_passkey(&self, passkey: &StoredPasskey) -> Result<bool, StoreError> {
        let passkey = passkey.clone();
        let put = move |connection: &Connection| {
            let sql = "INSERT INTO owner_passkeys
                           (passkey_id, subject_id, label, document, created_at, last_used_at)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (passkey_id) DO NOTHING";
            let values = params![
                passkey.passkey_id,
                passkey.subject_id.as_str(),
                passkey.label,
                passkey.document,
                passkey.created_at.micros(),
                passkey.last_used_at.map(Instant::micros),
            ];
            Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
        };
        self.write(put).await
    }

    async fn list_passkeys(&self, subject_id: &SubjectId) -> Result<Vec<StoredPasskey>, StoreError> {
        let subject_id = subject_id.clone();
        let list = move |connection: &Connection| {
            let sql = "SELECT passkey_id, subject_id, label, document, created_at, last_used_at
                       FROM owner_passkeys WHERE subject_id = ?1 ORDER BY created_at, passkey_id";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([subject_id.as_str()])?;
            let mut passkeys = Vec::new();
            while let Some(row) = rows.next()? {
                passkeys.push(read(row)?);
            }
            Ok(passkeys)
        };
        self.read(list).await
    }

    async fn use_passkey(
        &self,
        seen: &StoredPasskey,
        document: &str,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let (seen, document) = (seen.clone(), document.to_owned());
        let renew = move |connection: &Connection| {
            let sql = "UPDATE owner_passkeys SET document = ?4, last_used_at = ?5
                       WHERE passkey_id = ?1 AND subject_id = ?2 AND document = ?3";
            let values =
                params![seen.passkey_id, seen.subject_id.as_str(), seen.document, document, at.micros()];
            Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
        };
        self.write(renew).await
    }

    async fn remove_passkeys(
        &self,
        subject_id: &SubjectId,
        passkey_id: Option<&str>,
    ) -> Result<u64, StoreError> {
        let (subject_id, passkey_id) = (subject_id.clone(), passkey_id.map(str::to_owned));
        let remove = move |connection: &Connection| {
            let sql = "DELETE FROM owner_passkeys WHERE subject_id = ?1 AND (?2 IS NULL OR passkey_id = ?2)";
            Ok(connection.prepare_cached(sql)?.execute(params![subject_id.as_str(), passkey_id])? as u64)
        };
        self.write(remove).await
    }
}

pub(crate) fn has_subject(connection: &Connection, subject_id: &SubjectId) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM subjects WHERE subject_id = ?1)
                   OR EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([subject_id.as_str()], |row| row.get(0))?)
}

fn is_first_run(
    connection: &Connection,
    subject_id: &SubjectId,
    link: &SecretHash,
    at: Instant,
) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM first_run_links
                   WHERE subject_id = ?1 AND link = ?2 AND expires_at > ?3
                   AND NOT EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = ?1))";
    let values = params![subject_id.as_str(), link.as_bytes(), at.micros()];
    Ok(connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

fn read(row: &Row<'_>) -> Outcome<StoredPasskey> {
    let damaged = |_| Fault::damaged("a passkey's owner");
    Ok(StoredPasskey {
        passkey_id: row.get(0)?,
        subject_id: SubjectId::parse(row.get::<_, String>(1)?).map_err(damaged)?,
        label: row.get(2)?,
        document: row.get(3)?,
        created_at: Instant::from_micros(row.get(4)?),
        last_used_at: instant(row, 5)?,
    })
}
