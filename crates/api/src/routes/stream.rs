//! `GET /v1/streams/{stream}`: what a stream declares and what this token may ask of it.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::Authorizer;
use pdpp_wire::{Code, Meta, StreamMetadata};

use crate::authority::Reader;
use crate::call::{Call, json};
use crate::describe::describe;
use crate::disclosure::{Disclosed, Shown};
use crate::freshness::{freshness, last_updated};
use crate::route::{AnswerDoc, Route, handler, schema_of};
use crate::selector::{SELECTORS, STREAM, Selected};
use crate::{ApiError, ApiState};

/// What choosing a stream and connection can be refused with.
pub(crate) const SELECTION_ERRORS: &[Code] = &[
    Code::InvalidArgument,
    Code::ConnectorInstanceInactive,
    Code::ConnectorInstanceConnectorMismatch,
    Code::GrantStreamNotAllowed,
    Code::NotFound,
    Code::ConnectionNotFound,
    Code::ConnectorInstanceNotFound,
    Code::StreamNotDeclared,
    Code::AmbiguousConnection,
];

pub(crate) const ROUTE: Route = Route {
    path: "/v1/streams/{stream}",
    operation: "readStream",
    action: "stream",
    summary: "Describe one stream: schema, query abilities, and what this token may use.",
    parameters: &[&[STREAM], SELECTORS],
    answers: &[AnswerDoc::json(schema_of::<StreamMetadata>, "The stream.")],
    errors: &[SELECTION_ERRORS],
    handler: handler!(Reader, read),
    test: "streams::a_stream_is_described_whole_with_flags_for_this_token",
    ..super::streams::ROUTE
};

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let selected = Selected::read(&call)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let authorizer = Authorizer::new(&principal, &catalogue);
    let plan = authorizer.stream(&selected.target(&call))?;
    let summaries = state.store.summarize(&plan).await?;
    let fresh = freshness(&plan.source().manifest, last_updated(&summaries), state.clock.now());
    let body = StreamMetadata {
        document: describe(authorizer, &plan, fresh, &state.search),
        links: call.links(),
        meta: Meta::with_warnings(selected.warnings),
    };
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, Shown::of_plan(&plan).fields([])))
}
