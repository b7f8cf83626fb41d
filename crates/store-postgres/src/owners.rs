//! Owners, the link of a first run, and passkeys.

use async_trait::async_trait;
use pdpp_access::SecretHash;
use pdpp_store::{Owners, StoreError, StoredPasskey};
use pdpp_wire::{Instant, SubjectId};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::authority::grants::instant;
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::session::{Session, Whose};
use crate::subject_row::SubjectRow;

#[async_trait]
impl Owners for PostgresStore {
    async fn create_subject(&self, subject_id: &SubjectId) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let sql = "INSERT INTO subjects (subject_id) SELECT $1::text
                   WHERE NOT EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = $1)
                   ON CONFLICT (subject_id) DO NOTHING";
        let made = session.execute(sql, &[&subject_id.as_str()]).await;
        Ok(session.end(made).await? > 0)
    }

    async fn has_subject(&self, subject_id: &SubjectId) -> Result<bool, StoreError> {
        let session = self.reading(subject_id).await?;
        let found = has_subject(&session, subject_id).await;
        Ok(session.end(found).await?)
    }

    async fn list_subjects(
        &self,
        after: Option<&SubjectId>,
        limit: u32,
    ) -> Result<Vec<SubjectId>, StoreError> {
        let session = self.reading(Whose::Everybody).await?;
        // The provider's own row, whose name is empty, is nobody's.
        let sql = "(SELECT subject_id FROM subjects WHERE subject_id > $1 ORDER BY subject_id LIMIT $2)
                   UNION
                   (SELECT subject_id FROM owner_secrets WHERE subject_id > $1 ORDER BY subject_id LIMIT $2)
                   ORDER BY subject_id LIMIT $2";
        let after = after.map_or("", SubjectId::as_str);
        let rows = session.query(sql, &[&after, &i64::from(limit)]).await;
        let damaged = |_| Fault::damaged("a subject's name");
        let read = |row: &Row| SubjectId::parse(row.get::<_, String>(0)).map_err(damaged);
        Ok(session.end(rows).await?.iter().map(read).collect::<Outcome<_>>()?)
    }

    async fn put_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        expires_at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let kept = put_first_run(&session, subject_id, link, expires_at).await;
        Ok(session.end(kept).await?)
    }

    async fn is_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.reading(subject_id).await?;
        let waits = is_first_run(&session, subject_id, link, at).await;
        Ok(session.end(waits).await?)
    }

    async fn claim_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        phc: &str,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let claimed = claim_first_run(&session, subject_id, link, phc, at).await;
        Ok(session.end(claimed).await?)
    }

    async fn put_passkey(&self, passkey: &StoredPasskey) -> Result<bool, StoreError> {
        let session = self.writing(&passkey.subject_id).await?;
        let kept = put_passkey(&session, passkey).await;
        Ok(session.end(kept).await?)
    }

    async fn list_passkeys(&self, subject_id: &SubjectId) -> Result<Vec<StoredPasskey>, StoreError> {
        let session = self.reading(subject_id).await?;
        let sql = "SELECT passkey_id, label, document, created_at, last_used_at FROM owner_passkeys
                   WHERE subject_id = $1 ORDER BY created_at, passkey_id";
        let rows = session.query(sql, &[&subject_id.as_str()]).await;
        Ok(session.end(rows).await?.iter().map(|row| read(subject_id, row)).collect())
    }

    async fn use_passkey(
        &self,
        seen: &StoredPasskey,
        document: &str,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.writing(&seen.subject_id).await?;
        let sql = "UPDATE owner_passkeys SET document = $4, last_used_at = $5
                   WHERE subject_id = $1 AND passkey_id = $2 AND document = $3";
        let subject_id = seen.subject_id.as_str();
        let used = session
            .execute(sql, &[&subject_id, &seen.passkey_id, &seen.document, &document, &at.micros()])
            .await;
        Ok(session.end(used).await? > 0)
    }

    async fn remove_passkeys(
        &self,
        subject_id: &SubjectId,
        passkey_id: Option<&str>,
    ) -> Result<u64, StoreError> {
        let session = self.writing(subject_id).await?;
        let removed = remove_passkeys(&session, subject_id, passkey_id).await;
        Ok(session.end(removed).await?)
    }
}

