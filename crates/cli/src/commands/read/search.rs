//! `pdpp read search`: hits with the text that proves them, and the command that reads on.

use clap::{Args, ValueEnum};
use pdpp_client::Request;
use pdpp_evidence::{FieldTarget, FieldWindowRead, RecordHandle};
use serde_json::{Value, json};

use super::command::Flag;
use super::filter::FilterArgs;
use super::pages::PageArgs;
use super::query_records::words;
use super::source::{Source, SourceArgs};
use super::{command, field_window, output, target};
use crate::layout::{Cell, Page, marked, plain};
use crate::{screen, terminal};

/// A preview is at most this long on a terminal.
const PREVIEW_CHARS: usize = 240;
/// Where a longer one is cut, so much before its first match stays.
const LEAD_CHARS: usize = 80;

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
    /// How many excerpts a hit shows
    #[arg(long, value_name = "COUNT")]
    excerpts: Option<u32>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    source: SourceArgs,
}

/// The most hits of one answer.
const MOST_HITS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    Lexical,
    Semantic,
    Hybrid,
}

impl Mode {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Lexical => None,
            Self::Semantic => Some("semantic"),
            Self::Hybrid => Some("hybrid"),
        }
    }
}

pub(super) async fn run(mut args: SearchArgs) -> anyhow::Result<()> {
    let (url, query) = target::query(std::mem::take(&mut args.words), args.source.is_fixed())?;
    let source = args.source.connect(url).await?;
    args.connection_id = source.named_connection(args.connection_id.take());
    let base = Request::get(["v1", "search"].into_iter().chain(args.mode.name()))
        .query("q", &query)
        .each("streams", args.stream.iter().map(String::as_str))
        .maybe("connection_id", args.connection_id.as_deref())
        .maybe("since", args.since.as_deref())
        .maybe("until", args.until.as_deref())
        .maybe("order", args.order.as_deref())
        .maybe("excerpts", args.excerpts.map(|count| count.to_string()));
    let base = args.filter.apply(base)?;
    let dress = |answer: &mut Value| {
        add_commands(&source, answer);
        let cursor = answer.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        if let (Some(cursor), Some(members)) = (cursor, answer.as_object_mut()) {
            let mut flags = args.flags();
            if source.keeps_searches() {
                flags.push(("cursor", Some(cursor)));
            } else {
                // A search is kept by the process that made it, and this one ends here: the next asks for more at once.
                let shown = members.get("data").and_then(Value::as_array).map_or(0, Vec::len);
                if shown >= MOST_HITS {
                    return;
                }
                flags.retain(|(name, _)| *name != "limit");
                flags.push(("limit", Some((shown * 4).clamp(25, MOST_HITS).to_string())));
            }
            let next = command::of("search", &source, vec![query.clone()], flags);
            members.insert("next_command".to_owned(), json!(next));
        }
    };
    let format = args.source.format();
    let Some(answer) = args.pages.read(&source, format, |_| base.clone(), dress).await? else {
        return Ok(());
    };
    if output::for_programs(format, &answer)? {
        return Ok(());
    }
    show(&source, &answer)
}

impl SearchArgs {
    /// The options that a continuation repeats.
    fn flags(&self) -> Vec<Flag> {
        let streams = (!self.stream.is_empty()).then(|| self.stream.join(","));
        let mut flags = vec![
            ("stream", streams),
            ("connection-id", self.connection_id.clone()),
            ("mode", self.mode.name().map(str::to_owned)),
            ("since", self.since.clone()),
            ("until", self.until.clone()),
            ("order", self.order.clone()),
            ("excerpts", self.excerpts.map(|count| count.to_string())),
        ];
        flags.extend(self.filter.flags());
        flags.push(("limit", self.pages.limit_flag()));
        flags
    }
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

fn show(source: &Source, answer: &Value) -> anyhow::Result<()> {
    let page = Page::here();
    let hits = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, hit) in hits.iter().enumerate() {
        let text = |name: &str| hit.get(name).and_then(Value::as_str);
        let Some(record) = record_of(hit) else { continue };
        let when = text("authored_at").or_else(|| text("emitted_at")).unwrap_or_default();
        let day = when.get(..10).unwrap_or(when);
        let from = text("display_name").or_else(|| text("connector_id")).unwrap_or_default();
        let stream = &record.stream;
        page.heading(&one_line(&format!("{}. {day}  {from}  {stream}  {}", index + 1, record.id())))?;
        let excerpts = hit.get("evidence_excerpts").and_then(Value::as_array);
        let excerpts: Vec<&Value> = excerpts.into_iter().flatten().collect();
        // What proves less than the words themselves says so.
        let proof = text("evidence").filter(|kind| *kind != "lexical_match").unwrap_or_default();
        for excerpt in &excerpts {
            show_excerpt(page, excerpt, proof)?;
        }
        if excerpts.is_empty() {
            page.text("   ", "no text of this record was proven to match")?;
            terminal::line(&format!("   {}", command::shell(&command::fetch(source, &record))))?;
        }
    }
    if hits.is_empty() {
        terminal::line("(none)")?;
    }
    for line in remarks(hits.len(), answer) {
        page.text("", &line)?;
    }
    if let Some(next) = words(answer, "next_command") {
        terminal::line(&format!("next: {}", command::shell(&next)))?;
    }
    Ok(())
}

