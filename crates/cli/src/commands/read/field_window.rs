//! `pdpp read field-window`: one bounded piece of one field, and the commands for its neighbours.

use clap::Args;
use pdpp_client::Request;
use pdpp_evidence::{FieldTarget, FieldWindowRead, RecordHandle};
use serde_json::{Value, json};

use super::source::{Source, SourceArgs};
use super::{command, output, target};
use crate::terminal;

/// Read a bounded piece of one field
///
/// Say where with --offset-chars, or what it is about with --q. The record is named by its stream and key, or by
/// the id a search printed.
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read field-window [OPTIONS] --field <FIELD> [URL] <STREAM> <RECORD>\n       \
                      pdpp read field-window [OPTIONS] --field <FIELD> [URL] <ID>",
    after_help = "Example: pdpp read field-window messages m_0132 --field text --q 'winter storage'"
)]
pub(super) struct FieldWindowArgs {
    /// The stream and the record's key, or the record's id; a URL may stand before them
    #[arg(value_name = "RECORD", num_args = 1..=3, required = true)]
    words: Vec<String>,
    /// The field, or a dotted path below one
    #[arg(long, value_name = "FIELD")]
    field: String,
    /// The connection that holds the record
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    /// Open the window at the first match of this text
    #[arg(long, value_name = "TEXT")]
    q: Option<String>,
    /// Where to start
    #[arg(long, value_name = "COUNT", conflicts_with = "q")]
    offset_chars: Option<u64>,
    /// How much
    #[arg(long, value_name = "COUNT")]
    limit_chars: Option<u64>,
    /// How much before the match
    #[arg(long, value_name = "COUNT", requires = "q")]
    before_chars: Option<u64>,
    /// How much after the match
    #[arg(long, value_name = "COUNT", requires = "q")]
    after_chars: Option<u64>,
    /// Go on where an earlier answer ended
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["q", "offset_chars"])]
    cursor: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) async fn run(args: FieldWindowArgs) -> anyhow::Result<()> {
    let (url, record) =
        target::record(args.words, args.source.url.as_deref(), args.connection_id.as_deref())?;
    let source = args.source.connect(url)?;
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let request =
        Request::get(["v1", "streams", &record.stream, "records", &record.record_id, "field-window"])
            .query("field", &args.field)
            .maybe("connection_id", record.connection_id.as_deref())
            .maybe("q", args.q)
            .maybe("offset_chars", number(args.offset_chars))
            .maybe("limit_chars", number(args.limit_chars))
            .maybe("before_chars", number(args.before_chars))
            .maybe("after_chars", number(args.after_chars))
            .maybe("cursor", args.cursor);
    let mut answer = source.json(&request).await?;
    let record = RecordHandle {
        connection_id: answer
            .get("connection_id")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .or(record.connection_id),
        ..record
    };
    let next = neighbour(&record, &args.field, &answer, "next_offset_chars");
    let next = next.map(|read| command::field_window(&source, &read));
    if let (Some(next), Some(members)) = (&next, answer.as_object_mut()) {
        members.insert("command".to_owned(), json!(next));
    }
    if output::for_programs(args.source.format(), &answer)? {
        return Ok(());
    }
    show(&source, &record, &args.field, &answer, next.as_deref())
}

/// Where the window is and how to go on comes first: a long text would push it out of sight.
fn show(
    source: &Source,
    record: &RecordHandle,
    field: &str,
    answer: &Value,
    next: Option<&[String]>,
) -> anyhow::Result<()> {
    let window = |name: &str| answer.get("window").and_then(|window| window.get(name));
    let number = |name: &str| window(name).and_then(Value::as_u64).unwrap_or_default();
    let whole = window("complete").and_then(Value::as_bool) == Some(true);
    let status = if whole { "complete" } else { "truncated" };
    terminal::line(&format!(
        "{} {field} preview_status={status} chars={}-{} size_chars={}",
        record.id(),
        number("start_chars"),
        number("end_chars"),
        number("total_chars"),
    ))?;
    if let Some(next) = next {
        terminal::line(&format!("next: {}", command::shell(next)))?;
    }
    if let Some(read) = neighbour(record, field, answer, "previous_offset_chars") {
        terminal::line(&format!("before: {}", command::shell(&command::field_window(source, &read))))?;
    }
    terminal::line("")?;
    terminal::line(window("text").and_then(Value::as_str).unwrap_or_default())?;
    Ok(())
}

fn neighbour(record: &RecordHandle, field: &str, answer: &Value, offset: &str) -> Option<FieldWindowRead> {
    let window = answer.get("window")?;
    let number = |name: &str| window.get(name)?.as_u64().and_then(|value| usize::try_from(value).ok());
    let target = FieldTarget {
        stream: &record.stream,
        record_id: &record.record_id,
        field,
        connection_id: record.connection_id.as_deref(),
    };
    let at = number(offset)?;
    let mut limit = number("limit_chars").unwrap_or(pdpp_evidence::DEFAULT_LIMIT_CHARS);
    if let Some(start) = number("start_chars").filter(|start| at < *start) {
        limit = limit.min(start - at);
    }
    Some(FieldWindowRead::at(target, at, limit))
}
