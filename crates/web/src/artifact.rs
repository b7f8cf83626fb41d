//! What the authorization server says a request would grant, read back into types.
//!
//! Only what pages show is read; the digest over the whole binds the rest.

use pdpp_store::StoreError;
use pdpp_wire::{AccessMode, ConnectionId, Instant, Retention, TimeConstraint};
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Artifact {
    pub(crate) decide_until: String,
    pub(crate) grants: String,
    pub(crate) client: Asker,
    pub(crate) delivery: Delivery,
    pub(crate) sources: Vec<AskedSource>,
    pub(crate) picker: Option<Picker>,
    pub(crate) event_callbacks: Vec<EventCallback>,
}

/// A host to which events may be sent once this is approved, or not yet.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EventCallback {
    pub(crate) host: String,
    pub(crate) allowed: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Asker {
    pub(crate) client_id: String,
    pub(crate) claimed_name: Option<String>,
    pub(crate) registration: String,
    pub(crate) verified_origin: Option<String>,
    pub(crate) first_seen: Option<String>,
    pub(crate) local_only: bool,
    pub(crate) client_uri: Option<String>,
    pub(crate) policy_uri: Option<String>,
    pub(crate) tos_uri: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) flow: String,
    pub(crate) redirect_host: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AskedSource {
    pub(crate) index: usize,
    pub(crate) source: SourceName,
    pub(crate) display_name: Option<String>,
    pub(crate) access_mode: AccessMode,
    pub(crate) purpose_code: String,
    pub(crate) purpose_description: Option<String>,
    pub(crate) retention: Option<Retention>,
    pub(crate) client_claims: Option<Claims>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) withheld_streams: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SourceName {
    pub(crate) id: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Claims {
    pub(crate) commitments: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) necessity: String,
    pub(crate) connections: Vec<Connection>,
    pub(crate) choose_connection: Option<Vec<Connection>>,
    pub(crate) fields: Vec<String>,
    pub(crate) required_fields: Vec<String>,
    pub(crate) withheld_fields: Vec<String>,
    pub(crate) selects_fields: bool,
    pub(crate) time_field: Option<String>,
    pub(crate) time_constraint: Option<TimeConstraint>,
    pub(crate) resources: Option<Vec<Value>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Connection {
    pub(crate) connection_id: ConnectionId,
    pub(crate) display_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Picker {
    pub(crate) sources: Vec<OfferedSource>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OfferedSource {
    pub(crate) source: SourceName,
    pub(crate) display_name: Option<String>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) streams: Vec<OfferedStream>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OfferedStream {
    pub(crate) name: String,
    pub(crate) fields: Vec<String>,
    pub(crate) time_field: Option<String>,
}

impl Artifact {
    pub(crate) fn read(value: &Value) -> Result<Self, StoreError> {
        let unread = |error: serde_json::Error| StoreError::Backend(Box::new(error));
        Self::deserialize(value).map_err(unread)
    }

    /// Whether it asks for the owner's own credential.
    pub(crate) fn is_owner_token(&self) -> bool {
        self.grants == "owner_token"
    }

    pub(crate) fn decide_until(&self) -> Option<Instant> {
        Instant::parse(&self.decide_until)
    }
}

impl AskedSource {
    pub(crate) fn label(&self) -> String {
        label(self.display_name.as_deref(), &self.source.id)
    }

    /// Every connection a stream of it may be read through, in order of appearance.
    pub(crate) fn connections(&self) -> Vec<&Connection> {
        let mut all: Vec<&Connection> = Vec::new();
        for connection in self.streams.iter().flat_map(Stream::offered) {
            if !all.iter().any(|known| known.connection_id == connection.connection_id) {
                all.push(connection);
            }
        }
        all
    }

    /// Whether the owner must choose between connections.
    pub(crate) fn must_choose(&self) -> bool {
        self.streams.iter().any(|stream| stream.choose_connection.is_some())
    }
}

impl Stream {
    /// The connections it is asked for, or could be read through.
    pub(crate) fn offered(&self) -> &[Connection] {
        self.choose_connection.as_deref().unwrap_or(&self.connections)
    }

    pub(crate) fn is_required(&self) -> bool {
        self.necessity == "required"
    }

    /// Why a field cannot be left out, if it cannot.
    pub(crate) fn lock(&self, field: &str) -> Option<&'static str> {
        if self.required_fields.iter().any(|name| name == field) {
            return Some("part of every record");
        }
        (!self.selects_fields).then_some("this stream comes whole")
    }
}

impl Connection {
    pub(crate) fn label(&self) -> String {
        label(self.display_name.as_deref(), self.connection_id.as_str())
    }
}

impl OfferedSource {
    pub(crate) fn label(&self) -> String {
        label(self.display_name.as_deref(), &self.source.id)
    }
}

fn label(display_name: Option<&str>, id: &str) -> String {
    crate::stranger::name(display_name.filter(|name| !name.trim().is_empty()).unwrap_or(id))
}
