//! The text of a page: evidence first, then the summary, then every hit with its id, then how to go on.
//!
//! Ids are printed whole and before any text of a record, so that nothing a record says can pass for a handle.

use std::fmt::Write as _;

use serde_json::Value;

use super::hit::Hit;
use super::page::Page;
use super::read::{Read, of_field, of_window};
use super::value::clip;
use super::window::Window;
use crate::text::{exact, flag, handle, quoted};

/// The first few hits may show two windows each.
const RICH_HITS: usize = 3;
/// The most sources that are counted.
const MAX_SOURCES: usize = 8;
/// The longest title in a line.
const MAX_TITLE_CHARS: usize = 80;

/// How much of each preview is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextSize {
    pub(super) chars: usize,
    /// Whether each line repeats its id inside a callable argument object, or only the first.
    pub(super) every_call: bool,
}

/// The shortest way to write a page.
pub(super) const SHORTEST: TextSize = TextSize { chars: 96, every_call: false };

/// The sizes, from the most readable to the shortest.
pub(super) const TEXT_SIZES: [TextSize; 6] = [
    TextSize { chars: 240, every_call: true },
    TextSize { chars: 200, every_call: true },
    TextSize { chars: 160, every_call: true },
    TextSize { chars: 128, every_call: true },
    TextSize { chars: 96, every_call: true },
    SHORTEST,
];

/// Writes the page.
pub(super) fn written(page: &Page, size: TextSize) -> String {
    let mut out = String::new();
    evidence(&mut out, page, size);
    summary(&mut out, page);
    if !page.hits.is_empty() {
        out.push_str("\nTop results:");
    }
    for (index, hit) in page.hits.iter().enumerate() {
        put(&mut out, format_args!("\n{}. {}", index + 1, line(hit, size)));
    }
    hints(&mut out, page);
    out
}

fn put(out: &mut String, piece: std::fmt::Arguments<'_>) {
    out.write_fmt(piece).expect("writing to a string cannot fail");
}

fn evidence(out: &mut String, page: &Page, size: TextSize) {
    let mut number = 0;
    for (index, hit) in page.hits.iter().enumerate() {
        let shown = if index < RICH_HITS { 2 } else { 1 };
        for window in hit.windows.iter().take(shown) {
            number += 1;
            if number == 1 {
                out.push_str("Evidence excerpts:\n");
            }
            let call = number == 1 || size.every_call;
            put(out, format_args!("{number}. result={} {}\n", index + 1, excerpt(hit, window, size, call)));
        }
    }
}

fn excerpt(hit: &Hit, window: &Window, size: TextSize, call: bool) -> String {
    let piece = window.text.piece(size.chars);
    // Only what a tool takes is called an id here, because a reader may take the first one it meets.
    let (label, id) = hit.handle().map_or(("ref", hit.minted.id.as_str()), |id| ("id", id));
    let mut line = format!(
        "{label}={} field_path={} snippet={} complete={}",
        handle(id),
        handle(&window.field_path),
        quoted(&piece.text, usize::MAX),
        window.complete && !piece.cut,
    );
    if let Some(provenance) = &window.provenance {
        put(&mut line, format_args!(" provenance={provenance}"));
    }
    if let Some(read) = of_window(hit, window) {
        continuation(&mut line, &read, call);
    }
    line
}

fn continuation(line: &mut String, read: &Read, call: bool) {
    put(line, format_args!(" read={}", read.tool));
    if call {
        put(line, format_args!(" args={}", Value::Object(read.args.clone())));
    } else {
        for name in ["offset_chars", "limit_chars"] {
            if let Some(number) = read.args.get(name) {
                put(line, format_args!(" {name}={number}"));
            }
        }
    }
}

fn summary(out: &mut String, page: &Page) {
    put(out, format_args!("search: {} hit(s).", page.returned));
    if page.has_more {
        out.push_str(" has_more=true.");
    }
    if let Some(cursor) = &page.next_cursor {
        put(out, format_args!(" next_cursor={}.", exact(cursor)));
    }
    if let Some(id) = page.first_handle() {
        put(out, format_args!(" first_fetch_id={}", handle(id)));
    }
    let sources = source_mix(page);
    if !sources.is_empty() {
        put(out, format_args!(" source_mix={}.", sources.join(";")));
    }
    put(out, format_args!(" requested={} served={}.", page.requested, page.hits.len()));
    for note in &page.notes {
        put(out, format_args!(" {note}"));
    }
}

fn source_mix(page: &Page) -> Vec<String> {
    let mut mix: Vec<(String, usize)> = Vec::new();
    for hit in &page.hits {
        let labels = [("connection_id", &hit.connection_id), ("connector_key", &hit.connector_key)];
        let named: Vec<String> = labels
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}:{}", flag(value.as_deref()?, 80))))
            .collect();
        if named.is_empty() {
            continue;
        }
        let source = named.join(",");
        match mix.iter_mut().find(|(known, _)| *known == source) {
            Some((_, count)) => *count += 1,
            None => mix.push((source, 1)),
        }
    }
    mix.iter().take(MAX_SOURCES).map(|(source, count)| format!("{{{source},count:{count}}}")).collect()
}

fn line(hit: &Hit, size: TextSize) -> String {
    let mut line = format!("id={}", handle(&hit.minted.id));
    match hit.handle() {
        None => line.push_str(" fetchable=false"),
        Some(id) if id != hit.minted.id => put(&mut line, format_args!(" fetch_id={}", handle(id))),
        Some(_) => {}
    }
    if let Some(connection) = &hit.minted.beside {
        put(&mut line, format_args!(" connection_id={}", exact(connection)));
    }
    for (name, value) in [("connector_key", &hit.connector_key), ("stream", &hit.stream)] {
        if let Some(value) = value {
            put(&mut line, format_args!(" {name}={}", flag(value, 60)));
        }
    }
    put(&mut line, format_args!(" title={}", quoted(&clip(&hit.title, MAX_TITLE_CHARS), usize::MAX)));
    if let Some(name) = &hit.display_name {
        put(&mut line, format_args!(" display_name={}", quoted(name, 60)));
    }
    if let Some(kind) = &hit.evidence {
        put(&mut line, format_args!(" evidence={kind}"));
    }
    if hit.duplicates > 0 {
        put(&mut line, format_args!(" duplicates={}", hit.duplicates));
    }
    if let (Some(snippet), true) = (&hit.snippet, hit.windows.is_empty()) {
        let piece = snippet.text.piece(size.chars);
        put(&mut line, format_args!(" snippet={}", quoted(&piece.text, usize::MAX)));
        if let Some(read) = snippet.field.as_deref().and_then(|field| of_field(hit, field)) {
            continuation(&mut line, &read, true);
        }
    }
    line
}

/// How to go on, in a line of its own.
fn hints(out: &mut String, page: &Page) {
    let mut hints = Vec::new();
    if page.first_handle().is_some() {
        hints.push(
            "To open a hit, give its id unchanged to `fetch`; add connection_id only where one is printed on its own.",
        );
    }
    if page.next_cursor.is_some() {
        hints.push("More hits: the same call with cursor set to next_cursor.");
    }
    hints.push(match (page.hits.is_empty(), page.is_behind) {
        (true, true) => "Repeat the call in a moment.",
        (true, false) => "Try other words, or fewer streams and filters.",
        _ => "Structured output: structuredContent.results (hits), structuredContent.data (envelope).",
    });
    put(out, format_args!("\n{}", hints.join(" ")));
}
