//! `GET /v1/streams/{stream}/records/{id}/field-window`: a bounded slice of one field, exact offsets.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, WindowPlan};
use pdpp_evidence::{
    Content, FieldPath, FieldText, MAX_CONTEXT_CHARS, MAX_LIMIT_CHARS, TextKind, TextWindow, WindowRequest,
    cut, text_of,
};
use pdpp_store::{RecordRow, StoreError};
use pdpp_wire::{
    Code, FieldWindow, FieldWindowBody, FieldWindowObject, Meta, Warning, WarningCode, WindowField,
    WindowFieldType,
};
use serde_json::{Map, Value};

use super::record::only_row;
use super::stream::SELECTION_ERRORS;
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::rendering::part;
use crate::route::{AnswerDoc, Parameter, Route, Shape, Unknown, handler, schema_of};
use crate::selector::{RECORD, SELECTORS, STREAM, Selected};
use crate::{ApiError, ApiState};

pub(crate) const ROUTE: Route = Route {
    path: "/v1/streams/{stream}/records/{id}/field-window",
    operation: "readFieldWindow",
    action: "field_window",
    summary: "Read a bounded slice of one text field, at an offset or around a match.",
    parameters: &[
        &[
            STREAM,
            RECORD,
            Parameter::query("field", Shape::Text, "A top-level field, or a dotted path below one.")
                .required(),
            Parameter::query("field_path", Shape::Text, "Another name of `field`."),
            Parameter::query(
                "offset_chars",
                Shape::Whole { min: 0, max: None },
                "Where to start; excludes `q`.",
            ),
            Parameter::query(
                "limit_chars",
                Shape::Whole { min: 1, max: None },
                "How much: 4096 without it, at most 16384.",
            ),
            Parameter::query(
                "q",
                Shape::Text,
                "Open the window at the first match, ignoring case and accents.",
            ),
            Parameter::query(
                "before_chars",
                Shape::Whole { min: 0, max: Some(8192) },
                "Context before the match.",
            ),
            Parameter::query(
                "after_chars",
                Shape::Whole { min: 0, max: Some(8192) },
                "Context after the match.",
            ),
            Parameter::query("cursor", Shape::Text, "A decimal offset, equal to `offset_chars`."),
        ],
        SELECTORS,
    ],
    unknown_parameters: Unknown::Ignored,
    answers: &[AnswerDoc::json(schema_of::<FieldWindowBody>, "The window.")],
    errors: &[
        SELECTION_ERRORS,
        &[
            Code::InvalidFieldPath,
            Code::InvalidWindow,
            Code::FieldNotGranted,
            Code::FieldNotFound,
            Code::QueryNotFound,
            Code::FieldNotText,
        ],
    ],
    handler: handler!(Reader, read),
    test: "field_window::windows_join_to_the_whole_text",
    ..super::record::ROUTE
};

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let selected = Selected::read(&call)?;
    let path = field_path(&call)?;
    let (request, clamped) = window_request(&call)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plan = Authorizer::new(&principal, &catalogue).window(&pdpp_access::WindowRequest {
        target: selected.target(&call),
        key: call.segment("id").to_owned(),
        field: path.as_str().to_owned(),
    })?;
    let row = only_row(&state, plan.record()).await?;
    let (kind, window) = slice(&path, &row, &request)?;
    let connection_id = part(plan.record().read(), row.part)?.connection_id();
    let shown = Shown::of_plan(plan.record().read())
        .only_connection(connection_id)
        .fields([path.as_str()])
        .records([plan.record().key()])
        .char_range(window.start_chars as u64, window.end_chars as u64)
        .query(match &request {
            WindowRequest::Query { q, .. } => Some(q),
            WindowRequest::Offset { .. } => None,
        });
    let body = FieldWindowBody {
        object: FieldWindowObject::Value,
        stream: plan.record().read().stream().clone(),
        record_id: row.key.clone(),
        url: call.own_path(),
        connection_id: Some(connection_id.clone()),
        connector_instance_id: Some(connection_id.clone()),
        field: WindowField { path: plan_field(&plan), field_type: wire_kind(kind) },
        window: wire_window(window),
        links: call.links(),
        meta: Meta::with_warnings(selected.warnings.into_iter().chain(clamped).collect()),
    };
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, shown))
}

fn plan_field(plan: &WindowPlan) -> String {
    plan.field().to_owned()
}

fn field_path(call: &Call) -> Result<FieldPath, ApiError> {
    let refused = |message: String| ApiError::new(Code::InvalidFieldPath, message).param("field");
    let one = |name: &str| {
        call.query
            .given(name)
            .map_err(|_| refused(format!("`{name}` is given more than once or with brackets.")))
    };
    let field = match (one("field")?, one("field_path")?) {
        (Some(field), Some(path)) if field != path => {
            return Err(refused("`field` and `field_path` name different fields; send one.".to_owned()));
        }
        (field, path) => field.or(path).unwrap_or(""),
    };
    if field.is_empty() {
        return Err(refused("Give `field`: a top-level name, or a dotted path below one.".to_owned()));
    }
    FieldPath::parse(field).map_err(|error| refused(format!("`field`: {error}.")))
}

