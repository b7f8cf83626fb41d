//! One page of a list, or all of them in order.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use pdpp_client::Request;
use serde_json::Value;

use super::output::{self, Format};
use super::source::Source;
use crate::exit::{EndCode, Ended};
use crate::screen::number;
use crate::terminal;

/// How many items a page has when all are wanted and nobody says otherwise.
const PAGE: usize = 100;
/// A list that goes on over so many empty pages does not end.
const MOST_EMPTY: usize = 100;

/// How much of a list.
#[derive(Args, Clone, Debug)]
pub(super) struct PageArgs {
    /// At most so many on a page
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Go on where an earlier answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Follow the pages to the end
    #[arg(long)]
    all: bool,
    /// With --all: stop after so many, and say how to go on
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, requires = "all")]
    max: usize,
}

impl PageArgs {
    /// The option of a printed command that keeps the pages as large.
    pub(super) fn limit_flag(&self) -> Option<String> {
        self.limit.map(|limit| limit.to_string())
    }

    pub(super) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Asks for the page, or for all of them. `first` makes the request, given the cursor; `dress` adds the commands to
    /// each page. What comes back is one answer with the items of all pages and the last page's way on; in the format
    /// of one line for each item they are printed as they come, and nothing is left to print.
    pub(super) async fn read(
        &self,
        source: &Source,
        format: Format,
        request: impl Fn(Option<&str>) -> Request,
        dress: impl Fn(&mut Value),
    ) -> anyhow::Result<Option<Value>> {
        let sized = |cursor: Option<&str>, limit: Option<usize>| {
            request(cursor).maybe("limit", limit.map(|limit| limit.to_string())).maybe("cursor", cursor)
        };
        if !self.all {
            let mut answer = source.json(&sized(self.cursor(), self.limit)).await?;
            dress(&mut answer);
            return Ok(Some(answer));
        }
        let progress = progress();
        let mut whole: Option<Value> = None;
        let (mut cursor, mut read, mut empty) = (self.cursor.clone(), 0, 0);
        loop {
            let limit = self.limit.unwrap_or(PAGE).min(self.max.saturating_sub(read)).max(1);
            let mut page = source.json(&sized(cursor.as_deref(), Some(limit))).await?;
            dress(&mut page);
            let count = page.get("data").and_then(Value::as_array).map_or(0, Vec::len);
            read += count;
            progress.set_message(format!("{} so far", number(u64::try_from(read).unwrap_or(u64::MAX))));
            let next = page.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
            let ended = next.is_none() || page.get("has_more").and_then(Value::as_bool) == Some(false);
            empty = if count == 0 { empty + 1 } else { 0 };
            if !ended && (next == cursor || empty > MOST_EMPTY) {
                return Err(Ended::new(EndCode::Other, "the server's pages do not end").into());
            }
            if format == Format::Jsonl {
                output::for_programs(format, &page)?;
                if ended || read >= self.max {
                    progress.finish_and_clear();
                    stopped(&page, read, ended);
                    return Ok(None);
                }
            } else {
                whole = Some(joined(whole, page));
                if ended || read >= self.max {
                    progress.finish_and_clear();
                    if let Some(whole) = &whole {
                        stopped(whole, read, ended);
                    }
                    return Ok(whole);
                }
            }
            cursor = next;
        }
    }
}

/// Everything of the newer page, with the items of both.
fn joined(older: Option<Value>, mut newer: Value) -> Value {
    let items = older.and_then(|mut older| older.get_mut("data").map(Value::take));
    if let (Some(Value::Array(mut items)), Some(Value::Array(more))) = (items, newer.get_mut("data")) {
        items.append(more);
        newer["data"] = Value::Array(items);
    }
    newer
}

/// What is not the whole list says so, with the way on.
fn stopped(page: &Value, read: usize, ended: bool) {
    if ended {
        return;
    }
    let words: Option<Vec<String>> = page
        .get("next_command")
        .and_then(Value::as_array)
        .map(|words| words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect());
    let on = words.map(|words| super::command::shell(&words)).unwrap_or_default();
    terminal::note(&format!("stopped after {read}; there is more: {on}"));
}

fn progress() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}
