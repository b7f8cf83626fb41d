//! `GET /v1/streams/{stream}/records`: a page of records, or of changes since a token.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{Authorizer, RecordsPlan, RecordsRead, RecordsRequest};
use pdpp_store::RecordsPage;
use pdpp_wire::{Code, CorpusWindow, Count, List, ListObject, Meta, RecordEntry, Warning, WarningCode};
use serde_json::json as value;

use super::changes::changes;
use super::stream::SELECTION_ERRORS;
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::rendering::{children_shown, record};
use crate::route::{AnswerDoc, Parameter, Route, Shape, handler, schema_of};
use crate::selector::{SELECTORS, STREAM, Selected, expansion, expansion_limits, filter_terms};
use crate::{ApiError, ApiState};

const DEFAULT_LIMIT: u64 = 25;
const MAX_LIMIT: u64 = 100;

pub(crate) const EXPANSION: &[Parameter] = &[
    Parameter::query("expand", Shape::Names, "Relations to attach; may repeat."),
    Parameter::query("expand_limit", Shape::Limits, "How many related records to attach, per relation."),
];

pub(crate) const FIELDS: Parameter =
    Parameter::query("fields", Shape::Names, "Top-level fields to show; comma list, repeated, or both.");

pub(crate) const FILTER: Parameter = Parameter::query(
    "filter",
    Shape::Filter,
    "`filter[field]=value` for exact values, `filter[field][gte]=value` (gt, lte, lt) for declared ranges.",
);

pub(crate) const ROUTE: Route = Route {
    path: "/v1/streams/{stream}/records",
    operation: "listRecords",
    action: "records",
    summary: "List records, newest first, or what changed since a token.",
    parameters: &[
        &[
            STREAM,
            Parameter::query(
                "limit",
                Shape::Whole { min: 1, max: None },
                "Page size: 25 without it, at most 100.",
            ),
            Parameter::query(
                "cursor",
                Shape::Text,
                "`next_cursor` of the previous page, with the same query.",
            ),
            Parameter::query("order", Shape::Words(&["asc", "desc"]), "The direction; `desc` without it."),
            Parameter::query("sort", Shape::Text, "The stream's `cursor_field`, with `-` for descending."),
            FIELDS,
            Parameter::query("view", Shape::Text, "A declared view instead of `fields`."),
            FILTER,
            Parameter::query("changes_since", Shape::Text, "`beginning`, or the last `next_changes_since`."),
            Parameter::query(
                "count",
                Shape::Words(&["none", "estimated", "exact"]),
                "Whether to count everything.",
            ),
            Parameter::query(
                "window",
                Shape::Words(&["none", "exact"]),
                "Whether to give total and time bounds.",
            ),
        ],
        EXPANSION,
        SELECTORS,
    ],
    answers: &[AnswerDoc::json(schema_of::<List<RecordEntry>>, "One page.")],
    errors: &[
        SELECTION_ERRORS,
        &[
            Code::InvalidCursor,
            Code::InvalidExpand,
            Code::InvalidSort,
            Code::UnknownField,
            Code::FieldNotGranted,
            Code::InsufficientScope,
            Code::CursorExpired,
        ],
    ],
    handler: handler!(Reader, list),
    test: "records::a_page_holds_exactly_the_granted_fields",
    ..super::stream::ROUTE
};

async fn list(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let (request, warnings) = request(&call)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let read = Authorizer::new(&principal, &catalogue).records(&request, &state.sealer)?;
    match read {
        RecordsRead::Page(plan) => page(&state, &call, &plan, warnings).await,
        RecordsRead::Changes(plan) => changes(&state, &call, &plan, warnings).await,
    }
}

fn request(call: &Call) -> Result<(RecordsRequest, Vec<Warning>), ApiError> {
    let selected = Selected::read(call)?;
    let text = |name| Ok::<_, ApiError>(call.query.text(name)?.map(str::to_owned));
    let (limit, clamped) = limit(call)?;
    let request = RecordsRequest {
        target: selected.target(call),
        limit,
        cursor: text("cursor")?,
        order: text("order")?,
        sort: text("sort")?,
        fields: call.query.fields()?,
        view: text("view")?,
        filter: filter_terms(call)?,
        expand: expansion(call)?,
        expand_limit: expansion_limits(call)?,
        changes_since: text("changes_since")?,
        count: call
            .query
            .choice("count", &[("none", false), ("estimated", true), ("exact", true)])?
            .unwrap_or(false),
        window: call.query.choice("window", &[("none", false), ("exact", true)])?.unwrap_or(false),
    };
    Ok((request, selected.warnings.into_iter().chain(clamped).collect()))
}

pub(super) fn limit(call: &Call) -> Result<(u32, Option<Warning>), ApiError> {
    let asked = call.query.positive("limit")?.unwrap_or(DEFAULT_LIMIT);
    let served = asked.min(MAX_LIMIT);
    let warning = (asked > MAX_LIMIT).then(|| Warning {
        detail: Some(value!({ "requested_limit": asked, "max_limit": MAX_LIMIT })),
        ..Warning::about(WarningCode::LimitClamped, "limit", format!("`limit` was lowered to {MAX_LIMIT}."))
    });
    // `served` is at most 100.
    Ok((u32::try_from(served).unwrap_or(100), warning))
}

async fn page(
    state: &ApiState,
    call: &Call,
    plan: &RecordsPlan,
    warnings: Vec<Warning>,
) -> Result<Disclosed, ApiError> {
    let RecordsPage { rows, next, total, window } = state.store.list_records(plan).await?;
    let read = plan.read();
    let next_cursor =
        next.map(|position| state.sealer.seal_page(state.entropy.as_ref(), plan.binding(), &position));
    let filtered = plan.filter().iter().map(pdpp_access::Predicate::field);
    let shown = Shown::of_plan(read).records(rows.iter().map(|row| &row.key)).filtered_by(filtered);
    let children = children_shown(plan.expand(), &rows);
    let mut meta = Meta::with_warnings(warnings);
    if let (true, Some(value)) = (plan.count(), total) {
        meta.count = Count::Exact { value };
    }
    if let (true, Some(total)) = (plan.window(), total) {
        meta.window = Some(CorpusWindow {
            total,
            earliest_at: window.map(|bounds| bounds.earliest.to_rfc3339()),
            latest_at: window.map(|bounds| bounds.latest.to_rfc3339()),
        });
    }
    let records = rows.into_iter().map(|row| record(read, plan.expand(), row));
    let data =
        records.map(|record| Ok(RecordEntry::Live(Box::new(record?)))).collect::<Result<_, ApiError>>()?;
    Ok(answer(call, data, next_cursor, None, meta, shown)?.also(children))
}

pub(super) fn answer(
    call: &Call,
    data: Vec<RecordEntry>,
    next_cursor: Option<String>,
    next_changes_since: Option<String>,
    meta: Meta,
    shown: Shown,
) -> Result<Disclosed, ApiError> {
    let body = List {
        object: ListObject::Value,
        url: Some(call.own_path()),
        data,
        has_more: next_cursor.is_some(),
        links: call.page_links(next_cursor.as_deref()),
        next_cursor,
        next_changes_since,
        meta,
    };
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, shown))
}
