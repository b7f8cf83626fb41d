//! A page as text: what it is, how to go on, the ids, then the first records in few tokens.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::body::Body;
use super::cut::{continuation, shortened};
use super::page::Page;
use crate::Adapter;
use crate::expand::Relation;
use crate::record::{self, call_text};
use crate::row::{Named, Row};
use crate::shown::Shown;
use crate::text::{exact, handle as plain, quoted};
use crate::tokens::Scale;
use crate::{ladder, tokens};

/// How many records are previewed.
pub(super) const PREVIEWED: usize = 5;
/// What the text may cost; the rest is headroom.
const BUDGET: usize = tokens::CONTENT - 50;
/// What the ids may take of it.
const IDS: usize = 800;
/// Kept for the lines after the records.
const FOOTER: usize = 120;
/// A record that gets less is not started.
const LEAST: usize = 24;
const BINARY_LINES: usize = 2;
const EXPANDED_LINES: usize = 2;
/// What stands before an id, and as much after it where its record is gone.
const INDEX: usize = 6;
/// What stands before a record in its line.
const LABEL: usize = 6;

/// The text of a page.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) cost: usize,
    /// Whether a record is not shown whole, so that with fewer of them each would be longer.
    pub(super) cut: bool,
    /// Whether everything stands in it that a text of this page could hold.
    pub(super) whole: bool,
}

/// Writes the text of a page.
pub(super) fn render(adapter: &Adapter, stream: &str, page: &Page, rows: &[Named<'_>]) -> Written {
    let (count, scale) = (page.body.count_of(rows), page.body.scale());
    let parts: Vec<Part<'_>> = rows.iter().take(PREVIEWED).map(|named| Part::of(named.row)).collect();
    let replaced = parts.iter().map(Part::replaced).sum();
    let mut text = header(stream, page, count, replaced);
    let mut spent = FOOTER + scale.cost(&text);
    let (listed, cost) = match &page.body {
        Body::Tree(_) => ids(&mut text, rows.iter().map(Id::of), scale),
        Body::Plain(page) => ids(&mut text, page.ids().map(Id::live), scale),
    };
    spent += cost;
    let mut shown = 0;
    let mut any_cut = false;
    let previewed = parts.len();
    for (index, (named, part)) in rows.iter().zip(parts).enumerate() {
        let share = BUDGET.saturating_sub(spent) / (previewed - index);
        if share < LEAST {
            break;
        }
        let lines = Preview { adapter, index, named, scale, relations: &page.relations }.lines(&part, share);
        spent += lines.cost;
        text.push_str(&lines.text);
        any_cut |= lines.cut;
        shown += 1;
    }
    footer(&mut text, count, shown, listed, any_cut);
    let whole = !any_cut && shown == previewed && listed == count;
    Written { text, cost: spent, cut: any_cut, whole }
}

fn header(stream: &str, page: &Page, count: usize, replaced: usize) -> String {
    let body = page.body.envelope();
    let member = |name: &str| body.get(name).or_else(|| body.get("data")?.get(name));
    let mut text = format!("records from stream {}: {count} record(s).", quoted(stream, 200));
    if member("has_more").is_some_and(|more| *more == true) {
        text.push_str(" has_more=true.");
    }
    for name in ["next_cursor", "next_changes_since"] {
        if let Some(handle) = member(name).and_then(Value::as_str) {
            // Writing to a string cannot fail.
            let _ = write!(text, " {name}={}", exact(handle));
        }
    }
    let total = member("meta").and_then(|meta| meta.get("count")).or_else(|| member("count"));
    if let Some((kind, value)) =
        total.and_then(|count| Some((count.get("kind")?.as_str()?, count.get("value")?.as_u64()?)))
    {
        let _ = write!(text, " count={}:{value}.", crate::text::flag(kind, 20));
    }
    if let Some((requested, served)) = page.shortened() {
        let how = match page.goes_on_with() {
            Some(argument) => format!("; page on with {argument}"),
            None => " and this server gives no cursor; take fewer fields, or filter for the rest".to_owned(),
        };
        let _ = write!(text, " requested={requested} served={served} (a larger page does not fit{how}).");
    }
    if replaced > 0 {
        let _ = write!(text, " unsafe_chars_replaced={replaced}.");
    }
    if count > 0 {
        let _ = write!(text, " Showing up to {}:", count.min(PREVIEWED));
    }
    let warnings = member("meta").and_then(|meta| meta.get("warnings")).and_then(Value::as_array);
    for warning in warnings.into_iter().flatten().take(3) {
        let part = |name: &str| warning.get(name).and_then(Value::as_str).unwrap_or("");
        let _ = write!(
            text,
            "\nwarning {} {}",
            crate::text::flag(part("code"), 60),
            quoted(part("message"), 200)
        );
    }
    text
}

/// What stands for a row in the list of ids.
#[derive(Clone, Copy)]
struct Id<'v> {
    /// None when no tool would take it.
    id: Option<&'v str>,
    deleted: bool,
}

