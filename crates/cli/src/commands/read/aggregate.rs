//! `pdpp read aggregate`: counts and sums, as numbers and as pictures.

use clap::Args;
use pdpp_client::Request;
use serde_json::Value;

use super::filter::FilterArgs;
use super::source::SourceArgs;
use super::{output, picture, target};
use crate::layout::{Page, cut, one_line, width_of};
use crate::screen::number;
use crate::terminal;

/// Where nobody says how wide the page is, a picture is not wider than this.
const USUAL_WIDTH: usize = 80;

/// Count, sum or compare the records of a stream
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read aggregate [OPTIONS] [URL] <STREAM>",
    after_help = "Examples:\n  pdpp read aggregate messages --group-by author\n  \
                  pdpp read aggregate messages --group-by-time sent_at --granularity week\n  \
                  pdpp read aggregate orders --metric sum --field total"
)]
pub(super) struct AggregateArgs {
    /// The stream; a URL may stand before it
    #[arg(value_name = "STREAM", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// What to work out: count, sum, min, max or `count_distinct`
    #[arg(long, value_name = "METRIC", default_value = "count")]
    metric: String,
    /// Of which field; not for count
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
    /// For each value of this field
    #[arg(long, value_name = "FIELD", conflicts_with = "group_by_time")]
    group_by: Option<String>,
    /// For each piece of time, by this field
    #[arg(long, value_name = "FIELD", requires = "granularity")]
    group_by_time: Option<String>,
    /// How long a piece is: minute, hour, day, week, month, quarter or year
    #[arg(long, value_name = "UNIT", requires = "group_by_time")]
    granularity: Option<String>,
    /// In which time zone days begin [default: UTC]
    #[arg(long, value_name = "ZONE", requires = "group_by_time")]
    time_zone: Option<String>,
    /// At most so many groups
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Only this connection
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) async fn run(args: AggregateArgs) -> anyhow::Result<()> {
    let (url, stream) = target::one(args.words, args.source.is_fixed())?;
    let source = args.source.connect(url).await?;
    let connection_id = source.connection(&stream, args.connection_id)?;
    let request = args
        .filter
        .apply(Request::get(["v1", "streams", &stream, "aggregate"]))?
        .query("metric", args.metric)
        .maybe("field", args.field)
        .maybe("group_by", args.group_by)
        .maybe("group_by_time", args.group_by_time)
        .maybe("granularity", args.granularity)
        .maybe("time_zone", args.time_zone)
        .maybe("limit", args.limit.map(|limit| limit.to_string()))
        .maybe("connection_id", connection_id);
    let answer = source.json(&request).await?;
    if output::for_programs(args.source.format(), &answer)? {
        return Ok(());
    }
    show(&answer)
}

fn show(answer: &Value) -> anyhow::Result<()> {
    let page = Page::here();
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let records = answer.get("filtered_record_count").and_then(Value::as_u64);
    let of = records.map(|count| format!(" of {} records", number(count))).unwrap_or_default();
    let metric = text("metric").unwrap_or_default();
    let what = text("field").map_or_else(|| metric.to_owned(), |field| format!("{metric}({field})"));
    let Some(groups) = answer.get("groups").and_then(Value::as_array) else {
        let value = answer.get("value").cloned().unwrap_or_default();
        let value = value.as_u64().map_or_else(|| plain(&value), number);
        page.text("", &format!("{what}: {value}{of}"))?;
        return Ok(());
    };
    let groups: Vec<(String, u64)> = groups
        .iter()
        .map(|group| {
            let key = group.get("key").map(plain).unwrap_or_default();
            (one_line(&key), group.get("count").and_then(Value::as_u64).unwrap_or_default())
        })
        .collect();
    let by = text("group_by").or_else(|| text("group_by_time")).unwrap_or_default();
    page.text("", &format!("{what} by {by}{of}"))?;
    let granularity = text("granularity");
    if let Some(values) = granularity.and_then(|unit| picture::filled(&groups, unit))
        && let (Some((first, _)), Some((last, _)), true) = (groups.first(), groups.last(), values.len() > 1)
    {
        let room = page.width().unwrap_or(USUAL_WIDTH);
        terminal::line(&picture::spark(&values, room))?;
        page.text("", &format!("{first} to {last}, each {}", granularity.unwrap_or_default()))?;
    }
    bars(page, &groups)?;
    match answer.get("other_count").and_then(Value::as_u64) {
        None | Some(0) => {}
        Some(other) => page.text(
            "",
            &format!("{} more records are in groups not shown; --limit shows more groups", number(other)),
        )?,
    }
    Ok(())
}

/// Each group on a line: its name, its number, and a bar in what room is left.
fn bars(page: Page, groups: &[(String, u64)]) -> anyhow::Result<()> {
    let room = page.width().unwrap_or(USUAL_WIDTH);
    let numbers: Vec<String> = groups.iter().map(|(_, count)| number(*count)).collect();
    let number_width = numbers.iter().map(String::len).max().unwrap_or(0);
    let longest = groups.iter().map(|(key, _)| width_of(key)).max().unwrap_or(0);
    let key_width = longest.min((room / 3).max(6)).min(room.saturating_sub(number_width + 1).max(1));
    let bar_room = room.saturating_sub(key_width + number_width + 4);
    let largest = groups.iter().map(|(_, count)| *count).max().unwrap_or(0);
    for ((key, count), number) in groups.iter().zip(&numbers) {
        let key = cut(key, key_width);
        let pad = key_width.saturating_sub(width_of(&key));
        let bar = if bar_room >= 4 { picture::bar(*count, largest, bar_room) } else { String::new() };
        let line = format!("{key}{:pad$}  {number:>number_width$}  {bar}", "");
        terminal::verbatim(line.trim_end())?;
    }
    if groups.is_empty() {
        terminal::line("(none)")?;
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
