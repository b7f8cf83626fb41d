//! `GET /v1/connectors`: the visible sources in brief, with the addresses of their streams.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, ReadPlan, StreamsRequest};
use pdpp_store::Summary;
use pdpp_wire::{
    ConnectorItem, ConnectorList, ConnectorObject, ConnectorStream, ConnectorStreamCapabilities, Instant,
    ListObject, StreamObject,
};

use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::freshness::{freshness, last_updated};
use crate::route::{AnswerDoc, Route, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    path: "/v1/connectors",
    operation: "listConnectors",
    action: "connectors",
    summary: "List the visible sources in brief, with the addresses of their streams.",
    parameters: &[],
    answers: &[AnswerDoc::json(schema_of::<ConnectorList>, "The sources.")],
    errors: &[],
    handler: handler!(Reader, list),
    test: "streams::connectors_list_their_streams_and_addresses",
    ..super::streams::ROUTE
};

async fn list(state: Arc<ApiState>, Reader(principal): Reader, _call: Call) -> Result<Disclosed, ApiError> {
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plans =
        Authorizer::new(&principal, &catalogue).streams(&StreamsRequest::default()).unwrap_or_default();
    let now = state.clock.now();
    let mut data: Vec<ConnectorItem> = Vec::new();
    for plan in &plans {
        let summaries = state.store.summarize(plan).await?;
        add(&mut data, plan, stream(plan, &summaries, now));
    }
    let body = ConnectorList { object: ListObject::Value, data };
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, Shown::description()))
}

fn add(items: &mut Vec<ConnectorItem>, plan: &ReadPlan, stream: ConnectorStream) {
    let manifest = &plan.source().manifest;
    let index = items.iter().position(|item| &item.connector_key == manifest.key()).unwrap_or_else(|| {
        items.push(ConnectorItem {
            object: ConnectorObject::Value,
            source: manifest.source().clone(),
            connector_key: manifest.key().clone(),
            connector_id: manifest.key().clone(),
            stream_count: 0,
            streams: Vec::new(),
        });
        items.len() - 1
    });
    items[index].stream_count += 1;
    items[index].streams.push(stream);
}

fn stream(plan: &ReadPlan, summaries: &[Summary], now: Instant) -> ConnectorStream {
    let latest = last_updated(summaries);
    ConnectorStream {
        object: StreamObject::Value,
        name: plan.stream().clone(),
        record_count: summaries.iter().map(|summary| summary.record_count).sum(),
        last_updated: latest.map(Instant::to_rfc3339),
        freshness: freshness(&plan.source().manifest, latest, now),
        capabilities: capabilities(plan),
    }
}

fn capabilities(plan: &ReadPlan) -> ConnectorStreamCapabilities {
    let declaration = plan.declaration();
    let sums = declaration.aggregations();
    let lists = [&sums.sum, &sums.min, &sums.max, &sums.group_by, &sums.group_by_time, &sums.count_distinct];
    let aggregate = sums.count || lists.iter().any(|fields| !fields.is_empty());
    let base = format!("/v1/streams/{}", pdpp_evidence::percent_encode_segment(plan.stream().as_str()));
    let query = format!("?connector_id={}", plan.source().key());
    ConnectorStreamCapabilities {
        records: true,
        stream_metadata: true,
        changes_since: true,
        exact_filters: true,
        range_filters: !declaration.range_filters().is_empty(),
        expand: !declaration.expand().is_empty(),
        aggregate,
        records_url: format!("{base}/records{query}"),
        metadata_url: format!("{base}{query}"),
        aggregate_url: aggregate.then(|| format!("{base}/aggregate{query}")),
    }
}
