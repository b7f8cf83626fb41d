//! One connection's share of one stream.

use pdpp_wire::{ConnectionId, ConnectorKey, StreamName, SubjectId};

use crate::fault::Outcome;
use crate::session::Session;

/// One connection's share of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) id: i64,
    pub(crate) epoch: i64,
    pub(crate) live_count: i64,
}

impl Scope {
    /// The scope of a connection's stream, if the connection exists and belongs to the connector.
    pub(crate) async fn find(
        session: &Session,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        connector_key: &ConnectorKey,
        stream: &StreamName,
    ) -> Outcome<Option<Self>> {
        let sql = "SELECT scope_id, epoch, live_count FROM scopes
                   WHERE subject_id = $1 AND connection_id = $2 AND stream = $3 AND connector_key = $4";
        let names = [subject_id.as_str(), connection_id.as_str(), stream.as_str(), connector_key.as_str()];
        let row = session.query_opt(sql, &[&names[0], &names[1], &names[2], &names[3]]).await?;
        Ok(row.map(|row| Self { id: row.get(0), epoch: row.get(1), live_count: row.get(2) }))
    }
}
