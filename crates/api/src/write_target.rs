//! Which connection an owner's write goes to.

use std::sync::Arc;

use pdpp_access::{Catalogue, Connection, ConnectionStatus, Source};
use pdpp_store::Ensured;
use pdpp_wire::manifest::StreamDeclaration;
use pdpp_wire::{Code, ConnectionId, SubjectId};

use crate::call::Call;
use crate::route::{Parameter, Shape};
use crate::selector::Selected;
use crate::{ApiError, ApiState};

/// The parameters that choose where a write goes.
pub(crate) const WRITE_SELECTORS: &[Parameter] = &[
    Parameter::query("connector_id", Shape::Text, "The connector, by short key or URI.").required(),
    Parameter::query("connector_instance_id", Shape::Text, "The connection, when the connector has several."),
    Parameter::query("connection_id", Shape::Text, "Another name of `connector_instance_id`."),
];

/// What choosing where a write goes can be refused with.
pub(crate) const WRITE_ERRORS: &[Code] = &[
    Code::InvalidArgument,
    Code::ConnectorInstanceInactive,
    Code::ConnectorInstanceConnectorMismatch,
    Code::AmbiguousConnectorInstance,
    Code::NotFound,
    Code::ConnectorInstanceNotFound,
];

/// The connector a write names.
pub(crate) fn named_source<'c>(call: &Call, catalogue: &'c Catalogue) -> Result<&'c Arc<Source>, ApiError> {
    let Some(id) = call.query.text("connector_id")? else {
        return Err(ApiError::new(Code::InvalidRequest, "Give `connector_id`.").param("connector_id"));
    };
    catalogue.find_source(id).ok_or_else(|| unknown_connector(id).param("connector_id"))
}

/// No connector is registered under this name.
pub(crate) fn unknown_connector(id: &str) -> ApiError {
    ApiError::new(Code::NotFound, format!("No connector '{id}' is registered."))
}

/// The stream a write names.
pub(crate) fn declared<'s>(source: &'s Source, stream: &str) -> Result<&'s StreamDeclaration, ApiError> {
    source.manifest.find_stream(stream).ok_or_else(|| {
        ApiError::new(
            Code::NotFound,
            format!("The connector '{}' declares no stream '{stream}'.", source.key()),
        )
    })
}

/// The connection a write names, or the only one it can mean; `None` when the connector has none.
pub(crate) fn chosen<'c>(
    call: &Call,
    catalogue: &'c Catalogue,
    source: &'c Source,
) -> Result<Option<&'c Connection>, ApiError> {
    let Some(id) = Selected::read(call)?.connection_id else { return only_writable(source) };
    let refused = |code, message: String| Err(ApiError::new(code, message).param("connector_instance_id"));
    let Some((owner, connection)) = catalogue.find_connection(&id) else {
        return refused(Code::ConnectorInstanceNotFound, format!("There is no connection '{id}'."));
    };
    if owner.key() != source.key() {
        let message = format!("The connection '{id}' belongs to connector '{}'.", owner.key());
        return refused(Code::ConnectorInstanceConnectorMismatch, message);
    }
    if !connection.is_writable() {
        return refused(Code::ConnectorInstanceInactive, format!("The connection '{id}' takes no records."));
    }
    Ok(Some(connection))
}

fn only_writable(source: &Source) -> Result<Option<&Connection>, ApiError> {
    let writable: Vec<_> = source.connections.iter().filter(|connection| connection.is_writable()).collect();
    let active: Vec<_> = writable.iter().filter(|found| found.status == ConnectionStatus::Active).collect();
    match (active.as_slice(), writable.as_slice()) {
        ([one], _) => Ok(Some(one)),
        ([], [one]) => Ok(Some(one)),
        ([], []) => Ok(None),
        _ => Err(ambiguous(writable.into_iter())),
    }
}

/// The connection a write goes to; a connector's first write makes its first connection.
pub(crate) async fn writable(
    state: &ApiState,
    subject_id: &SubjectId,
    source: &Source,
    chosen: Option<&Connection>,
) -> Result<ConnectionId, ApiError> {
    if let Some(connection) = chosen {
        return Ok(connection.connection_id.clone());
    }
    match state.store.ensure_connection(subject_id, source.key(), None).await? {
        Ensured::One(connection) => Ok(connection.connection_id),
        Ensured::Several(connections) => Err(ambiguous(connections.iter())),
        Ensured::UnknownConnector => Err(unknown_connector(source.key().as_str()).param("connector_id")),
    }
}

fn ambiguous<'c>(connections: impl Iterator<Item = &'c Connection>) -> ApiError {
    let message = "This connector has several connections; add `connector_instance_id`.";
    let offered = connections.map(Connection::offered).collect();
    ApiError::new(Code::AmbiguousConnectorInstance, message)
        .choose_from(offered)
        .retry_with("connector_instance_id")
}
