//! `pdpp read field-window`: one bounded piece of one field, and the commands for its neighbours.

use clap::Args;
use pdpp_client::Request;
use pdpp_evidence::{FieldTarget, FieldWindowRead, RecordHandle};
use serde_json::{Value, json};

use super::query_records::words;
use super::source::SourceArgs;
use super::{command, output, target};
use crate::layout::{Cell, Page, plain};
use crate::{screen, terminal};

/// Read a bounded piece of one field
///
/// Say where with --offset-chars, or what it is about with --q. The record is named by its stream and key, or by
/// the id a search printed. Each line of the text stands behind a bar, so that nothing in it can pass for ours.
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
    let (url, mut record) =
        target::record(args.words, args.source.is_fixed(), args.connection_id.as_deref())?;
    let source = args.source.connect(url).await?;
    record.connection_id = source.connection(&record.stream, record.connection_id)?;
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
    for (member, offset) in
        [("next_command", "next_offset_chars"), ("previous_command", "previous_offset_chars")]
    {
        let read = neighbour(&record, &args.field, &answer, offset);
        if let (Some(read), Some(members)) = (read, answer.as_object_mut()) {
            members.insert(member.to_owned(), json!(command::field_window(&source, &read)));
        }
    }
    if output::for_programs(args.source.format(), &answer)? {
        return Ok(());
    }
    show(&record, &args.field, &answer)
}

fn show(record: &RecordHandle, field: &str, answer: &Value) -> anyhow::Result<()> {
    let page = Page::here();
    let window = |name: &str| answer.get("window").and_then(|window| window.get(name));
    let number = |name: &str| window(name).and_then(Value::as_u64);
    let whole = window("complete").and_then(Value::as_bool) == Some(true);
    let (start, end) = (number("start_chars").unwrap_or_default(), number("end_chars").unwrap_or_default());
    page.text("", &format!("{} {field}", record.id()))?;
    page.text("", &place(start, end, number("total_chars"), whole))?;
    let text = window("text").and_then(Value::as_str).unwrap_or_default();
    let mut cells = plain(text);
    if let (Some(from), Some(to)) = (number("match_start_chars"), number("match_end_chars")) {
        emphasise(&mut cells, from.saturating_sub(start), to.saturating_sub(start));
    }
    page.cells("│ ", &cells)?;
    for (label, member) in [("next", "next_command"), ("previous", "previous_command")] {
        if let Some(words) = words(answer, member) {
            terminal::line(&format!("{label}: {}", command::shell(&words)))?;
        }
    }
    Ok(())
}

/// Which part of how much: `chars 1,000–1,256 of 4,096`.
pub(super) fn place(start: u64, end: u64, total: Option<u64>, whole: bool) -> String {
    let of = total.map(|total| format!(" of {}", screen::number(total))).unwrap_or_default();
    let status = if whole { "complete" } else { "truncated" };
    format!("chars {}–{}{of} · preview_status={status}", screen::number(start), screen::number(end))
}

fn emphasise(cells: &mut [Cell], from: u64, to: u64) {
    let at = |value: u64| usize::try_from(value).unwrap_or(usize::MAX).min(cells.len());
    let (from, to) = (at(from), at(to));
    if from < to {
        cells[from..to].iter_mut().for_each(|cell| cell.strong = true);
    }
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
