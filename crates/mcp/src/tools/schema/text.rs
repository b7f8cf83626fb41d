//! The schema in words: every stream by name, then as much about each as fits.

use serde_json::Value;

use super::Wanted;
use super::fields::word;
use super::line::{MAX_ROWS, bounded, described, identity};
use super::overview::overview;
use super::rows::{Row, text};
use crate::text::{put, quoted};
use crate::tokens::{self, estimate};

/// What the closing lines may cost.
const CLOSING: usize = 160;

const LEGEND: &str = "field_capability_legend t=type role=display_role g=false:not_granted eq=exact_filter \
    r=range_filter lex=word_search sem=meaning_search a=aggregations";

/// The text of a schema.
pub(super) fn page(document: &Value, rows: &[Row<'_>], wanted: Wanted<'_>, today: Option<&str>) -> String {
    let mut page = Page { text: header(document, rows, today), left: tokens::CONTENT - CLOSING };
    page.left = page.left.saturating_sub(estimate(&page.text));
    if rows.is_empty() {
        let narrowed = wanted.stream.is_some() || wanted.connection_id.is_some();
        page.text.push_str(if narrowed {
            "\nno granted stream matches; call schema() for the index"
        } else {
            "\nno stream is granted; ask the owner for a grant"
        });
        return page.text;
    }
    if wanted.stream.is_some() {
        scoped(&mut page, rows, wanted);
    } else {
        overview(&mut page, rows);
    }
    page.text
}

/// A text that grows within its budget.
pub(super) struct Page {
    pub(super) text: String,
    /// Tokens left.
    pub(super) left: usize,
}

impl Page {
    /// Adds a line, if there is room for it.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let cost = estimate(line) + 1;
        if cost > self.left {
            return false;
        }
        self.left -= cost;
        self.text.push('\n');
        self.text.push_str(line);
        true
    }
}

fn header(document: &Value, rows: &[Row<'_>], today: Option<&str>) -> String {
    let mut keys: Vec<Option<&str>> = rows.iter().map(|row| row.connector_key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut line = format!("PDPP schema: connectors={} streams={}", keys.len(), rows.len());
    let bearer = document.get("bearer").unwrap_or(&Value::Null);
    if let Some(end) = text(bearer, "expires_at") {
        put(&mut line, "\ngrant expires_at=", &word(&bounded(end)));
    }
    if let Some(today) = today {
        let before = if line.contains('\n') { " today=" } else { "\ntoday=" };
        put(&mut line, before, today);
    }
    line
}

/// One stream: what each field can do, and what can be asked.
fn scoped(page: &mut Page, rows: &[Row<'_>], wanted: Wanted<'_>) {
    let flagged = rows.iter().any(|row| row.stream.get("field_capabilities").is_some());
    if flagged {
        page.line(LEGEND);
    }
    if let Some(id) = wanted.connection_id {
        page.line(&format!("schema_scope connection_id={}", quoted(id, usize::MAX)));
    }
    let mut shown = 0;
    for (index, row) in rows.iter().enumerate().take(MAX_ROWS) {
        let share = page.left / (rows.len() - index).min(MAX_ROWS);
        // Where not even the shortest list fits, the stream is still named.
        if !page.line(&described(row, share)) && !page.line(&identity(row, 1)) {
            break;
        }
        shown += 1;
    }
    if shown < rows.len() {
        put(&mut page.text, "\nmore_streams=", &(rows.len() - shown).to_string());
        page.text.push_str("; narrow with schema(stream, connection_id)");
    } else if let [row] = rows {
        let mut call = format!("next: query_records({{\"stream\":{}", quoted(row.name, usize::MAX));
        if let [connection] = &*row.connections {
            put(&mut call, ",\"connection_id\":", &quoted(connection.id, usize::MAX));
        }
        call.push_str("})");
        page.line(&call);
    }
}
