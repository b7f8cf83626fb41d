//! `GET /v1/streams/{stream}/records/{id}`: one record, projected.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, RecordPlan, RecordRequest};
use pdpp_store::RecordRow;
use pdpp_wire::{Code, Meta, Record, RecordBody};

use super::records::{EXPANSION, FIELDS};
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::rendering::{ambiguous, children_shown, part, payload_bytes, record};
use crate::route::{AnswerDoc, Route, handler, schema_of};
use crate::selector::{RECORD, SELECTORS, STREAM, Selected, expansion, expansion_limits};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    path: "/v1/streams/{stream}/records/{id}",
    operation: "readRecord",
    action: "record",
    summary: "Read one record.",
    parameters: &[&[STREAM, RECORD, FIELDS], EXPANSION, SELECTORS],
    answers: &[AnswerDoc::json(schema_of::<RecordBody>, "The record.")],
    handler: handler!(Reader, read),
    test: "record::one_record_carries_its_handle_and_size",
    ..super::records::ROUTE
};

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let selected = Selected::read(&call)?;
    let request = RecordRequest {
        target: selected.target(&call),
        key: call.segment("id").to_owned(),
        fields: call.query.fields()?,
        expand: expansion(&call)?,
        expand_limit: expansion_limits(&call)?,
    };
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plan = Authorizer::new(&principal, &catalogue).record(&request)?;
    let row = only_row(&state, &plan).await?;
    let read = plan.read();
    let shown =
        Shown::of_plan(read).only_connection(part(read, row.part)?.connection_id()).records([plan.key()]);
    let children = children_shown(plan.expand(), std::slice::from_ref(&row));
    let body = body(&call, &plan, record(read, plan.expand(), row)?, Meta::with_warnings(selected.warnings));
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, shown).also(children))
}

/// The one visible record a plan names: none is `not_found`, several are ambiguous.
pub(crate) async fn only_row(state: &ApiState, plan: &RecordPlan) -> Result<RecordRow, ApiError> {
    let mut rows = state.store.find_record(plan).await?;
    match rows.len() {
        0 => Err(ApiError::new(Code::NotFound, "No such record is visible.")),
        1 => Ok(rows.swap_remove(0)),
        _ => Err(ambiguous(plan.read(), &rows, plan.key().as_str())?),
    }
}

fn body(call: &Call, plan: &RecordPlan, record: Record, meta: Meta) -> RecordBody {
    RecordBody {
        connector_key: plan.read().source().manifest.source().id.clone(),
        object: record.object,
        id: record.id,
        stream: record.stream,
        record_json_bytes: Some(payload_bytes(&record.data)),
        data: record.data,
        emitted_at: record.emitted_at,
        connection_id: record.connection_id,
        connector_instance_id: record.connector_instance_id,
        display_name: record.display_name,
        result_id: record.result_id,
        expanded: record.expanded,
        links: call.links(),
        meta,
    }
}
