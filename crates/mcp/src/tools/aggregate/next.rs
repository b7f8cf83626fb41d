//! The call that shows what a text left out: more groups, later ones, or the values themselves.
//!
//! The server pages no groups, so that only another limit or another filter gets further, and each of them only
//! where the answer says that there is more for it.

use pdpp_evidence::{flags, neutralise};
use serde_json::{Map, Value, json};

use super::groups::Groups;
use crate::Adapter;
use crate::arguments::Arguments;
use crate::record::{call_text, is_projectable};
use crate::stream_rows::{rows_of, schema_of};
use crate::tokens::estimate;

/// The most groups a server is asked for.
const MAX_LIMIT: u64 = 100;
/// A call that costs more is told in words alone.
const MAX_CALL: usize = 400;
/// What a filter by time leaves out. The server puts it last, where no limit reaches it.
const UNTIMED: &str = " Any records without a time are the last group, which no filter by time shows.";

/// How to go on, as a sentence, or nothing.
pub(super) async fn next(
    adapter: &Adapter,
    arguments: &Arguments,
    body: &Value,
    groups: &[Value],
    shown: &Groups,
) -> String {
    let others = body.get("other_count").and_then(Value::as_u64).is_some_and(|count| count > 0);
    let limit = arguments.integer("limit").or_else(|| body.get("limit")?.as_u64());
    let limit = limit.unwrap_or_else(|| u64::try_from(groups.len()).unwrap_or(MAX_LIMIT));
    let all_shown = shown.shown == groups.len();
    if others && all_shown && limit < MAX_LIMIT {
        let mut args = repeated(arguments);
        args.insert("limit".to_owned(), MAX_LIMIT.into());
        said(" To see the rest:", "aggregate", args, "with limit=100")
    } else if others || !all_shown {
        if let Some(args) = later(adapter, arguments, &groups[..shown.shown]).await {
            let untimed = if is_timed(arguments) { "" } else { UNTIMED };
            let words = format!("{untimed} To see the rest:");
            return said(&words, "aggregate", args, "with a filter from the last group on");
        }
        let coarser = arguments.text("granularity").is_some_and(|granularity| granularity != "year");
        let coarser = if coarser { "a coarser granularity or " } else { "" };
        let words =
            format!(" To see the rest: repeat with {coarser}a filter that takes fewer, or read the values:");
        said(&words, "query_records", values(arguments), "with the same filter")
    } else if shown.cut > 0 {
        said(" Whole keys:", "query_records", values(arguments), "with the same filter")
    } else {
        String::new()
    }
}

/// A call after some words; where the call is too long, the words that stand for its arguments.
fn said(words: &str, tool: &str, args: Map<String, Value>, otherwise: &str) -> String {
    let call = call_text(&json!({"tool": tool, "args": args}));
    if neutralise(&call).replaced > 0 || estimate(&call) > MAX_CALL {
        return format!("{words} {tool} {otherwise}.");
    }
    format!("{words} {call}")
}

/// The arguments of this call.
fn repeated(arguments: &Arguments) -> Map<String, Value> {
    let mut args = Map::new();
    for param in super::SPEC.params {
        let value = arguments
            .text(param.name)
            .map(Value::from)
            .or_else(|| arguments.integer(param.name).map(Value::from))
            .or_else(|| arguments.object(param.name).cloned().map(Value::from));
        args.extend(value.map(|value| (param.name.to_owned(), value)));
    }
    args
}

/// This call again, from the last time bucket that was shown: its start is told in the zone that was asked for, while a
/// filter is read in UTC, so that the next bucket alone might not be met whole.
async fn later(adapter: &Adapter, arguments: &Arguments, shown: &[Value]) -> Option<Map<String, Value>> {
    let field = arguments.text("group_by_time")?;
    let keys = || shown.iter().filter_map(|group| group.get("key")?.as_str());
    let (first, last) = (keys().next()?, keys().next_back()?);
    let fine = ["minute", "hour"].map(Some).contains(&arguments.text("granularity"));
    // Buckets come in their order, and one alone would only come again.
    if first >= last || (fine && arguments.text("time_zone").is_some_and(|zone| zone != "UTC")) {
        return None;
    }
    if !takes_start(adapter, arguments, field).await {
        return None;
    }
    let mut args = repeated(arguments);
    let filter = args.entry("filter").or_insert_with(|| json!({})).as_object_mut()?;
    let range = filter.entry(field).or_insert_with(|| json!({})).as_object_mut()?;
    range.shift_remove("gt");
    range.insert("gte".to_owned(), last.into());
    Some(args)
}

/// Whether this call filters by the time that it groups by, as far as such a filter leaves out what has none.
fn is_timed(arguments: &Arguments) -> bool {
    let filter = || arguments.object("filter")?.get(arguments.text("group_by_time")?);
    filter().is_some()
}

/// Whether a filter may say from when on: to group by a time is declared by itself. A filter that was taken says so,
/// else the schema does; what neither says is not tried, because a call that is refused leads nowhere.
async fn takes_start(adapter: &Adapter, arguments: &Arguments, field: &str) -> bool {
    let given = || arguments.object("filter")?.get(field)?.get("gte");
    if given().is_some() {
        return true;
    }
    let stream = arguments.needed("stream");
    let Ok(schema) = schema_of(adapter, stream, arguments.text("connection_id")).await else { return false };
    let declared = |row: &&Map<String, Value>| {
        row.get("field_capabilities").and_then(|fields| fields.get(field)).is_some_and(has_start)
    };
    let rows = rows_of(&schema, stream);
    // Where several sources have the stream, each is asked.
    !rows.is_empty() && rows.iter().all(declared)
}

/// Whether the flags of a field have `r` with `gte`, or without a list of operators.
fn has_start(capability: &Value) -> bool {
    let flags = capability.as_str().map_or_else(|| flags(capability), str::to_owned);
    let operators = flags.split(',').find_map(|flag| match flag.strip_prefix('r')? {
        "" => Some("gte"),
        listed => listed.strip_prefix('='),
    });
    operators.is_some_and(|operators| operators.split('|').any(|operator| operator == "gte"))
}

/// The records behind the groups, with the field that they are grouped by.
fn values(arguments: &Arguments) -> Map<String, Value> {
    let mut args = repeated(arguments);
    args.retain(|name, _| ["stream", "filter", "connection_id"].contains(&name.as_str()));
    let by = arguments.text("group_by").or_else(|| arguments.text("group_by_time"));
    args.extend(by.filter(|by| is_projectable(by)).map(|by| ("fields".to_owned(), json!([by]))));
    args
}