pub(crate) async fn has_subject(session: &Session, subject_id: &SubjectId) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM subjects WHERE subject_id = $1)
               OR EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = $1)";
    Ok(session.query_one(sql, &[&subject_id.as_str()]).await?.get(0))
}

async fn put_first_run(
    session: &Session,
    subject_id: &SubjectId,
    link: &SecretHash,
    expires_at: Instant,
) -> Outcome<bool> {
    let sql = "INSERT INTO first_run_links (subject_id, link, expires_at)
               SELECT $1::text, $2::bytea, $3::bigint
               WHERE NOT EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = $1)
               ON CONFLICT (subject_id) DO UPDATE SET link = excluded.link, expires_at = excluded.expires_at";
    let bytes = link.as_bytes().as_slice();
    Ok(session.execute(sql, &[&subject_id.as_str(), &bytes, &expires_at.micros()]).await? > 0)
}

async fn is_first_run(
    session: &Session,
    subject_id: &SubjectId,
    link: &SecretHash,
    at: Instant,
) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM first_run_links
                   WHERE subject_id = $1 AND link = $2 AND expires_at > $3
                   AND NOT EXISTS (SELECT 1 FROM owner_secrets WHERE subject_id = $1))";
    let bytes = link.as_bytes().as_slice();
    Ok(session.query_one(sql, &[&subject_id.as_str(), &bytes, &at.micros()]).await?.get(0))
}

/// Of two who hold the link at once the second finds that there is an owner. Nobody becomes one by a wrong link.
async fn claim_first_run(
    session: &Session,
    subject_id: &SubjectId,
    link: &SecretHash,
    phc: &str,
    at: Instant,
) -> Outcome<bool> {
    SubjectRow::lock_known(session, subject_id).await?;
    if !is_first_run(session, subject_id, link, at).await? {
        return Ok(false);
    }
    let subject_id = subject_id.as_str();
    // Whoever sets a passphrase takes no lock but this row's.
    let sql =
        "INSERT INTO owner_secrets (subject_id, phc) VALUES ($1, $2) ON CONFLICT (subject_id) DO NOTHING";
    let claimed = session.execute(sql, &[&subject_id, &phc]).await? > 0;
    session.execute("DELETE FROM first_run_links WHERE subject_id = $1", &[&subject_id]).await?;
    Ok(claimed)
}

/// The directory keeps a passkey's name to one owner, whoever it is.
async fn put_passkey(session: &Session, passkey: &StoredPasskey) -> Outcome<bool> {
    if !Handle::of_passkey(&passkey.passkey_id).claim(session, &passkey.subject_id).await? {
        return Ok(false);
    }
    let sql = "INSERT INTO owner_passkeys (subject_id, passkey_id, label, document, created_at, last_used_at)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let times = (passkey.created_at.micros(), passkey.last_used_at.map(Instant::micros));
    let subject_id = passkey.subject_id.as_str();
    session
        .execute(
            sql,
            &[&subject_id, &passkey.passkey_id, &passkey.label, &passkey.document, &times.0, &times.1],
        )
        .await?;
    Ok(true)
}

async fn remove_passkeys(
    session: &Session,
    subject_id: &SubjectId,
    passkey_id: Option<&str>,
) -> Outcome<u64> {
    let sql = "DELETE FROM owner_passkeys WHERE subject_id = $1 AND ($2::text IS NULL OR passkey_id = $2)
               RETURNING passkey_id";
    let rows = session.query(sql, &[&subject_id.as_str(), &passkey_id]).await?;
    let handles: Vec<_> = rows.iter().map(|row| Handle::of_passkey(row.get(0))).collect();
    Handle::remove(session, &handles).await?;
    Ok(handles.len() as u64)
}

fn read(subject_id: &SubjectId, row: &Row) -> StoredPasskey {
    StoredPasskey {
        passkey_id: row.get(0),
        subject_id: subject_id.clone(),
        label: row.get(1),
        document: row.get(2),
        created_at: Instant::from_micros(row.get(3)),
        last_used_at: instant(row, 4),
    }
}
