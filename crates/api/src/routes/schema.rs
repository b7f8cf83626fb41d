//! `GET /v1/schema`: every source and stream this token can read, in full or compact.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, Principal, ReadPlan, StreamsRequest};
use pdpp_evidence::{compact, scope};
use pdpp_wire::{
    AvailableConnection, Bearer, BearerScope, Code, CompactSchema, ConnectorObject, GrantedConnection, Meta,
    SchemaBody, SchemaConnector, SchemaObject, SchemaStream, StreamDocument, TimeConstraint, TokenKind,
};
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::authority::Reader;
use crate::call::{Call, json};
use crate::describe::describe;
use crate::disclosure::{Disclosed, Shown};
use crate::freshness::{freshness, last_updated};
use crate::rendering::label;
use crate::route::{AnswerDoc, Parameter, Route, Shape, Unknown, handler};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    path: "/v1/schema",
    operation: "readSchema",
    action: "schema",
    summary: "Describe everything this token can read, in full or compact.",
    parameters: &[&[
        Parameter::query(
            "view",
            Shape::Text,
            "`compact` selects the small projection; anything else the full body.",
        ),
        Parameter::query(
            "detail",
            Shape::Text,
            "`full` asks for one stream's exhaustive detail; needs `stream`.",
        ),
        Parameter::query("stream", Shape::Text, "Keep only this stream."),
        Parameter::query("connection_id", Shape::Text, "Keep only streams readable under this connection."),
    ]],
    unknown_parameters: Unknown::Ignored,
    answers: &[AnswerDoc::json(either_schema, "The schema, full or compact.")],
    errors: &[&[Code::AmbiguousSchemaDetail]],
    handler: handler!(Reader, read),
    test: "schema::the_compact_view_flags_what_a_client_may_use",
    ..super::streams::ROUTE
};

fn either_schema(generator: &mut SchemaGenerator) -> Schema {
    let (full, compact) =
        (generator.subschema_for::<SchemaBody>(), generator.subschema_for::<CompactSchema>());
    json_schema!({ "anyOf": [full, compact] })
}

struct Request<'c> {
    compact: bool,
    full: bool,
    stream: Option<&'c str>,
    connection_id: Option<&'c str>,
}

impl<'c> Request<'c> {
    fn read(call: &'c Call) -> Result<Self, ApiError> {
        let is = |name, word| {
            Ok::<_, ApiError>(call.query.text(name)?.is_some_and(|v| v.trim().eq_ignore_ascii_case(word)))
        };
        let request = Self {
            compact: is("view", "compact")?,
            full: is("detail", "full")?,
            stream: call.query.text("stream")?,
            connection_id: call.query.text("connection_id")?,
        };
        if request.full && !request.compact && request.stream.is_none() {
            let message = "`detail=full` needs `stream`; read `view=compact` first to choose one.";
            return Err(ApiError::new(Code::InvalidRequest, message).param("detail"));
        }
        Ok(request)
    }

    /// Whether the caller asked for one stream's detail without being able to mean several.
    fn must_be_one(&self) -> bool {
        self.full && !self.compact && self.connection_id.is_none()
    }
}

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let request = Request::read(&call)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let authorizer = Authorizer::new(&principal, &catalogue);
    // Scoping filters: nothing visible is an empty schema, not an error.
    let mut plans = authorizer.streams(&StreamsRequest::default()).unwrap_or_default();
    plans.retain(|plan| request.stream.is_none_or(|name| plan.stream().as_str() == name));
    if request.must_be_one() && plans.len() > 1 {
        return Err(ambiguous(&plans));
    }
    let mut connectors: Vec<SchemaConnector> = Vec::new();
    for plan in &plans {
        // The compact view says nothing about freshness, so nothing is counted for it.
        let summaries = if request.compact { Vec::new() } else { state.store.summarize(plan).await? };
        let fresh = freshness(&plan.source().manifest, last_updated(&summaries), state.clock.now());
        let document = describe(authorizer, plan, fresh, &state.search);
        add(&mut connectors, plan, schema_stream(plan, document));
    }
    let body = SchemaBody {
        object: SchemaObject::Value,
        bearer: bearer(&principal),
        connector_count: None,
        stream_count: None,
        connectors,
        links: call.links(),
        meta: Meta::default(),
    };
    let mut body = serde_json::to_value(&body).map_err(ApiError::internal)?;
    scope(&mut body, request.stream, request.connection_id);
    let body = if request.compact { compact(&body) } else { body };
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, Shown::description()))
}

fn add(connectors: &mut Vec<SchemaConnector>, plan: &ReadPlan, stream: SchemaStream) {
    let manifest = &plan.source().manifest;
    let index = connectors.iter().position(|connector| &connector.connector_key == manifest.key());
    let index = index.unwrap_or_else(|| {
        connectors.push(SchemaConnector {
            object: ConnectorObject::Value,
            source: manifest.source().clone(),
            connector_key: manifest.key().clone(),
            connector_id: manifest.key().clone(),
            stream_count: 0,
            streams: Vec::new(),
        });
        connectors.len() - 1
    });
    connectors[index].stream_count += 1;
    connectors[index].streams.push(stream);
}

fn schema_stream(plan: &ReadPlan, document: StreamDocument) -> SchemaStream {
    let connection = |part: &pdpp_access::PlanPart| GrantedConnection {
        connection_id: part.connection_id().clone(),
        display_name: label(plan, part),
    };
    SchemaStream {
        document,
        granted_connections: plan.parts().iter().map(connection).collect(),
        time_constraint: time_constraint(plan),
    }
}

/// The grant's time limit, when all connections share one.
fn time_constraint(plan: &ReadPlan) -> Option<TimeConstraint> {
    let (first, rest) = plan.parts().split_first()?;
    let bound = first.time().filter(|bound| rest.iter().all(|part| part.time() == Some(bound)))?;
    Some(TimeConstraint {
        field: bound.field.clone(),
        since: bound.since.map(pdpp_wire::Instant::to_rfc3339),
        until: bound.until.map(pdpp_wire::Instant::to_rfc3339),
    })
}

fn bearer(principal: &Principal) -> Bearer {
    let Principal::Client(client) = principal else {
        return Bearer {
            token_kind: TokenKind::Owner,
            scope: BearerScope::Owner,
            grant_id: None,
            grant_ids: None,
            client_id: None,
            expires_at: None,
        };
    };
    let mut ids = principal.grant_ids();
    let single = if ids.len() == 1 { ids.pop() } else { None };
    let ends = client.grants().iter().filter_map(|grant| grant.document().expires_at.clone());
    Bearer {
        token_kind: TokenKind::Client,
        scope: BearerScope::Grant,
        grant_id: single,
        grant_ids: (!ids.is_empty()).then_some(ids),
        client_id: Some(client.client_id().clone()),
        expires_at: ends.min_by_key(|at| pdpp_wire::parse_instant(at)),
    }
}

fn ambiguous(plans: &[ReadPlan]) -> ApiError {
    let offered = plans.iter().flat_map(|plan| {
        plan.parts().iter().map(|part| AvailableConnection {
            connection_id: part.connection_id().clone(),
            connector_key: Some(plan.source().key().clone()),
            stream: Some(plan.stream().clone()),
            display_name: label(plan, part),
        })
    });
    let message = "Several sources declare this stream. Retry with `connection_id`.";
    ApiError::new(Code::AmbiguousSchemaDetail, message).param("connection_id").choose_from(offered.collect())
}
