//! `pdpp read query-records`: records of one stream, filtered, sorted, page by page or all.

use clap::Args;
use pdpp_client::Request;
use pdpp_evidence::{FieldText, RecordHandle, text_of};
use serde_json::{Value, json};

use super::command::Flag;
use super::filter::FilterArgs;
use super::pages::PageArgs;
use super::source::{Source, SourceArgs};
use super::target::{self, wrong};
use super::{command, output};
use crate::exit::Ended;
use crate::layout::Page;
use crate::screen::number;
use crate::terminal;

/// A cell shows no more than this of a value.
const CELL_CHARS: usize = 200;

/// List the records of a stream
///
/// The newest come first, where the stream has an order. A long value is cut on a terminal; `pdpp read fetch` and `pdpp
/// read field-window` read it whole or in pieces.
#[derive(Args, Debug)]
#[command(
    override_usage = "pdpp read query-records [OPTIONS] [URL] <STREAM>",
    after_help = "Examples:\n  pdpp read query-records messages --filter author=Ana --fields sent_at,text\n  \
                  pdpp read query-records messages --filter 'sent_at>=2025-09-01' --all --format jsonl"
)]
pub(super) struct QueryRecordsArgs {
    /// The stream; a URL may stand before it
    #[arg(value_name = "STREAM", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// Only this connection
    #[arg(long, value_name = "ID")]
    connection_id: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Only these fields
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    fields: Vec<String>,
    /// The fields of a declared view
    #[arg(long, value_name = "NAME", conflicts_with = "fields")]
    view: Option<String>,
    /// The oldest first, or the newest
    #[arg(long, value_name = "ORDER", value_parser = ["asc", "desc"])]
    order: Option<String>,
    /// By this field; -FIELD for the largest first
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Say how many there are in all
    #[arg(long, value_name = "HOW", value_parser = ["none", "estimated", "exact"])]
    count: Option<String>,
    /// What changed since this token; `beginning` for everything
    #[arg(long, value_name = "TOKEN")]
    changes_since: Option<String>,
    /// With these related records; may be repeated
    #[arg(long, value_name = "RELATION", value_delimiter = ',')]
    expand: Vec<String>,
    /// At most so many of them: RELATION=COUNT
    #[arg(long, value_name = "LIMIT")]
    expand_limit: Vec<String>,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) async fn run(mut args: QueryRecordsArgs) -> anyhow::Result<()> {
    let (url, stream) = target::one(std::mem::take(&mut args.words), args.source.is_fixed())?;
    let source = args.source.connect(url).await?;
    args.connection_id = source.connection(&stream, args.connection_id.take())?;
    let base = args.request(&stream)?;
    let request = |cursor: Option<&str>| match cursor {
        // The cursor already knows which changes it is about.
        Some(_) => base.clone(),
        None => base.clone().maybe("changes_since", args.changes_since.as_deref()),
    };
    let on = |flag: Flag| {
        let mut flags = args.flags();
        flags.push(flag);
        command::of("query-records", &source, vec![stream.clone()], flags)
    };
    let dress = |answer: &mut Value| {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let (cursor, since) = (text("next_cursor"), text("next_changes_since"));
        let Some(members) = answer.as_object_mut() else { return };
        if let Some(cursor) = cursor {
            members.insert("next_command".to_owned(), json!(on(("cursor", Some(cursor)))));
        } else if let Some(since) = since {
            members.insert("later_command".to_owned(), json!(on(("changes-since", Some(since)))));
        }
    };
    let format = args.source.format();
    let Some(answer) = args.pages.read(&source, format, request, dress).await? else { return Ok(()) };
    if output::for_programs(format, &answer)? {
        return Ok(());
    }
    show(&source, &stream, &answer)
}

impl QueryRecordsArgs {
    fn request(&self, stream: &str) -> Result<Request, Ended> {
        let mut request = self
            .filter
            .apply(Request::get(["v1", "streams", stream, "records"]))?
            .maybe("connection_id", self.connection_id.as_deref())
            .each("fields", self.fields.iter().map(String::as_str))
            .maybe("view", self.view.as_deref())
            .maybe("order", self.order.as_deref())
            .maybe("sort", self.sort.as_deref())
            .maybe("count", self.count.as_deref())
            .each("expand", self.expand.iter().map(String::as_str));
        for limit in &self.expand_limit {
            let (relation, count) = limit.split_once('=').ok_or_else(|| {
                wrong(format!("'{limit}' is no limit; write --expand-limit RELATION=COUNT"))
            })?;
            request = request.query(format!("expand_limit[{relation}]"), count);
        }
        Ok(request)
    }

