//! `POST /connectors` registers a manifest; `GET /connectors/{connector_id}` reads it back.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use pdpp_access::{Authorizer, Principal, StreamsRequest};
use pdpp_store::{Admission, ManifestOutcome, OnConflict};
use pdpp_wire::manifest::{MAX_DEPTH, MAX_MANIFEST_BYTES, Manifest};
use pdpp_wire::{Code, JsonFault, RegisteredConnector, parse_strict};
use serde_json::{Map, Value};

use crate::authority::{Owner, Reader};
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{
    AnswerDoc, BodyDoc, Content, Pace, Parameter, Route, Shape, Unknown, Verb, handler, schema_of,
};
use crate::write_target::unknown_connector;
use crate::{ApiError, ApiState};

pub(crate) const REGISTER: Route = Route {
    method: Verb::Post,
    path: "/connectors",
    operation: "registerConnector",
    action: "register_connector",
    summary: "Register a connector manifest; the same one again changes nothing.",
    parameters: &[&[Parameter::query(
        "replace",
        Shape::Words(&["true", "false"]),
        "Whether a manifest with the same key and other content is replaced. Existing grants never widen.",
    )]],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::Json(schema_of::<Map<String, Value>>),
    answers: &[AnswerDoc {
        status: 201,
        description: "The manifest is registered.",
        content: Content::Json(schema_of::<RegisteredConnector>),
        headers: &[],
    }],
    errors: &[&[Code::ConnectorInvalid, Code::ManifestConflict]],
    handler: handler!(Owner, register),
    pace: Pace::Upload,
    test: "manifests::a_manifest_is_registered_once_and_replaced_only_when_asked",
};

pub(crate) const READ: Route = Route {
    method: Verb::Get,
    path: "/connectors/{connector_id}",
    operation: "readConnector",
    action: "connector",
    summary: "Read a registered manifest.",
    parameters: &[&[Parameter::path("connector_id", Shape::Text, "The connector's short key.")]],
    body: BodyDoc::None,
    answers: &[AnswerDoc::json(schema_of::<Map<String, Value>>, "The manifest as it was registered.")],
    errors: &[&[Code::NotFound]],
    handler: handler!(Reader, read),
    test: "manifests::a_client_reads_only_the_manifests_of_its_sources",
    ..REGISTER
};

async fn register(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    let replace =
        call.query.choice("replace", &[("true", OnConflict::Replace), ("false", OnConflict::Refuse)])?;
    let text = call.bytes("application/json", MAX_MANIFEST_BYTES).await?;
    let document = parse_strict(&text, MAX_DEPTH).map_err(|fault| match fault {
        JsonFault::Malformed => {
            ApiError::new(Code::InvalidRequest, "The body is not JSON with each name once.")
        }
        JsonFault::TooDeep => {
            ApiError::new(Code::ResourceLimit, format!("The manifest is nested deeper than {MAX_DEPTH}."))
        }
    })?;
    let manifest = Manifest::from_document(document)
        .map_err(|fault| ApiError::new(Code::ConnectorInvalid, fault.to_string()))?;
    Admission::check_manifest(&manifest).map_err(|fault| ApiError::new(fault.code, fault.message))?;
    let on_conflict = replace.unwrap_or(OnConflict::Refuse);
    match state.store.put_manifest(owner.subject_id(), &manifest, on_conflict).await? {
        ManifestOutcome::Added | ManifestOutcome::Unchanged | ManifestOutcome::Replaced => {}
        ManifestOutcome::Conflict => {
            let message =
                "A manifest with this key exists with other content; send it again with `replace=true`.";
            return Err(ApiError::new(Code::ManifestConflict, message));
        }
    }
    let key = manifest.key().clone();
    json(StatusCode::CREATED, &RegisteredConnector { connector_id: key.clone(), connector_key: key })
}

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let id = call.segment("connector_id");
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let found = catalogue.find_source(id).filter(|source| match &principal {
        Principal::Owner(_) => true,
        Principal::Client(_) => {
            let plans = Authorizer::new(&principal, &catalogue).streams(&StreamsRequest::default());
            plans.is_ok_and(|plans| plans.iter().any(|plan| plan.source().key() == source.key()))
        }
    });
    let source = found.ok_or_else(|| unknown_connector(id))?;
    Ok(Disclosed::new(json(StatusCode::OK, source.manifest.document())?, Shown::description()))
}
