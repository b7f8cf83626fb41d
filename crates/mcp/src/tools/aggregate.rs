//! `aggregate`: counts and sums, without record bodies.

mod groups;
mod next;

use std::fmt::Write as _;

use pdpp_client::Request;
use serde_json::{Map, Value};

use groups::Groups;
use next::next;

use super::query_records::FILTER_HELP;
use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::bounded;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};
use crate::shown::Shown;
use crate::text::{flag, quoted};
use crate::tokens::{self, estimate, estimate_json};

/// What the text may cost; the rest is headroom.
const TEXT: usize = tokens::CONTENT - 50;
/// Kept for what stands after the groups.
const TAIL: usize = 500;
/// What stands in the result beside the text and the data.
const BESIDE: usize = 150;
/// Lengths to which the strings of the data are cut, one after the other, until it fits.
const CAPS: [usize; 3] = [64, 32, 16];

pub(crate) const SPEC: Spec = Spec {
    name: "aggregate",
    title: "Aggregate PDPP records",
    description: "Read-only. GET /v1/streams/{stream}/aggregate: numbers, never record bodies (those: \
        query_records). group_by XOR group_by_time. other_count: records beyond the top groups shown. All metrics \
        but count need field. Fields, connection_id, connector_key: GET /v1/schema.",
    params: &[
        Param::required("stream", Kind::Name, ""),
        Param::required("metric", Kind::Choice(&["count", "sum", "min", "max", "count_distinct"]), ""),
        Param::optional("field", Kind::Text, ""),
        Param::optional("group_by", Kind::Text, ""),
        Param::optional("group_by_time", Kind::Text, ""),
        Param::optional(
            "granularity",
            Kind::Choice(&["minute", "hour", "day", "week", "month", "quarter", "year"]),
            "",
        ),
        Param::optional("time_zone", Kind::Text, "IANA; default UTC"),
        Param::optional("limit", Kind::Integer { min: 1, max: Some(100) }, ""),
        Param::optional("filter", Kind::Filter, FILTER_HELP),
        Param::optional("connection_id", Kind::Name, ""),
    ],
    output: &["data", "provider_url", "request_id"],
    effect: Effect::Reads,
    in_read_set: true,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let request = Request::get(["v1", "streams", arguments.needed("stream"), "aggregate"]);
    let names = ["metric", "field", "group_by", "group_by_time", "granularity", "time_zone"];
    let request = names.iter().fold(request, |request, name| request.maybe(name, arguments.text(name)));
    let request = request.maybe("limit", arguments.integer("limit").map(|limit| limit.to_string()));
    let request = crate::filter::filtered(request, arguments.object("filter"))
        .maybe("connection_id", arguments.text("connection_id"));
    let reply = adapter.json(&request).await?;

    let mut data = Shown::of(reply.body);
    let text = text(&adapter, &arguments, &data.value).await;
    let mut structured = Map::new();
    // Keys of groups are record values, and some servers group by long texts.
    let room = tokens::RESULT.saturating_sub(estimate_json(&text.as_str().into()) + BESIDE);
    for cap in CAPS {
        if estimate_json(&data.value) <= room {
            break;
        }
        let cuts = bounded::cut_strings(&mut data.value, cap, None);
        structured.insert("truncated_keys".to_owned(), cuts.len().into());
    }
    data.report(&mut structured);
    structured.insert("data".to_owned(), data.value);
    structured.insert("provider_url".to_owned(), adapter.provider_url().into());
    structured.insert("request_id".to_owned(), reply.request_id.into());
    Ok(Outcome::new(text, structured.into()))
}

/// The answer on one line.
async fn text(adapter: &Adapter, arguments: &Arguments, body: &Value) -> String {
    let body = body.get("data").filter(|data| data.is_object()).unwrap_or(body);
    let said = |name: &str| {
        let answered = body.get(name).and_then(Value::as_str);
        answered.or_else(|| arguments.text(name)).map(str::to_owned)
    };
    let mut text =
        format!("{}({})", flag(arguments.needed("metric"), 20), flag(arguments.needed("stream"), 60));
    if let Some(field) = said("field") {
        // Writing to a string cannot fail, here and below.
        let _ = write!(text, " field={}", flag(&field, 40));
    }
    let Some(groups) = body.get("groups").and_then(Value::as_array) else {
        let value = body.get("value").or_else(|| body.get("filtered_record_count")).unwrap_or(&Value::Null);
        let _ = write!(text, " = {}.", scalar(value, 80));
        push_counts(&mut text, body);
        text.push_str(" For the records behind it: query_records with the same filter.");
        return text;
    };
    for name in ["group_by", "group_by_time"] {
        if let Some(by) = said(name) {
            let _ = write!(text, " {name}={}", quoted(&by, 40));
        }
    }
    if said("group_by_time").is_some() {
        let zone = body.get("effective_time_zone").and_then(Value::as_str).map(str::to_owned);
        let zone = zone.or_else(|| said("time_zone")).unwrap_or_else(|| "UTC".to_owned());
        if let Some(granularity) = said("granularity") {
            let _ = write!(text, " granularity={}", quoted(&granularity, 10));
        }
        let _ = write!(text, " time_zone={}", quoted(&zone, 40));
    }
    let shown = Groups::within(TEXT.saturating_sub(TAIL + estimate(&text)), groups);
    let _ = write!(text, ": {} group(s) [{}]", groups.len(), shown.list);
    for (name, number) in [("more_groups", groups.len() - shown.shown), ("cut_keys", shown.cut)] {
        if number > 0 {
            let _ = write!(text, " {name}={number};");
        }
    }
    push_counts(&mut text, body);
    text.push_str(&next(adapter, arguments, body, groups, &shown).await);
    text
}

fn push_counts(text: &mut String, body: &Value) {
    for name in ["other_count", "approximate"] {
        let said = body.get(name).filter(|value| value.is_number() || **value == true);
        if let Some(value) = said {
            let _ = write!(text, " {name}={value};");
        }
    }
}

fn scalar(value: &Value, max_chars: usize) -> String {
    match value {
        Value::String(text) => quoted(text, max_chars),
        Value::Array(_) | Value::Object(_) => quoted(&value.to_string(), max_chars),
        other => other.to_string(),
    }
}
