//! The error envelope every REST answer above 399 carries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Code, ConnectionId, ConnectorKey, ErrorType, StreamName};

/// `{"error": {...}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEnvelope {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong, and what to do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The coarse class, decided by the status.
    #[serde(rename = "type")]
    pub error_type: ErrorType,
    /// What clients branch on.
    pub code: Code,
    /// For people: what is wrong and the next step.
    pub message: String,
    /// The parameter to blame, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// The same id as in the `Request-Id` header.
    pub request_id: String,
    /// The connections to choose from, when the request must name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_connections: Option<Vec<AvailableConnection>>,
    /// The parameter to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_with: Option<String>,
    /// Where to learn how to authenticate (401 only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_metadata: Option<String>,
    /// What an agent should do (401 only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

/// One connection a caller may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AvailableConnection {
    /// What to send as `connection_id`.
    pub connection_id: ConnectionId,
    /// The connector, when several are in play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_key: Option<ConnectorKey>,
    /// The stream, when several are in play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// The owner's own label, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}
