//! How `read` prints: JSON for programs, lines for people. What records say cannot control a terminal.

use clap::ValueEnum;
use serde_json::Value;

use crate::terminal;

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The server's answer, indented.
    Json,
    /// One line for each hit or record, or the whole answer on one line.
    Jsonl,
    /// For people.
    Table,
}

impl Format {
    /// What suits whoever reads along.
    pub(super) fn usual() -> Self {
        if terminal::is_watched() { Self::Table } else { Self::Json }
    }
}

/// Prints the answer for a program; true when that was asked for.
pub(super) fn for_programs(format: Format, answer: &Value) -> anyhow::Result<bool> {
    match format {
        Format::Table => return Ok(false),
        Format::Json => print(&serde_json::to_string_pretty(answer)?)?,
        Format::Jsonl => match answer.get("data").and_then(Value::as_array) {
            Some(items) => items.iter().try_for_each(|item| print(&item.to_string()))?,
            None => print(&answer.to_string())?,
        },
    }
    Ok(true)
}

/// A program gets every character; a person's terminal only those that cannot control it.
fn print(json: &str) -> std::io::Result<()> {
    if terminal::is_watched() { terminal::line(json) } else { terminal::verbatim(json) }
}

/// Says the server's warnings beside the output.
pub(super) fn warnings(answer: &Value) {
    let given = answer.pointer("/meta/warnings").and_then(Value::as_array);
    for warning in given.into_iter().flatten() {
        let text = |name: &str| warning.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut line = format!("warning: {} — {}", text("code"), text("message"));
        if !text("param").is_empty() {
            line = format!("{line} (dropped: {})", text("param"));
        }
        terminal::note(&line);
    }
}