    /// The options that a continuation repeats.
    fn flags(&self) -> Vec<Flag> {
        let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
        let mut flags = vec![("connection-id", self.connection_id.clone())];
        flags.extend(self.filter.flags());
        flags.extend([
            ("fields", list(&self.fields)),
            ("view", self.view.clone()),
            ("order", self.order.clone()),
            ("sort", self.sort.clone()),
            ("count", self.count.clone()),
            ("expand", list(&self.expand)),
        ]);
        flags.extend(self.expand_limit.iter().map(|limit| ("expand-limit", Some(limit.clone()))));
        flags.push(("limit", self.pages.limit_flag()));
        flags
    }
}

fn show(source: &Source, stream: &str, answer: &Value) -> anyhow::Result<()> {
    let page = Page::here();
    let records = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        for name in record.get("data").and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys)
        {
            // The key has a column of its own.
            let is_key =
                record.get("id").is_some() && record.get("id") == record.pointer(&format!("/data/{name}"));
            if !is_key && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let several = records.windows(2).any(|pair| pair[0].get("connection_id") != pair[1].get("connection_id"));
    let mut headings = vec!["ID".to_owned()];
    headings.extend(several.then(|| "CONNECTION".to_owned()));
    headings.extend(names.iter().map(|name| (*name).to_owned()));
    let rows: Vec<Vec<String>> = records
        .iter()
        .map(|record| {
            let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let deleted = record.get("deleted").and_then(Value::as_bool) == Some(true);
            let mut row = vec![if deleted { format!("{} (deleted)", text("id")) } else { text("id") }];
            row.extend(several.then(|| {
                let label = record.get("display_name").and_then(Value::as_str);
                label.map_or_else(|| text("connection_id"), str::to_owned)
            }));
            row.extend(names.iter().map(|name| cell(record.get("data").and_then(|data| data.get(name)))));
            row
        })
        .collect();
    page.table(&headings, &rows)?;
    terminal::line("")?;
    page.text("", &summary(records.len(), answer))?;
    if let Some(record) = records.first().and_then(|record| handle(stream, record)) {
        terminal::line(&format!("one: {}", command::shell(&command::fetch(source, &record))))?;
    }
    for (label, member) in [("next", "next_command"), ("later", "later_command")] {
        if let Some(words) = words(answer, member) {
            terminal::line(&format!("{label}: {}", command::shell(&words)))?;
        }
    }
    Ok(())
}

fn summary(shown: usize, answer: &Value) -> String {
    let noun = if shown == 1 { "record" } else { "records" };
    let shown = number(u64::try_from(shown).unwrap_or(u64::MAX));
    let total = answer.pointer("/meta/count/value").and_then(Value::as_u64).map(number);
    let more = answer.get("next_cursor").is_some_and(Value::is_string);
    match (total, more) {
        (Some(total), _) => format!("{shown} of {total} records"),
        (None, true) => format!("{shown} {noun}, and there are more"),
        (None, false) => format!("{shown} {noun}"),
    }
}

/// A command in an answer.
pub(super) fn words(answer: &Value, member: &str) -> Option<Vec<String>> {
    let words = answer.get(member)?.as_array()?;
    Some(words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect())
}

fn handle(stream: &str, record: &Value) -> Option<RecordHandle> {
    let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(RecordHandle {
        connection_id: text("connection_id"),
        stream: stream.to_owned(),
        record_id: text("id")?,
    })
}

/// A value in a column: text as it is, bytes as what they are.
fn cell(value: Option<&Value>) -> String {
    let Some(value) = value.filter(|value| !value.is_null()) else { return String::new() };
    match text_of(value) {
        FieldText::Binary(content) => super::fetch::described(&content),
        FieldText::NotText { .. } => value.to_string(),
        FieldText::Text { text, .. } => {
            let total = text.chars().count();
            if total <= CELL_CHARS {
                return text.into_owned();
            }
            let head: String = text.chars().take(CELL_CHARS).collect();
            format!("{head}… ({} chars)", number(u64::try_from(total).unwrap_or(u64::MAX)))
        }
    }
}
