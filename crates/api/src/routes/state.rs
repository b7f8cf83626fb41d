//! `GET` and `PUT /v1/state/{connector_id}`: what a connector remembers between runs.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use pdpp_access::Source;
use pdpp_store::{StateScope, SyncState};
use pdpp_wire::{
    AccessMode, Code, Grant, GrantId, Instant, JsonFault, StateUpdate, StreamState, StreamStateObject,
    parse_strict,
};
use serde_json::Value;

use crate::authority::Owner;
use crate::call::{Call, json};
use crate::route::{AnswerDoc, BodyDoc, Pace, Parameter, Route, Shape, Unknown, Verb, handler, schema_of};
use crate::write_target::{chosen, unknown_connector};
use crate::{ApiError, ApiState};

/// Largest state body.
const MAX_BYTES: usize = 1024 * 1024;
/// Deepest state body.
const MAX_DEPTH: usize = 64;

pub(crate) const READ: Route = Route {
    method: Verb::Get,
    path: "/v1/state/{connector_id}",
    operation: "readState",
    action: "state",
    summary: "Read what a connector remembers, by stream.",
    parameters: &[&[
        Parameter::path("connector_id", Shape::Text, "The connector, by short key."),
        Parameter::query("grant_id", Shape::Text, "The namespace of a continuous grant."),
        Parameter::query("connector_instance_id", Shape::Text, "One connection's state."),
        Parameter::query("connection_id", Shape::Text, "Another name of `connector_instance_id`."),
    ]],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::None,
    answers: &[AnswerDoc::json(schema_of::<StreamState>, "The state.")],
    errors: &[&[
        Code::InvalidArgument,
        Code::ConnectorInstanceInactive,
        Code::ConnectorInstanceConnectorMismatch,
        Code::NotFound,
        Code::ConnectorInstanceNotFound,
    ]],
    handler: handler!(Owner, read),
    pace: Pace::Read,
    test: "state::named_streams_are_replaced_and_others_kept",
};

pub(crate) const WRITE: Route = Route {
    method: Verb::Put,
    operation: "writeState",
    summary: "Replace what a connector remembers about the named streams; others are kept.",
    body: BodyDoc::Json(schema_of::<StateUpdate>),
    handler: handler!(Owner, write),
    ..READ
};

async fn read(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    let (scope, granted) = scope(&state, &owner, &call).await?;
    let mut kept = state.store.get_state(&scope).await?;
    if let Some(granted) = granted {
        kept.streams.retain(|stream, _| granted.contains(stream));
    }
    answer(scope, kept)
}

async fn write(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    let body = call.bytes("application/json", MAX_BYTES).await?;
    let update = update(&body)?;
    let catalogue = state.store.catalogue(owner.subject_id()).await?;
    let (scope, granted) = scope(&state, &owner, &call).await?;
    let source = catalogue.find_source(scope.connector_key.as_str());
    for stream in update.state.keys() {
        let declared = source.is_some_and(|source| source.manifest.find_stream(stream).is_some());
        let covered = granted.as_ref().is_none_or(|granted| granted.contains(stream));
        if !declared || !covered {
            return Err(
                ApiError::new(Code::NotFound, format!("There is no stream '{stream}' here.")).param("state")
            );
        }
    }
    let kept = state.store.put_state(&scope, &update.state).await?;
    answer(scope, kept)
}

fn update(body: &[u8]) -> Result<StateUpdate, ApiError> {
    let refused = |message: &str| ApiError::new(Code::InvalidRequest, message);
    let document = parse_strict(body, MAX_DEPTH).map_err(|fault| match fault {
        JsonFault::Malformed => refused("The body is not JSON with each name once."),
        JsonFault::TooDeep => {
            ApiError::new(Code::ResourceLimit, format!("The body is nested deeper than {MAX_DEPTH}."))
        }
    })?;
    serde_json::from_value::<StateUpdate>(document)
        .map_err(|_| refused("Send `{\"state\": {\"<stream>\": ...}}`."))
}

/// Whose state it is, and the streams a grant restricts it to.
async fn scope(
    state: &ApiState,
    owner: &Owner,
    call: &Call,
) -> Result<(StateScope, Option<Vec<String>>), ApiError> {
    let id = call.segment("connector_id");
    let catalogue = state.store.catalogue(owner.subject_id()).await?;
    let source = catalogue.find_source(id).ok_or_else(|| unknown_connector(id))?;
    let named = call.query.text("connector_instance_id")?.or(call.query.text("connection_id")?).is_some();
    let connection = if named { chosen(call, &catalogue, source)? } else { None };
    let grant = grant(state, owner, call, source).await?;
    let streams =
        grant.as_ref().map(|grant| grant.streams.iter().map(|stream| stream.name.to_string()).collect());
    let scope = StateScope {
        subject_id: owner.subject_id().clone(),
        connector_key: source.key().clone(),
        connection_id: connection.map(|connection| connection.connection_id.clone()),
        grant_id: grant.map(|grant| grant.grant_id),
    };
    Ok((scope, streams))
}

async fn grant(
    state: &ApiState,
    owner: &Owner,
    call: &Call,
    source: &Source,
) -> Result<Option<Grant>, ApiError> {
    let Some(id) = call.query.text("grant_id")? else { return Ok(None) };
    let unknown = || ApiError::new(Code::NotFound, format!("There is no grant '{id}'.")).param("grant_id");
    let grant_id = GrantId::parse(id).map_err(|_| unknown())?;
    let standing = state.store.find_standing(owner.subject_id(), &grant_id).await?.ok_or_else(unknown)?;
    let grant = Grant::parse(&standing.document).map_err(ApiError::internal)?;
    if grant.access_mode != AccessMode::Continuous || grant.source.id != source.manifest.source().id {
        let message = "Only a continuous grant of this connector keeps its own state.";
        return Err(ApiError::new(Code::InvalidRequest, message).param("grant_id"));
    }
    Ok(Some(grant))
}

fn answer(scope: StateScope, kept: SyncState) -> Result<Response, ApiError> {
    json(
        StatusCode::OK,
        &StreamState {
            object: StreamStateObject::Value,
            connector_id: scope.connector_key.to_string(),
            grant_id: scope.grant_id,
            state: kept.streams.into_iter().collect::<serde_json::Map<String, Value>>(),
            updated_at: kept.updated_at.map(Instant::to_rfc3339),
        },
    )
}