impl<'v> Id<'v> {
    fn of(named: &'v Named<'_>) -> Self {
        Self { id: named.id.as_deref(), deleted: named.row.is_deleted() }
    }

    fn live(id: &'v str) -> Self {
        Self { id: Some(id), deleted: false }
    }
}

/// The ids, never cut; those of the previewed records always, the rest while there is room. How many there are, and
/// what they cost.
fn ids<'v>(text: &mut String, rows: impl Iterator<Item = Id<'v>>, scale: Scale) -> (usize, usize) {
    let mut line = String::with_capacity(1_024);
    let (mut listed, mut spent) = (0, 0);
    let mut costs = tokens::IdCosts::new(scale);
    for (index, row) in rows.enumerate() {
        let Some(id) = row.id else { continue };
        let deleted = if row.deleted { " (deleted)" } else { "" };
        let shown = plain(id);
        let cost = if shown == id { costs.cost(id) } else { tokens::estimate(&shown) };
        let cost = cost + if deleted.is_empty() { INDEX } else { 2 * INDEX };
        if index >= PREVIEWED && spent + cost > IDS {
            break;
        }
        spent += cost;
        line.push_str(" [");
        // Writing to a string cannot fail.
        let _ = write!(line, "{index}");
        line.push_str("] ");
        line.push_str(&shown);
        line.push_str(deleted);
        listed += 1;
    }
    if listed > 0 {
        text.push_str("\nids:");
        text.push_str(&line);
    }
    (listed, spent + INDEX)
}

/// One record in the text.
struct Preview<'v> {
    adapter: &'v Adapter,
    index: usize,
    named: &'v Named<'v>,
    scale: Scale,
    relations: &'v [Relation],
}

/// The lines of one record.
struct Lines {
    text: String,
    cost: usize,
    /// Whether anything of the record is missing.
    cut: bool,
}

