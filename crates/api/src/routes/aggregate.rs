//! `GET /v1/streams/{stream}/aggregate`: a number, or groups of them, over the visible records.

use std::sync::Arc;

use http::StatusCode;
use pdpp_access::{AggregatePlan, AggregateRequest, Authorizer, Grouping, Metric as Planned};
use pdpp_store::Aggregate;
use pdpp_wire::{Aggregation, AggregationObject, Code, Granularity, Group, Meta, Metric};

use super::records::FILTER;
use super::stream::SELECTION_ERRORS;
use crate::authority::Reader;
use crate::call::{Call, json};
use crate::disclosure::{Disclosed, Shown};
use crate::route::{AnswerDoc, Parameter, Route, Shape, handler, schema_of};
use crate::selector::{SELECTORS, STREAM, Selected, filter_terms};
use crate::{ApiError, ApiState};

const GRANULARITIES: &[&str] = &["minute", "hour", "day", "week", "month", "quarter", "year"];

pub(crate) const ROUTE: Route = Route {
    path: "/v1/streams/{stream}/aggregate",
    operation: "aggregateRecords",
    action: "aggregate",
    summary: "Count, sum or compare records, as a whole or in groups.",
    parameters: &[
        &[
            STREAM,
            Parameter::query(
                "metric",
                Shape::Words(&["count", "sum", "min", "max", "count_distinct"]),
                "What to compute.",
            )
            .required(),
            Parameter::query("field", Shape::Text, "Over which field; not with `count`."),
            Parameter::query("group_by", Shape::Text, "Group by this field's values; only with `count`."),
            Parameter::query("group_by_time", Shape::Text, "Group by this field's time; only with `count`."),
            Parameter::query(
                "granularity",
                Shape::Words(GRANULARITIES),
                "The bucket size of `group_by_time`.",
            ),
            Parameter::query("time_zone", Shape::Text, "The IANA zone of the buckets; `UTC` without it."),
            Parameter::query("limit", Shape::Whole { min: 1, max: Some(100) }, "Most groups: 10 without it."),
            FILTER,
        ],
        SELECTORS,
    ],
    answers: &[AnswerDoc::json(schema_of::<Aggregation>, "The value or the groups.")],
    errors: &[SELECTION_ERRORS, &[Code::UnknownField, Code::FieldNotGranted]],
    handler: handler!(Reader, read),
    test: "aggregate::groups_are_counted_over_all_connections",
    ..super::records::ROUTE
};

async fn read(state: Arc<ApiState>, Reader(principal): Reader, call: Call) -> Result<Disclosed, ApiError> {
    let selected = Selected::read(&call)?;
    let request = request(&call, &selected)?;
    let catalogue = state.store.catalogue(principal.subject_id()).await?;
    let plan = Authorizer::new(&principal, &catalogue).aggregate(&request)?;
    let answer = state.store.aggregate(&plan).await?;
    let named = [&request.field, &request.group_by, &request.group_by_time];
    let shown = Shown::of_plan(plan.read())
        .fields(named.into_iter().flatten().map(String::as_str))
        .filtered_by(plan.filter().iter().map(pdpp_access::Predicate::field));
    let body = body(&call, &plan, answer, Meta::with_warnings(selected.warnings));
    Ok(Disclosed::new(json(StatusCode::OK, &body)?, shown))
}

fn request(call: &Call, selected: &Selected) -> Result<AggregateRequest, ApiError> {
    let text = |name| Ok::<_, ApiError>(call.query.text(name)?.map(str::to_owned));
    Ok(AggregateRequest {
        target: selected.target(call),
        metric: text("metric")?,
        field: text("field")?,
        group_by: text("group_by")?,
        group_by_time: text("group_by_time")?,
        granularity: text("granularity")?,
        time_zone: text("time_zone")?,
        limit: text("limit")?,
        filter: filter_terms(call)?,
    })
}

fn body(call: &Call, plan: &AggregatePlan, answer: Aggregate, meta: Meta) -> Aggregation {
    let (metric, field) = match plan.metric() {
        Planned::Count => (Metric::Count, None),
        Planned::Sum(field) => (Metric::Sum, Some(field)),
        Planned::Min(field) => (Metric::Min, Some(field)),
        Planned::Max(field) => (Metric::Max, Some(field)),
        Planned::CountDistinct(field) => (Metric::CountDistinct, Some(field)),
    };
    let mut body = Aggregation {
        object: AggregationObject::Value,
        stream: plan.read().stream().clone(),
        metric,
        field: field.cloned(),
        group_by: None,
        group_by_time: None,
        granularity: None,
        time_zone: None,
        approximate: false,
        filtered_record_count: answer.filtered_record_count,
        value: None,
        groups: None,
        limit: None,
        other_count: None,
        links: call.links(),
        meta,
    };
    match plan.grouping() {
        Grouping::None => {
            body.value = Some(answer.value.unwrap_or_default());
            return body;
        }
        Grouping::By(field) => body.group_by = Some(field.clone()),
        Grouping::ByTime { field, granularity, zone_name, .. } => {
            body.group_by_time = Some(field.clone());
            body.granularity = Some(wire_granularity(*granularity));
            body.time_zone = Some(zone_name.clone());
        }
    }
    let groups = answer.groups.unwrap_or_default().into_iter();
    body.groups = Some(groups.map(|group| Group { key: group.key, count: group.count }).collect());
    body.limit = Some(plan.limit());
    body.other_count = Some(answer.other_count);
    body
}

fn wire_granularity(granularity: pdpp_access::Granularity) -> Granularity {
    match granularity {
        pdpp_access::Granularity::Minute => Granularity::Minute,
        pdpp_access::Granularity::Hour => Granularity::Hour,
        pdpp_access::Granularity::Day => Granularity::Day,
        pdpp_access::Granularity::Week => Granularity::Week,
        pdpp_access::Granularity::Month => Granularity::Month,
        pdpp_access::Granularity::Quarter => Granularity::Quarter,
        pdpp_access::Granularity::Year => Granularity::Year,
    }
}
