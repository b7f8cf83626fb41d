//! All streams at once: each in a row, or an index of all names.

use super::fields::word;
use super::line::{MAX_ROWS, connections, identity};
use super::rows::{Row, by_connector};
use super::text::Page;
use crate::text::{put, quoted};
use crate::tokens::estimate;

/// The most connections named in one line.
const MAX_CONNECTIONS: usize = 8;

/// All streams: each in a row, or, when that is too much, an index of all names and the rows that fit.
pub(super) fn overview(page: &mut Page, rows: &[Row<'_>]) {
    const CALL: &str = "call schema(stream, connection_id?) for per-field capability flags";
    let lines: Vec<String> = rows.iter().take(MAX_ROWS).map(|row| identity(row, MAX_CONNECTIONS)).collect();
    let cost: usize = lines.iter().map(|line| estimate(line) + 1).sum();
    let all_fit = rows.len() <= MAX_ROWS && cost <= page.left;
    let mut unnamed = 0;
    if !all_fit {
        // The way on comes first: hosts cut long texts at the end.
        page.line(CALL);
        unnamed = index(page, rows);
    }
    let shown = lines.iter().take_while(|line| page.line(line)).count();
    if all_fit {
        page.line(CALL);
    } else if shown < rows.len() {
        put(&mut page.text, "\nmore_streams=", &(rows.len() - shown).to_string());
        if unnamed > 0 {
            let note = format!(" unnamed_streams={unnamed}; narrow with schema(connection_id)");
            page.text.push_str(&note);
        }
    }
}

/// Names every stream, connector by connector. Says how many names found no room.
fn index(page: &mut Page, rows: &[Row<'_>]) -> usize {
    /// What one line may cost at least, however many there are.
    const LINE: usize = 80;
    let mut named = 0;
    let groups = by_connector(rows).count();
    for (position, group) in by_connector(rows).enumerate() {
        // Each connector has its share, so that all of them and their connections are seen.
        let share = (page.left / (groups - position)).max(LINE).min(page.left);
        let Some((line, count)) = index_line(group, share) else { break };
        if !page.line(&line) {
            break;
        }
        named += count;
    }
    rows.len() - named
}

/// One connector with as many names as fit, and their number.
fn index_line(group: &[Row<'_>], room: usize) -> Option<(String, usize)> {
    let first = group.first()?;
    let mut line = "stream_index".to_owned();
    if let Some(key) = first.connector_key {
        put(&mut line, " connector_key=", &quoted(key, 60));
    }
    put(&mut line, " stream_count=", &group.len().to_string());
    line.push_str(" streams=");
    // One list of connections serves all streams that share it.
    let shared = group.iter().all(|row| row.shares_connections(first));
    let connections = if shared { connections(first, MAX_CONNECTIONS) } else { String::new() };
    let mut left = room.checked_sub(estimate(&line) + estimate(&connections) + 6)?;
    let mut named = 0;
    for row in group {
        let name = word(row.name);
        // The separator may cost a token of its own.
        let Some(rest) = left.checked_sub(estimate(&name) + 1) else { break };
        left = rest;
        if named > 0 {
            line.push('|');
        }
        line.push_str(&name);
        named += 1;
    }
    if named < group.len() {
        put(&mut line, "|+", &(group.len() - named).to_string());
    }
    line.push_str(&connections);
    Some((line, named))
}
