//! `GET /v1/streams`: every visible stream of every visible connection, with its size and age.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, Principal, ReadPlan};
use pdpp_store::Summary;
use pdpp_wire::{Code, Instant, List, ListObject, Meta, StreamItem, StreamObject};

use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::freshness::freshness;
use crate::rendering::label;
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler, schema_of};
use crate::selector::{SELECTORS, Selected};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    method: Verb::Get,
    path: "/v1/streams",
    operation: "listStreams",
    action: "streams",
    summary: "List the streams this token can read, one entry per connection.",
    parameters: &[SELECTORS],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::None,
    answers: &[AnswerDoc::json(schema_of::<List<StreamItem>>, "The streams.")],
    errors: &[&[Code::InvalidArgument, Code::ConnectionNotFound, Code::NotFound]],
    handler: handler!(Reader, list),
    pace: Pace::Read,
    test: "streams::a_client_sees_its_granted_streams_with_their_own_counts",
};

async fn list(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let selected = Selected::read(&call)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plans = Authorizer::new(&principal, &catalogue).streams(&selected.streams())?;
    let now = state.clock.now();
    let mut data = Vec::new();
    for plan in &plans {
        let summaries = state.store.summarize(plan).await?;
        data.extend(items(&principal, plan, &summaries, now));
    }
    let body = List {
        object: ListObject::Value,
        url: None,
        data,
        has_more: false,
        next_cursor: None,
        next_changes_since: None,
        links: call.page_links(None),
        meta: Meta::with_warnings(selected.warnings),
    };
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, Shown::description()))
}

fn items(principal: &Principal, plan: &ReadPlan, summaries: &[Summary], now: Instant) -> Vec<StreamItem> {
    let manifest = &plan.source().manifest;
    let own = matches!(principal, Principal::Owner(_));
    let item = |(part, summary): (&pdpp_access::PlanPart, &Summary)| StreamItem {
        object: StreamObject::Value,
        name: plan.stream().clone(),
        record_count: summary.record_count,
        last_updated: summary.last_updated.map(Instant::to_rfc3339),
        connection_id: part.connection_id().clone(),
        connector_instance_id: part.connection_id().clone(),
        display_name: label(plan, part),
        connector_id: own.then(|| manifest.key().to_string()),
        source: own.then(|| manifest.source().clone()),
        freshness: freshness(manifest, summary.last_updated, now),
    };
    plan.parts().iter().zip(summaries).map(item).collect()
}
