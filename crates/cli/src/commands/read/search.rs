//! `pdpp read search`: hits with the text that proves them, and the command that reads on.

use clap::{Args, ValueEnum};
use pdpp_client::Request;
use pdpp_evidence::{FieldTarget, FieldWindowRead, RecordHandle};
use serde_json::{Value, json};

use super::source::{Source, SourceArgs};
use super::{command, output, target};
use crate::terminal;

/// A preview is at most this long on a terminal.
const PREVIEW_CHARS: usize = 320;

/// Search, and see the text that proves each hit
///
/// Each hit shows the matching piece and the `pdpp read field-window` command that reads on around it. The record
/// itself is not read.
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read search [OPTIONS] [URL] <QUERY>",
    after_help = "Example: pdpp read search 'winter storage' --stream messages"
)]
pub(super) struct SearchArgs {
    /// What to look for, in quotes; a URL may stand before it
    #[arg(value_name = "QUERY", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// Only this stream; may be repeated
    #[arg(long, alias = "streams", value_name = "NAME", value_delimiter = ',')]
    stream: Vec<String>,
    /// Only this connection
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    /// How to search
    #[arg(long, value_enum, default_value = "lexical")]
    mode: Mode,
    /// Not before this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// The best first, or the newest
    #[arg(long, value_name = "ORDER", value_parser = ["relevance", "newest"])]
    order: Option<String>,
    /// At most so many hits
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Go on where an earlier answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    source: SourceArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    Lexical,
    Semantic,
    Hybrid,
}

pub(super) async fn run(args: SearchArgs) -> anyhow::Result<()> {
    let (url, query) = target::query(args.words, args.source.url.as_deref())?;
    let source = args.source.connect(url)?;
    let route: &[&str] = match args.mode {
        Mode::Lexical => &["v1", "search"],
        Mode::Semantic => &["v1", "search", "semantic"],
        Mode::Hybrid => &["v1", "search", "hybrid"],
    };
    let request = Request::get(route.iter().copied())
        .query("q", &query)
        .each("streams", args.stream)
        .maybe("connection_id", args.connection_id)
        .maybe("since", args.since)
        .maybe("until", args.until)
        .maybe("order", args.order)
        .maybe("limit", args.limit.map(|limit| limit.to_string()))
        .maybe("cursor", args.cursor);
    let mut answer = source.json(&request).await?;
    add_commands(&source, &mut answer);
    if output::for_programs(args.source.format(), &answer)? {
        return Ok(());
    }
    show(&source, &query, &answer)
}

/// Beside each continuation, the command that follows it.
fn add_commands(source: &Source, answer: &mut Value) {
    for hit in answer.get_mut("data").and_then(Value::as_array_mut).into_iter().flatten() {
        let record = record_of(hit);
        let excerpts = hit.get_mut("evidence_excerpts").and_then(Value::as_array_mut);
        for excerpt in excerpts.into_iter().flatten() {
            let read = record.as_ref().and_then(|record| read_of(record, excerpt));
            if let (Some(read), Some(members)) = (read, excerpt.as_object_mut()) {
                members.insert("command".to_owned(), json!(command::field_window(source, &read)));
            }
        }
    }
}

fn show(source: &Source, query: &str, answer: &Value) -> anyhow::Result<()> {
    let hits = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, hit) in hits.iter().enumerate() {
        let text = |name: &str| hit.get(name).and_then(Value::as_str);
        let Some(record) = record_of(hit) else { continue };
        let when = text("authored_at").or_else(|| text("emitted_at")).unwrap_or_default();
        let from = text("display_name").or_else(|| text("connector_id")).unwrap_or_default();
        terminal::line(&one_line(&format!("{}. {}  {from}  {when}", index + 1, record.id())))?;
        let excerpts = hit.get("evidence_excerpts").and_then(Value::as_array);
        let excerpts: Vec<&Value> = excerpts.into_iter().flatten().collect();
        for excerpt in &excerpts {
            show_excerpt(source, &record, excerpt)?;
        }
        if excerpts.is_empty() {
            terminal::line("   no text of this record was proven to match")?;
            terminal::line(&format!("   {}", command::shell(&command::fetch(source, &record))))?;
        }
    }
    if hits.is_empty() {
        terminal::line("(none)")?;
    }
    if let Some(cursor) = answer.get("next_cursor").and_then(Value::as_str) {
        let next = command::shell(&command::search_on(source, query, cursor));
        terminal::line(&format!("more: {next}"))?;
    }
    Ok(())
}

/// The piece that proves a hit: field, place, what is missing; the text; the way on.
fn show_excerpt(source: &Source, record: &RecordHandle, excerpt: &Value) -> anyhow::Result<()> {
    let text = |name: &str| excerpt.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| excerpt.get(name).and_then(Value::as_u64);
    let whole = excerpt.get("truncated").and_then(Value::as_bool) == Some(false);
    let status = if whole { "complete" } else { "truncated" };
    let mut place = format!("{} preview_status={status}", text("field_path"));
    if let (Some(start), Some(end), Some(total)) =
        (number("start_chars"), number("end_chars"), number("total_chars"))
    {
        place = format!("{place} chars={start}-{end} size_chars={total}");
    }
    terminal::line(&one_line(&format!("   {place}")))?;
    let plain = text("preview_text").replace("<mark>", "").replace("</mark>", "");
    let shown: String = plain.chars().take(PREVIEW_CHARS).collect();
    terminal::line(&one_line(&format!("   “{shown}”")))?;
    if let Some(read) = read_of(record, excerpt) {
        terminal::line(&format!("   {}", command::shell(&command::field_window(source, &read))))?;
    }
    Ok(())
}

/// Record text must not break a line into two.
fn one_line(text: &str) -> String {
    let spaced = |c: char| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
    text.chars().map(spaced).collect()
}

fn record_of(hit: &Value) -> Option<RecordHandle> {
    let text = |name: &str| hit.get(name).and_then(Value::as_str);
    Some(RecordHandle {
        connection_id: text("connection_id").map(str::to_owned),
        stream: text("stream")?.to_owned(),
        record_id: text("record_key").or_else(|| text("record_id")).or_else(|| text("id"))?.to_owned(),
    })
}

/// The server's own continuation; where it gives none, the field from its start.
fn read_of(record: &RecordHandle, excerpt: &Value) -> Option<FieldWindowRead> {
    let read = excerpt.get("read");
    let member = |name: &str| read.and_then(|read| read.get(name));
    let text = |name: &str| member(name).and_then(Value::as_str);
    let number =
        |name: &str| member(name).and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
    let target = FieldTarget {
        stream: text("stream").unwrap_or(&record.stream),
        record_id: text("record_id").unwrap_or(&record.record_id),
        field: text("field").or_else(|| excerpt.get("field_path")?.as_str())?,
        connection_id: text("connection_id").or(record.connection_id.as_deref()),
    };
    let limit = number("limit_chars").unwrap_or(pdpp_evidence::DEFAULT_LIMIT_CHARS);
    let mut found = FieldWindowRead::at(target, number("offset_chars").unwrap_or(0), limit);
    if let (None, Some(q)) = (number("offset_chars"), text("q")) {
        found.offset_chars = None;
        found.q = Some(q.to_owned());
        found.before_chars = number("before_chars");
    }
    Some(found)
}
