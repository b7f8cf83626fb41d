//! Grants and tokens. A token is found by the hash of its secret, and by nothing else.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pdpp_access::{GrantStanding, SecretHash};
use pdpp_store::{Authority, IssueOutcome, NewToken, StoreError, StoredGrant, StoredToken, TokenKind};
use pdpp_wire::{AccessMode, ClientId, FamilyId, Grant, GrantId, Instant, SubjectId, TokenId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};

#[async_trait]
impl Authority for SqliteStore {
    async fn issue(&self, grants: &[Grant], token: &NewToken) -> Result<(), StoreError> {
        let (grants, token) = (grants.to_vec(), token.clone());
        let issue = move |connection: &Connection| {
            for grant in &grants {
                insert_grant(connection, grant)?;
            }
            consume(connection, &token)?;
            insert_token(connection, &token)
        };
        self.write(issue).await
    }

    async fn issue_token(&self, token: &NewToken) -> Result<IssueOutcome, StoreError> {
        let token = token.clone();
        let issue = move |connection: &Connection| {
            let outcome = may_issue(connection, &token)?;
            if outcome == IssueOutcome::Issued {
                consume(connection, &token)?;
                insert_token(connection, &token)?;
            }
            Ok(outcome)
        };
        self.write(issue).await
    }

    async fn find_token(&self, hash: &SecretHash) -> Result<Option<StoredToken>, StoreError> {
        let hash = *hash;
        self.peek(move |connection| find_token(connection, &hash)).await
    }

    async fn find_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
    ) -> Result<Option<StoredGrant>, StoreError> {
        let (subject, grant) = (subject_id.clone(), grant_id.clone());
        let found = self.read(move |connection| find_grant(connection, &subject, &grant)).await?;
        let mut found: Vec<_> = found.into_iter().collect();
        self.add_last_uses(subject_id, &mut found).await?;
        Ok(found.pop())
    }

    async fn find_standing(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
    ) -> Result<Option<GrantStanding>, StoreError> {
        let (subject, grant) = (subject_id.clone(), grant_id.clone());
        let found = self.glance(move |connection| find_grant(connection, &subject, &grant)).await?;
        Ok(found.map(|grant| grant.standing))
    }

    async fn list_grants(&self, subject_id: &SubjectId) -> Result<Vec<StoredGrant>, StoreError> {
        let subject = subject_id.clone();
        let list = move |connection: &Connection| {
            let sql = format!("{SELECT_GRANT} WHERE subject_id = ?1 ORDER BY issued_at DESC, id DESC");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([subject.as_str()])?;
            let mut grants = Vec::new();
            while let Some(row) = rows.next()? {
                grants.push(stored_grant(row)?);
            }
            Ok(grants)
        };
        let mut grants = self.read(list).await?;
        self.add_last_uses(subject_id, &mut grants).await?;
        Ok(grants)
    }

    async fn revoke_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
        at: Instant,
    ) -> Result<Option<StoredGrant>, StoreError> {
        let (subject_id, grant_id) = (subject_id.clone(), grant_id.clone());
        let revoke = move |connection: &Connection| {
            let before = find_grant(connection, &subject_id, &grant_id)?;
            let sql = "UPDATE grants SET revoked_at = ?3
                       WHERE subject_id = ?1 AND grant_id = ?2 AND revoked_at IS NULL";
            let mut statement = connection.prepare_cached(sql)?;
            statement.execute(params![subject_id.as_str(), grant_id.as_str(), at.micros()])?;
            crate::oauth::end_families_without_grant(connection, (&subject_id, &grant_id), at)?;
            crate::events::end_without_grants(connection, at)?;
            Ok(before)
        };
        self.write(revoke).await
    }

    async fn revoke_owner_tokens(&self, subject_id: &SubjectId, at: Instant) -> Result<u64, StoreError> {
        let subject_id = subject_id.clone();
        let revoke = move |connection: &Connection| {
            let sql = "UPDATE tokens SET revoked_at = ?2
                       WHERE subject_id = ?1 AND kind = 'owner' AND revoked_at IS NULL";
            let revoked =
                connection.prepare_cached(sql)?.execute(params![subject_id.as_str(), at.micros()])?;
            // What could make new ones ends with them.
            let sql = "UPDATE refresh_families SET revoked_at = ?2
                       WHERE subject_id = ?1 AND kind = 'owner' AND revoked_at IS NULL";
            connection.prepare_cached(sql)?.execute(params![subject_id.as_str(), at.micros()])?;
            Ok(revoked as u64)
        };
        self.write(revoke).await
    }

    async fn find_passphrase(&self, subject_id: &SubjectId) -> Result<Option<String>, StoreError> {
        let subject_id = subject_id.clone();
        let find = move |connection: &Connection| {
            let sql = "SELECT phc FROM owner_secrets WHERE subject_id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row([subject_id.as_str()], |row| row.get(0)).optional()?)
        };
        self.read(find).await
    }

    async fn set_passphrase(&self, subject_id: &SubjectId, phc: &str) -> Result<(), StoreError> {
        let (subject_id, phc) = (subject_id.clone(), phc.to_owned());
        let set = move |connection: &Connection| {
            let sql = "INSERT INTO owner_secrets (subject_id, phc) VALUES (?1, ?2)
                       ON CONFLICT (subject_id) DO UPDATE SET phc = excluded.phc";
            connection.prepare_cached(sql)?.execute([subject_id.as_str(), &phc])?;
            Ok(())
        };
        self.write(set).await
    }
}

