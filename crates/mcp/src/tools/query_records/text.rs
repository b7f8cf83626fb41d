//! A page as text: what it is, how to go on, the ids, then the first records in few tokens.

use std::borrow::Cow;
use std::fmt::Write as _;

use pdpp_evidence::{Content, classify, neutralise};
use serde_json::{Map, Value};

use super::body::Body;
use super::page::Page;
use crate::Adapter;
use crate::record::{self, call_text, field_fetch, field_read};
use crate::row::{Named, Row};
use crate::shown::Shown;
use crate::text::{handle as plain, quoted};
use crate::tokens::Scale;
use crate::{bounded, ladder, tokens};

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
        let lines = Preview { adapter, index, named, scale }.lines(&part, share);
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
        let _ = write!(
            text,
            " requested={requested} served={served} (a larger page does not fit; page on with cursor)."
        );
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

/// A cursor is sent back letter by letter, so characters that must not be shown are escaped, not replaced.
fn exact(text: &str) -> String {
    let json = Value::from(text).to_string();
    if neutralise(&json).replaced == 0 {
        return json;
    }
    let mut escaped = String::new();
    for c in json.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
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
        let whole = part.json();
        let spent = self.scale.cost(&lines);
        let room = share.saturating_sub(spent);
        // What is far too long need not be measured.
        let cost = if whole.len() > room * 40 { whole.len() } else { self.scale.cost(&whole) };
        if cost <= room {
            let _ = write!(lines, "\nrecord[{index}] {whole}");
            return Lines { text: lines, cost: spent + cost + LABEL, cut: false };
        }
        let next = continuation(self.named);
        let line =
            shortened(&part.tree(), &whole, room.saturating_sub(tokens::estimate(&next) + 20).max(LEAST));
        let (shown, total) = (line.chars().count(), whole.chars().count());
        let _ =
            write!(lines, "\nrecord[{index}] truncated chars={shown}/{total} {next}\nrecord[{index}] {line}");
        Lines { cost: tokens::estimate(&lines), text: lines, cut: true }
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

/// The record with its long strings cut, so that every field is seen; at worst, its beginning. A cut may leave half of
/// an emoji, and what held it together with the other half acts unseen by itself.
pub(super) fn shortened(value: &Value, whole: &str, room: usize) -> String {
    neutralise(&cut(value, whole, room)).text.into_owned()
}

fn cut(value: &Value, whole: &str, room: usize) -> String {
    for cap in [4_000, 2_000, 1_000, 500, 250, 120, 60] {
        let mut shorter = value.clone();
        if bounded::cut_strings(&mut shorter, cap, None).is_empty() {
            continue;
        }
        if tokens::estimate_json(&shorter) <= room {
            return format!("{shorter}…");
        }
    }
    let mut head = String::new();
    let (mut rest, mut spent) = (whole, 0);
    // Piece by piece, because measuring the whole head each time would be quadratic.
    while !rest.is_empty() {
        let end = rest.char_indices().nth(32).map_or(rest.len(), |(byte, _)| byte);
        let piece = &rest[..end];
        spent += tokens::estimate(piece);
        if spent + 4 > room {
            break;
        }
        head.push_str(piece);
        rest = &rest[end..];
    }
    head.push('…');
    head
}

/// The call that reads on in a cut record: its longest text, else its largest structure.
fn continuation(named: &Named<'_>) -> String {
    let (Some(handle), Some(id), row) = (&named.handle, &named.id, named.row.tree()) else {
        return "followup=rerun_fields".to_owned();
    };
    let longest = ladder::content_fields(&row)
        .filter(|(_, value)| classify(value) == Content::Text)
        .filter_map(|(name, value)| Some((name, value.as_str()?.len())))
        .max_by_key(|(_, length)| *length);
    let largest = ladder::content_fields(&row)
        .filter(|(_, value)| classify(value) == Content::Json)
        .map(|(name, value)| (name, pdpp_evidence::json_bytes(value)))
        .max_by_key(|(_, length)| *length);
    let text = longest.filter(|(_, length)| largest.is_none_or(|(_, other)| *length * 4 >= other));
    let read = match (text, largest) {
        (Some((name, _)), _) => field_read(handle, name, 0),
        (None, Some((name, _))) if record::is_callable(name) => Some(field_fetch(id, &[name])),
        (None, _) => None,
    };
    read.map_or_else(|| format!("fetch args={}", serde_json::json!({ "id": id })), |read| call_text(&read))
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
