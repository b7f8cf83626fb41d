//! Ledger entries as a table, as JSON lines, as a spreadsheet.

use std::io;

use pdpp_store::Disclosure;
use serde_json::{Value, json};

use super::Format;
use crate::terminal;

const COLUMNS: [&str; 14] = [
    "at",
    "client_id",
    "door",
    "action",
    "outcome",
    "stream",
    "record_count",
    "record_keys",
    "fields",
    "char_range",
    "query",
    "grant_ids",
    "connection_ids",
    "request_id",
];

/// Prints entries in one form; headings come once.
#[derive(Debug)]
pub(super) struct Printer {
    format: Format,
    is_begun: bool,
}

impl Printer {
    pub(super) const fn new(format: Format) -> Self {
        Self { format, is_begun: false }
    }

    /// All at once.
    pub(super) fn print(&mut self, entries: &[Disclosure]) -> anyhow::Result<()> {
        match self.format {
            Format::Table => Ok(print_table(entries)?),
            Format::Jsonl | Format::Csv => self.print_on(entries),
        }
    }

    /// One after the other, as they come.
    pub(super) fn print_on(&mut self, entries: &[Disclosure]) -> anyhow::Result<()> {
        match self.format {
            Format::Table => {
                let lines = entries.iter().map(|entry| row(entry).map(|cell| one_line(&cell)).join("  "));
                lines.into_iter().try_for_each(|line| terminal::line(&line))?;
            }
            Format::Jsonl => entries.iter().try_for_each(|entry| terminal::json_line(&shown(entry)))?,
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(Vec::new());
                if !std::mem::replace(&mut self.is_begun, true) {
                    writer.write_record(COLUMNS)?;
                }
                for entry in entries {
                    writer.write_record(cells(entry).map(harmless))?;
                }
                let text = String::from_utf8(writer.into_inner().map_err(csv::IntoInnerError::into_error)?)?;
                if !text.is_empty() {
                    terminal::for_program(text.trim_end_matches('\n'))?;
                }
            }
        }
        Ok(())
    }
}

/// Prints entries for people.
pub(crate) fn print_table(entries: &[Disclosure]) -> io::Result<()> {
    let rows: Vec<[String; 6]> = entries.iter().map(|entry| row(entry).map(|cell| one_line(&cell))).collect();
    terminal::table_with_loose(["WHEN (UTC)", "WHO", "DOOR", "READ", "RECORDS", "OUTCOME"], &rows, 3)
}

/// An entry as JSON, with its time as people write it.
fn shown(entry: &Disclosure) -> Value {
    let mut value = json!(entry);
    value["at"] = json!(entry.at.to_rfc3339());
    value
}

fn row(entry: &Disclosure) -> [String; 6] {
    let mut read = entry.action.clone();
    if let Some(stream) = &entry.stream {
        read = format!("{read} {stream}");
    }
    // On a narrow terminal the end is cut, and the question says more than the key of what answered it.
    if let Some(query) = &entry.query {
        read = format!("{read} “{query}”");
    }
    if let [key] = entry.record_keys.as_slice() {
        read = format!("{read} {key}");
    }
    if let Some((start, end)) = entry.char_range {
        read = format!("{read} chars {start}–{end}");
    }
    let when: String = entry.at.to_rfc3339().replace('T', " ").chars().take(19).collect();
    [when, who(entry), door(entry), read, entry.record_count.to_string(), outcome(entry)]
}

fn cells(entry: &Disclosure) -> [String; 14] {
    let list = |items: Vec<String>| items.join(" ");
    let ids = |ids: &[pdpp_wire::GrantId]| list(ids.iter().map(ToString::to_string).collect());
    [
        entry.at.to_rfc3339(),
        who(entry),
        door(entry),
        entry.action.clone(),
        outcome(entry),
        entry.stream.as_ref().map(ToString::to_string).unwrap_or_default(),
        entry.record_count.to_string(),
        list(entry.record_keys.clone()),
        list(entry.fields.clone()),
        entry.char_range.map(|(start, end)| format!("{start}-{end}")).unwrap_or_default(),
        entry.query.clone().unwrap_or_default(),
        ids(&entry.grant_ids),
        list(entry.connection_ids.iter().map(ToString::to_string).collect()),
        entry.request_id.clone(),
    ]
}

fn who(entry: &Disclosure) -> String {
    entry.client_id.as_ref().map_or_else(|| "owner".to_owned(), ToString::to_string)
}

fn door(entry: &Disclosure) -> String {
    json!(entry.door).as_str().unwrap_or_default().to_owned()
}

fn outcome(entry: &Disclosure) -> String {
    entry.refused.map_or_else(|| "served".to_owned(), |code| format!("refused: {code}"))
}

/// A query may hold line ends; a row must not.
fn one_line(cell: &str) -> String {
    cell.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect()
}

/// Clients choose queries, and a spreadsheet takes a cell that begins so for a formula.
fn harmless(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}
