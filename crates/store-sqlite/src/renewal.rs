//! What a restored archive must forget: the access it once gave, and the change tokens it once handed out.

use pdpp_store::{Renewed, StoreError};
use pdpp_wire::Instant;
use rusqlite::{Connection, params};

use crate::SqliteStore;
use crate::connections::fresh_epoch;
use crate::fault::Outcome;

impl SqliteStore {
    /// Starts a new epoch in every stream, so that no change token from before is taken for one of the history that
    /// begins now. Unless they are kept, every grant, token, refresh token, session, open request and event subscription ends.
    pub async fn renew(&self, keep_grants: bool) -> Result<Renewed, StoreError> {
        let (entropy, now) = (std::sync::Arc::clone(&self.entropy), self.clock.now());
        self.write(move |connection| {
            let scopes = {
                let mut statement = connection.prepare("SELECT id FROM scopes")?;
                statement.query_map([], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?
            };
            for scope in scopes {
                let epoch = fresh_epoch(&*entropy);
                connection.execute("UPDATE scopes SET epoch = ? WHERE id = ?", params![epoch, scope])?;
            }
            if keep_grants { Ok(Renewed::default()) } else { end_access(connection, now) }
        })
        .await
    }
}

fn end_access(connection: &Connection, now: Instant) -> Outcome<Renewed> {
    let revoke = |table: &str| -> Outcome<u64> {
        let sql = format!("UPDATE {table} SET revoked_at = ? WHERE revoked_at IS NULL");
        Ok(connection.execute(&sql, [now.micros()])? as u64)
    };
    let renewed = Renewed { grants: revoke("grants")?, tokens: revoke("tokens")? };
    revoke("refresh_families")?;
    revoke("owner_sessions")?;
    // Codes that were not redeemed and requests that were not answered.
    connection.execute("DELETE FROM oauth_requests", [])?;
    // Nobody is told of changes on behalf of a grant that has ended; its receiver heard of the archive this was, not of this one.
    connection.execute("DELETE FROM event_subscriptions", [])?;
    Ok(renewed)
}