impl Preview<'_> {
    /// The lines of the record, within its share of the tokens.
    fn lines(&self, part: &Part<'_>, share: usize) -> Lines {
        let (index, row) = (self.index, self.named.row);
        let mut lines = String::new();
        if let Row::Tree(row) = row
            && record::is_deleted(row)
        {
            let at = record::text(row, "deleted_at").map(|at| format!(" deleted_at={}", quoted(at, 60)));
            // Writing to a string cannot fail.
            let _ = write!(lines, "\nrecord[{index}] deleted=true{}", at.unwrap_or_default());
            return Lines { cost: tokens::estimate(&lines), text: lines, cut: false };
        }
        self.binary(&mut lines);
        // The record itself keeps at least as much.
        self.expanded(&mut lines, share / 2);
        let whole = part.json();
        let spent = self.scale.cost(&lines);
        let room = share.saturating_sub(spent);
        // What is far too long need not be measured.
        let cost = if whole.len() > room * 40 { whole.len() } else { self.scale.cost(&whole) };
        if cost <= room {
            let _ = write!(lines, "\nrecord[{index}] {whole}");
            return Lines { text: lines, cost: spent + cost + LABEL, cut: false };
        }
        // Which call reads on is known after the cut; the longest of them is that of a text.
        let next = continuation(self.named, Some(0), whole.len());
        let room = room.saturating_sub(tokens::estimate(&next) + 20).max(LEAST);
        let (line, cap) = shortened(&part.tree(), &whole, room);
        let next = continuation(self.named, cap, whole.len());
        let (shown, total) = (line.chars().count(), whole.chars().count());
        let _ =
            write!(lines, "\nrecord[{index}] truncated chars={shown}/{total} {next}\nrecord[{index}] {line}");
        Lines { cost: tokens::estimate(&lines), text: lines, cut: true }
    }

    /// Related records that are not all here, with the calls that read them, as far as there is room.
    fn expanded(&self, lines: &mut String, room: usize) {
        let Some(handle) = self.named.handle.as_ref().filter(|_| !self.relations.is_empty()) else { return };
        let row = self.named.row.tree();
        let going_on = self.relations.iter().filter_map(|it| Some((it, it.rest_of(&row, handle)?)));
        let mut left = room;
        for (relation, call) in going_on.take(EXPANDED_LINES) {
            let (index, name) = (self.index, quoted(&relation.name, 60));
            let line = format!("\nrecord[{index}] expanded {name} has_more=true {}", call_text(&call));
            let Some(rest) = left.checked_sub(tokens::estimate(&line)) else { break };
            left = rest;
            lines.push_str(&line);
        }
    }

    fn binary(&self, lines: &mut String) {
        let Some(handle) = &self.named.handle else { return };
        let (index, fields) = (self.index, ladder::binary_among(&self.named.row.fields()));
        for field in fields.iter().take(BINARY_LINES) {
            // Writing to a string cannot fail.
            let _ = write!(lines, "\nrecord[{index}] {}", field.line(self.adapter, handle));
        }
        if fields.len() > BINARY_LINES {
            let _ = write!(lines, "\nrecord[{index}] more_binary_fields={}", fields.len() - BINARY_LINES);
        }
    }
}

/// What a row says beside its id.
enum Part<'v> {
    Tree(Shown),
    /// It may be shown as it came.
    Plain(&'v str),
}

impl<'v> Part<'v> {
    fn of(row: Row<'v>) -> Self {
        match row {
            Row::Tree(row) => Self::Tree(shown_part(row)),
            Row::Plain(row) => Self::Plain(&row.part),
        }
    }

    /// How many characters were made visible.
    fn replaced(&self) -> usize {
        match self {
            Self::Tree(shown) => shown.replaced,
            Self::Plain(_) => 0,
        }
    }

    fn json(&self) -> Cow<'v, str> {
        match self {
            Self::Tree(shown) => Cow::Owned(serde_json::to_string(&shown.value).unwrap_or_default()),
            Self::Plain(part) => Cow::Borrowed(part),
        }
    }

    fn tree(&self) -> Cow<'_, Value> {
        match self {
            Self::Tree(shown) => Cow::Borrowed(&shown.value),
            Self::Plain(part) => Cow::Owned(serde_json::from_str(part).unwrap_or_default()),
        }
    }
}

/// What a row says beside its id: the payload, what was expanded, and when it was emitted unless that is the same.
fn shown_part(row: &Map<String, Value>) -> Shown {
    let payload = record::payload(row);
    // With room for what stands beside it, so that nothing is made again larger.
    let mut part = Map::with_capacity(payload.len() + 2);
    part.extend(payload.iter().map(|(name, value)| (name.clone(), value.clone())));
    if record::is_envelope(row) {
        let news = row.get("emitted_at").filter(|at| !payload.values().any(|value| value == *at));
        let beside = [("emitted_at", news), ("expanded", row.get("expanded"))];
        for (name, value) in beside {
            if let (Some(value), false) = (value, part.contains_key(name)) {
                part.insert(name.to_owned(), value.clone());
            }
        }
    }
    Shown::of(Value::Object(part))
}

fn footer(text: &mut String, rows: usize, shown: usize, listed: usize, any_cut: bool) {
    if rows > shown {
        let more = rows - shown;
        let how = if listed == rows { "fetch an id above, or repeat" } else { "repeat" };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nmore_records={more}; followup=rerun_cursor_or_limit; {how} with limit={} and follow the cursor.",
            shown.max(1)
        );
    }
    if any_cut && rows > 1 {
        text.push_str("\nrecord_preview_truncated=true; followup=rerun_limit; a smaller limit or fewer fields shows more of each.");
    }
}
