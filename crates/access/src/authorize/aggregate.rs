//! Aggregates: numbers about records, on declared and granted fields only.

use jiff::tz::TimeZone;
use pdpp_wire::manifest::Aggregations;

use super::Authorizer;
use crate::filter::{check_field, parse_filter};
use crate::{AggregatePlan, AggregateRequest, Denial, Granularity, Grouping, Metric, ReadPlan};

const DEFAULT_GROUPS: u32 = 10;
const MAX_GROUPS: u32 = 100;

impl Authorizer<'_> {
    /// Authorizes an aggregate.
    pub fn aggregate(&self, request: &AggregateRequest) -> Result<AggregatePlan, Denial> {
        let read = self.scope(&request.target)?;
        let metric = metric(&read, request)?;
        let grouping = grouping(&read, request, &metric)?;
        let limit = limit(request, &grouping)?;
        let filter = parse_filter(&read, &request.filter)?;
        Ok(AggregatePlan { read, filter, metric, grouping, limit })
    }
}

fn metric(read: &ReadPlan, request: &AggregateRequest) -> Result<Metric, Denial> {
    let declared = read.declaration().aggregations();
    let Some(name) = request.metric.as_deref() else {
        return Err(Denial::invalid("metric", "Give `metric`: count, sum, min, max or count_distinct."));
    };
    if name == "count" {
        if request.field.is_some() {
            return Err(Denial::invalid("field", "`count` takes no `field`."));
        }
        let undeclared = || undeclared(read, "metric", "count", None);
        return declared.count.then_some(Metric::Count).ok_or_else(undeclared);
    }
    let (names, make): (&[String], fn(String) -> Metric) = match name {
        "sum" => (&declared.sum, Metric::Sum),
        "min" => (&declared.min, Metric::Min),
        "max" => (&declared.max, Metric::Max),
        "count_distinct" => (&declared.count_distinct, Metric::CountDistinct),
        _ => {
            return Err(Denial::invalid(
                "metric",
                "`metric` must be count, sum, min, max or count_distinct.",
            ));
        }
    };
    let Some(field) = &request.field else {
        return Err(Denial::invalid("field", format!("`{name}` needs a `field`.")));
    };
    check_field(read, field, "field")?;
    if !names.contains(field) {
        return Err(undeclared(read, "field", name, Some(field)));
    }
    Ok(make(field.clone()))
}

fn grouping(read: &ReadPlan, request: &AggregateRequest, metric: &Metric) -> Result<Grouping, Denial> {
    let Aggregations { group_by, group_by_time, .. } = read.declaration().aggregations();
    let grouped = match (&request.group_by, &request.group_by_time) {
        (Some(_), Some(_)) => {
            return Err(Denial::invalid("group_by_time", "Give `group_by` or `group_by_time`, not both."));
        }
        (Some(field), None) => {
            check_grouped(read, metric, "group_by", field, group_by)?;
            Grouping::By(field.clone())
        }
        (None, Some(field)) => {
            check_grouped(read, metric, "group_by_time", field, group_by_time)?;
            let Some(granularity) = request.granularity.as_deref() else {
                return Err(Denial::invalid("granularity", "`group_by_time` needs `granularity`."));
            };
            let zone_name = request.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
            return Ok(Grouping::ByTime {
                field: field.clone(),
                granularity: parse_granularity(granularity)?,
                zone: zone(&zone_name)?,
                zone_name,
            });
        }
        (None, None) => Grouping::None,
    };
    for (given, param) in [(&request.granularity, "granularity"), (&request.time_zone, "time_zone")] {
        if given.is_some() {
            return Err(Denial::invalid(param, format!("`{param}` goes with `group_by_time` only.")));
        }
    }
    Ok(grouped)
}

fn check_grouped(
    read: &ReadPlan,
    metric: &Metric,
    param: &str,
    field: &str,
    declared: &[String],
) -> Result<(), Denial> {
    if *metric != Metric::Count {
        return Err(Denial::invalid(param, format!("`{param}` goes with `metric=count` only.")));
    }
    check_field(read, field, param)?;
    if declared.iter().any(|name| name == field) {
        return Ok(());
    }
    Err(undeclared(read, param, param, Some(field)))
}

fn limit(request: &AggregateRequest, grouping: &Grouping) -> Result<u32, Denial> {
    let grouped = !matches!(grouping, Grouping::None);
    match &request.limit {
        None => Ok(DEFAULT_GROUPS),
        Some(_) if !grouped => Err(Denial::invalid("limit", "`limit` goes with a grouping only.")),
        Some(text) => match text.parse() {
            Ok(limit) if (1..=MAX_GROUPS).contains(&limit) => Ok(limit),
            _ => Err(Denial::invalid("limit", format!("`limit` must be 1 to {MAX_GROUPS}."))),
        },
    }
}

fn parse_granularity(text: &str) -> Result<Granularity, Denial> {
    Ok(match text {
        "minute" => Granularity::Minute,
        "hour" => Granularity::Hour,
        "day" => Granularity::Day,
        "week" => Granularity::Week,
        "month" => Granularity::Month,
        "quarter" => Granularity::Quarter,
        "year" => Granularity::Year,
        _ => {
            let message = "`granularity` must be minute, hour, day, week, month, quarter or year.";
            return Err(Denial::invalid("granularity", message));
        }
    })
}

fn zone(name: &str) -> Result<TimeZone, Denial> {
    let plausible =
        name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b));
    let found = if plausible { TimeZone::get(name).ok() } else { None };
    found.ok_or_else(|| {
        Denial::invalid("time_zone", "`time_zone` must be an IANA name such as Europe/Berlin.")
    })
}

fn undeclared(read: &ReadPlan, param: &str, what: &str, field: Option<&str>) -> Denial {
    let of = field.map(|field| format!(" of '{field}'")).unwrap_or_default();
    let message = format!(
        "Stream '{}' does not declare {what}{of}; check `query.aggregations` in /v1/schema.",
        read.stream()
    );
    Denial::invalid(param, message)
}
