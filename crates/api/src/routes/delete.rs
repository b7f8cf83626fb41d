//! `DELETE` of one record, which leaves a tombstone, and of a whole stream, which leaves nothing.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use pdpp_store::{AdmittedRecord, Operation, WriteTarget};
use pdpp_wire::RecordKey;

use crate::authority::Owner;
use crate::call::Call;
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler};
use crate::selector::{RECORD, STREAM};
use crate::write_target::{WRITE_ERRORS, WRITE_SELECTORS, chosen, declared, named_source};
use crate::{ApiError, ApiState};

pub(crate) const ONE_RECORD: Route = Route {
    method: Verb::Delete,
    path: "/v1/streams/{stream}/records/{id}",
    operation: "deleteRecord",
    action: "delete_record",
    summary: "Delete one record; the changes feed says so.",
    parameters: &[&[STREAM, RECORD], WRITE_SELECTORS],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::None,
    answers: &[AnswerDoc::empty(204, "The record is gone, or was never there.")],
    errors: &[WRITE_ERRORS],
    handler: handler!(Owner, one_record),
    pace: Pace::Upload,
    test: "delete::a_deleted_record_leaves_a_tombstone",
};

pub(crate) const STREAM_RECORDS: Route = Route {
    path: "/v1/streams/{stream}/records",
    operation: "deleteStreamRecords",
    action: "delete_stream",
    summary: "Delete every record of a stream and its history, for good.",
    parameters: &[&[STREAM], WRITE_SELECTORS],
    answers: &[AnswerDoc::empty(204, "The stream is empty.")],
    handler: handler!(Owner, stream_records),
    test: "delete::a_purged_stream_expires_old_tokens",
    ..ONE_RECORD
};

async fn one_record(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    let target = target(&state, &owner, &call).await?;
    // A text that cannot be a key names a record that was never there.
    if let (Some(target), Ok(key)) = (target, RecordKey::parse(call.segment("id"))) {
        let delete = AdmittedRecord { key, emitted_at: state.clock.now(), operation: Operation::Delete };
        let applied = state.store.apply(&target, vec![delete]).await?;
        if let Some(code) = applied.first().and_then(|applied| applied.refusal()) {
            return Err(ApiError::new(code, "The connection does not take deletions any more."));
        }
    }
    Ok(no_content())
}

async fn stream_records(state: Arc<ApiState>, owner: Owner, call: Call) -> Result<Response, ApiError> {
    if let Some(target) = target(&state, &owner, &call).await? {
        state.store.purge_stream(&target).await?;
    }
    Ok(no_content())
}

/// Where to delete; `None` when the connector has no connection, and so no records.
async fn target(state: &ApiState, owner: &Owner, call: &Call) -> Result<Option<WriteTarget>, ApiError> {
    let catalogue = state.store.catalogue(owner.subject_id()).await?;
    let source = named_source(call, &catalogue)?;
    let declaration = declared(source, call.segment("stream"))?;
    Ok(chosen(call, &catalogue, source)?.map(|connection| WriteTarget {
        subject_id: owner.subject_id().clone(),
        connection_id: connection.connection_id.clone(),
        stream: declaration.name().clone(),
    }))
}

fn no_content() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