impl SqliteStore {
    /// When each grant was last read under, which only the ledger knows.
    async fn add_last_uses(
        &self,
        subject_id: &SubjectId,
        grants: &mut [StoredGrant],
    ) -> Result<(), StoreError> {
        if grants.is_empty() {
            return Ok(());
        }
        let ids = grants.iter().map(|grant| grant.grant_id.clone()).collect();
        let mut uses: BTreeMap<GrantId, Instant> = self.last_served(subject_id, ids).await?;
        for grant in grants {
            grant.last_used_at = uses.remove(&grant.grant_id);
        }
        Ok(())
    }
}

const SELECT_GRANT: &str = "SELECT grant_id, document, revoked_at, consumed FROM grants";

fn stored_grant(row: &Row<'_>) -> Outcome<StoredGrant> {
    Ok(StoredGrant {
        grant_id: GrantId::parse(row.get::<_, String>(0)?).map_err(|_| Fault::damaged("a grant's id"))?,
        standing: standing(row, 1)?,
        consumed: row.get(3)?,
        last_used_at: None,
    })
}

/// Document and revocation, from this column on.
pub(crate) fn standing(row: &Row<'_>, first: usize) -> Outcome<GrantStanding> {
    Ok(GrantStanding { document: row.get(first)?, revoked_at: instant(row, first + 1)? })
}

pub(crate) fn instant(row: &Row<'_>, column: usize) -> Outcome<Option<Instant>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Instant::from_micros))
}

