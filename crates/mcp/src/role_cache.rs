//! The display roles of streams, kept for a minute.
//!
//! Roles shape how a fetched record is presented and nothing else, so unlike the expand gate they need not be
//! live. A cache belongs to one bearer: what a grant shows of a stream is its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pdpp_evidence::Roles;

use crate::Adapter;
use crate::stream_rows::{rows_of, schema_of};

const LIFE: Duration = Duration::from_mins(1);
const ENTRIES: usize = 32;

#[derive(Clone, Debug)]
struct Kept {
    stream: String,
    connection_id: Option<String>,
    since: Instant,
    roles: Roles,
}

/// Roles by stream and connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoleCache(Arc<Mutex<Vec<Kept>>>);

impl RoleCache {
    /// The declared roles of a stream's fields; none when the schema cannot be had.
    pub(crate) async fn of(&self, adapter: &Adapter, stream: &str, connection_id: Option<&str>) -> Roles {
        if let Some(roles) = self.kept(stream, connection_id) {
            return roles;
        }
        let Ok(schema) = schema_of(adapter, stream, connection_id).await else { return Roles::default() };
        let capabilities =
            rows_of(&schema, stream).into_iter().find_map(|row| row.get("field_capabilities")?.as_object());
        let roles = capabilities.map(Roles::from_field_capabilities).unwrap_or_default();
        self.keep(stream, connection_id, &roles);
        roles
    }

    fn kept(&self, stream: &str, connection_id: Option<&str>) -> Option<Roles> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| entry.since.elapsed() < LIFE);
        let found = kept
            .iter()
            .find(|entry| entry.stream == stream && entry.connection_id.as_deref() == connection_id);
        found.map(|entry| entry.roles.clone())
    }

    fn keep(&self, stream: &str, connection_id: Option<&str>, roles: &Roles) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == ENTRIES {
            kept.remove(0);
        }
        kept.push(Kept {
            stream: stream.to_owned(),
            connection_id: connection_id.map(str::to_owned),
            since: Instant::now(),
            roles: roles.clone(),
        });
    }
}