fn window_request(call: &Call) -> Result<(WindowRequest, Option<Warning>), ApiError> {
    let q = call.query.given("q")?;
    let offset = number(call, "offset_chars")?.or(number(call, "cursor")?);
    let limit = number(call, "limit_chars")?;
    let (before, after) = (number(call, "before_chars")?, number(call, "after_chars")?);
    if limit == Some(0) {
        return Err(bad_window("`limit_chars` must be at least 1.").param("limit_chars"));
    }
    if before.max(after).is_some_and(|context| context > MAX_CONTEXT_CHARS) {
        return Err(bad_window(&format!("Context may be at most {MAX_CONTEXT_CHARS} characters a side.")));
    }
    let clamped = limit.filter(|limit| *limit > MAX_LIMIT_CHARS).map(|_| {
        let message = format!("`limit_chars` was lowered to {MAX_LIMIT_CHARS}.");
        Warning::about(WarningCode::LimitClamped, "limit_chars", message)
    });
    let request = match q {
        Some("") => return Err(bad_window("`q` is empty; leave it out to read by offset.").param("q")),
        Some(_) if offset.is_some() => {
            return Err(bad_window("Give `q` or `offset_chars`, not both.").param("q"));
        }
        Some(q) => WindowRequest::Query { q: q.to_owned(), before, after, limit },
        None if before.is_some() || after.is_some() => {
            return Err(bad_window("`before_chars` and `after_chars` need `q`."));
        }
        None => WindowRequest::Offset { offset: offset.unwrap_or(0), limit },
    };
    Ok((request, clamped))
}

fn number(call: &Call, name: &str) -> Result<Option<usize>, ApiError> {
    let refused = || bad_window(&format!("`{name}` must be a whole number of at least 0.")).param(name);
    match call.query.text(name).map_err(|_| refused())? {
        None => Ok(None),
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(Some(text.parse().unwrap_or(usize::MAX)))
        }
        Some(_) => Err(refused()),
    }
}

fn bad_window(message: &str) -> ApiError {
    ApiError::new(Code::InvalidWindow, message)
}

/// Cuts the window out of the stored value. The row holds only the fields the plan shows, so the
/// path cannot lead anywhere else.
fn slice(
    path: &FieldPath,
    row: &RecordRow,
    request: &WindowRequest,
) -> Result<(TextKind, TextWindow), ApiError> {
    let data: Map<String, Value> = serde_json::from_str(row.data.get())
        .map_err(|error| StoreError::Damaged(format!("a stored record is not a JSON object: {error}")))?;
    let Some(value) = path.resolve(&data) else {
        let message = format!("The record has no value at '{}'.", path.as_str());
        return Err(ApiError::new(Code::FieldNotFound, message).param("field"));
    };
    match text_of(value) {
        FieldText::Text { text, kind } => {
            let window = cut(&text, request).map_err(|_| {
                let message = "The words of `q` do not occur in this field; read it by `offset_chars`.";
                ApiError::new(Code::QueryNotFound, message).param("q")
            })?;
            Ok((kind, window))
        }
        FieldText::NotText { json_type } => Err(not_text(&format!("a {json_type}"))),
        FieldText::Binary(content) => Err(not_text(&binary(content))),
    }
}

fn binary(content: Content) -> String {
    let (media_type, bytes, what) = match content {
        Content::Base64 { media_type, decoded_bytes } => {
            (media_type, Some(decoded_bytes as u64), "binary content")
        }
        Content::BlobRef { mime_type, size_bytes, .. } => (mime_type, size_bytes, "a reference to a blob"),
        Content::Text | Content::Json | Content::Scalar => (None, None, "binary content"),
    };
    let media_type = media_type.map(|media_type| format!(", {media_type}")).unwrap_or_default();
    let bytes = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
    format!("{what}{media_type}{bytes}")
}

fn not_text(what: &str) -> ApiError {
    ApiError::new(Code::FieldNotText, format!("The field holds {what}, not text.")).param("field")
}

fn wire_kind(kind: TextKind) -> WindowFieldType {
    match kind {
        TextKind::String => WindowFieldType::String,
        TextKind::Json => WindowFieldType::Json,
    }
}

fn wire_window(window: TextWindow) -> FieldWindow {
    let wide = |number: Option<usize>| number.map(|number| number as u64);
    FieldWindow {
        text: window.text,
        total_chars: window.total_chars as u64,
        start_chars: window.start_chars as u64,
        end_chars: window.end_chars as u64,
        limit_chars: window.limit_chars as u64,
        complete: window.complete,
        has_more: window.has_more,
        match_start_chars: wide(window.match_start_chars),
        match_end_chars: wide(window.match_end_chars),
        next_offset_chars: wide(window.next_offset_chars),
        previous_offset_chars: wide(window.previous_offset_chars),
    }
}