fn find_grant(
    connection: &Connection,
    subject_id: &SubjectId,
    grant_id: &GrantId,
) -> Outcome<Option<StoredGrant>> {
    let sql = format!("{SELECT_GRANT} WHERE subject_id = ?1 AND grant_id = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([subject_id.as_str(), grant_id.as_str()])?;
    rows.next()?.map(stored_grant).transpose()
}

pub(crate) fn insert_grant(connection: &Connection, grant: &Grant) -> Outcome<()> {
    let document = serde_json::to_string(grant).map_err(|error| StoreError::Backend(error.into()))?;
    let mode = match grant.access_mode {
        AccessMode::SingleUse => "single_use",
        AccessMode::Continuous => "continuous",
    };
    let issued_at = Instant::parse(&grant.issued_at).map_or(0, Instant::micros);
    let sql = "INSERT INTO grants (subject_id, grant_id, document, access_mode, issued_at)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let (subject_id, grant_id) = (grant.subject.id.as_str(), grant.grant_id.as_str());
    connection.prepare_cached(sql)?.execute(params![subject_id, grant_id, document, mode, issued_at])?;
    Ok(())
}

pub(crate) fn grant_ids(token: &NewToken) -> &[GrantId] {
    match &token.kind {
        TokenKind::Owner => &[],
        TokenKind::Client { grant_ids, .. } => grant_ids,
    }
}

/// Whether every grant of the token may give one. The write transaction keeps the answer true.
pub(crate) fn may_issue(connection: &Connection, token: &NewToken) -> Outcome<IssueOutcome> {
    let sql = "SELECT access_mode = 'single_use' AND consumed FROM grants
               WHERE subject_id = ?1 AND grant_id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for grant_id in grant_ids(token) {
        let spent = statement.query_row([token.subject_id.as_str(), grant_id.as_str()], |row| row.get(0));
        match spent.optional()? {
            None => return Ok(IssueOutcome::UnknownGrant),
            Some(true) => return Ok(IssueOutcome::Consumed),
            Some(false) => {}
        }
    }
    Ok(IssueOutcome::Issued)
}

pub(crate) fn consume(connection: &Connection, token: &NewToken) -> Outcome<()> {
    let sql = "UPDATE grants SET consumed = 1
               WHERE subject_id = ?1 AND grant_id = ?2 AND access_mode = 'single_use'";
    let mut statement = connection.prepare_cached(sql)?;
    for grant_id in grant_ids(token) {
        statement.execute([token.subject_id.as_str(), grant_id.as_str()])?;
    }
    Ok(())
}

pub(crate) fn insert_token(connection: &Connection, token: &NewToken) -> Outcome<()> {
    let (kind, client_id) = match &token.kind {
        TokenKind::Owner => ("owner", None),
        TokenKind::Client { client_id, .. } => ("client", Some(client_id.as_str())),
    };
    let sql = "INSERT INTO tokens (hash, token_id, subject_id, kind, client_id, issued_at, expires_at, resource, family_id)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        token.hash.as_bytes(),
        token.token_id.as_str(),
        token.subject_id.as_str(),
        kind,
        client_id,
        token.issued_at.micros(),
        token.expires_at.map(Instant::micros),
        token.resource,
        token.family_id.as_ref().map(FamilyId::as_str),
    ])?;
    let sql = "INSERT INTO token_grants (hash, position, subject_id, grant_id) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    for (position, grant_id) in (0_i64..).zip(grant_ids(token)) {
        let subject_id = token.subject_id.as_str();
        statement.execute(params![token.hash.as_bytes(), position, subject_id, grant_id.as_str()])?;
    }
    Ok(())
}

/// A token with its grants, in one statement: this is asked with every request.
fn find_token(connection: &Connection, hash: &SecretHash) -> Outcome<Option<StoredToken>> {
    let sql = "SELECT t.token_id, t.subject_id, t.expires_at, t.revoked_at, t.kind, t.client_id, t.issued_at,
                      t.resource, t.family_id, g.grant_id, g.document, g.revoked_at
               FROM tokens t LEFT JOIN token_grants n ON n.hash = t.hash
               LEFT JOIN grants g ON g.subject_id = n.subject_id AND g.grant_id = n.grant_id
               WHERE t.hash = ?1 ORDER BY n.position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([hash.as_bytes()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let damaged = |_| Fault::damaged("a token's ids");
    // What is neither plainly the owner's nor plainly a client's opens nothing.
    let kind = match (row.get_ref(4)?.as_str(), row.get::<_, Option<String>>(5)?) {
        (Ok("owner"), None) => TokenKind::Owner,
        (Ok("client"), Some(id)) => {
            TokenKind::Client { client_id: ClientId::parse(id).map_err(damaged)?, grant_ids: Vec::new() }
        }
        _ => return Err(Fault::damaged("a token's kind")),
    };
    let mut token = StoredToken {
        token_id: TokenId::parse(row.get::<_, String>(0)?).map_err(damaged)?,
        subject_id: SubjectId::parse(row.get::<_, String>(1)?).map_err(damaged)?,
        kind,
        expires_at: instant(row, 2)?,
        revoked_at: instant(row, 3)?,
        issued_at: Instant::from_micros(row.get(6)?),
        resource: row.get(7)?,
        family_id: row.get::<_, Option<String>>(8)?.map(FamilyId::parse).transpose().map_err(damaged)?,
        grants: Vec::new(),
    };
    let mut row = Some(row);
    while let Some(found) = row {
        if let Some(id) = found.get::<_, Option<String>>(9)? {
            let id = GrantId::parse(id).map_err(|_| Fault::damaged("a grant's id"))?;
            token.grants.push(standing(found, 10)?);
            if let TokenKind::Client { grant_ids, .. } = &mut token.kind {
                grant_ids.push(id);
            }
        }
        row = rows.next()?;
    }
    Ok(Some(token))
}