/// The piece that proves a hit: field, place, what is missing; the text; the way on.
fn show_excerpt(page: Page, excerpt: &Value, proof: &str) -> anyhow::Result<()> {
    let text = |name: &str| excerpt.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| excerpt.get(name).and_then(Value::as_u64);
    let whole = excerpt.get("truncated").and_then(Value::as_bool) == Some(false);
    let place = match (number("start_chars"), number("end_chars")) {
        (Some(start), Some(end)) => field_window::place(start, end, number("total_chars"), whole),
        _ if whole => "preview_status=complete".to_owned(),
        _ => "preview_status=truncated".to_owned(),
    };
    let proof = if proof.is_empty() { String::new() } else { format!(" · evidence={proof}") };
    page.text("   ", &one_line(&format!("{} · {place}{proof}", text("field_path"))))?;
    page.cells("   ", &bounded(marked(&one_line(text("preview_text")))))?;
    if let Some(read) = words(excerpt, "command") {
        terminal::line(&format!("   {}", command::shell(&read)))?;
    }
    Ok(())
}

/// No more than the budget, around the first match.
fn bounded(cells: Vec<Cell>) -> Vec<Cell> {
    if cells.len() <= PREVIEW_CHARS + 2 {
        return cells;
    }
    let first = cells.iter().position(|cell| cell.strong).unwrap_or(0);
    let start = first.saturating_sub(LEAD_CHARS);
    let end = (start + PREVIEW_CHARS).min(cells.len());
    let dots = |there: bool| if there { plain("…") } else { Vec::new() };
    let middle = cells[start..end].to_vec();
    [dots(start > 0), middle, dots(end < cells.len())].concat()
}

/// How many there are, and whatever makes the answer less than the whole truth.
fn remarks(shown: usize, answer: &Value) -> Vec<String> {
    let meta = |pointer: &str| answer.pointer(&format!("/meta{pointer}"));
    let mut lines = Vec::new();
    if let Some(count) = meta("/count").and_then(Value::as_u64) {
        let about = match meta("/count_accuracy").and_then(Value::as_str) {
            Some("exact") => "",
            Some("estimated") => "about ",
            _ => "at least ",
        };
        let shown = u64::try_from(shown).unwrap_or(u64::MAX);
        let counted = screen::number(count);
        let few = if shown > count {
            // Neighbours of what matches are shown and are not counted.
            format!("{} records, of which {about}{counted} match themselves", screen::number(shown))
        } else {
            format!("{} of {about}{counted} matching records", screen::number(shown))
        };
        lines.push(format!("{few}; a preview is at most {PREVIEW_CHARS} characters"));
    }
    if meta("/recall/complete").and_then(Value::as_bool) == Some(false) {
        lines.push("not everything that matches was ranked; narrow the search to be sure".to_owned());
    }
    if meta("/index/state").and_then(Value::as_str) == Some("behind") {
        lines.push("the index is behind: what came last may be missing".to_owned());
    }
    for corrected in meta("/corrected").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| corrected.get(name).and_then(Value::as_str).unwrap_or_default();
        lines.push(format!("nothing has '{}'; searched for '{}'", text("typed"), text("used")));
    }
    lines
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
