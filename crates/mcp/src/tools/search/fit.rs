//! Making a page fit what a host shows of a result: shorter previews first, then a smaller page.
//!
//! Hits are never dropped from a page that was served, because the server's cursor is already past them.

use serde_json::{Map, Value};

use super::MAX_HITS;
use super::envelope::{hits_mut, without_hits};
use super::page::{Page, Wanted};
use super::structured::{DATA_SIZES, DataSize, LEANEST, MAX_RUNGS, ladder, results};
use super::written::{SHORTEST, TEXT_SIZES, TextSize, written};
use crate::adapter::Reply;
use crate::outcome::Outcome;
use crate::page_memory::Known;
use crate::shown::{Shown, neutral};
use crate::tokens::{CONTENT, RESULT, estimate, estimate_json};
use crate::{Adapter, ResultDetail};

/// What the members of the structure cost beside the envelope, the entries and the ladder.
const MEMBERS: usize = 80;
/// About what the summary and the hints of a text cost.
const SUMMARY: usize = 200;

/// A page as it would be shown.
#[derive(Debug)]
pub(super) struct Fitted {
    text: String,
    structured: Value,
    /// How many hits the server sent.
    pub(super) returned: usize,
    /// Whether it costs no more than it may.
    pub(super) fits: bool,
    /// About how many hits like these would fit, shown in the leanest way.
    pub(super) room_for: usize,
    /// Whether the server kept to the limit.
    bounded: bool,
}

impl Fitted {
    /// The result.
    pub(super) fn outcome(self) -> Outcome {
        Outcome::new(self.text, self.structured)
    }

    /// What is known about pages of this kind after this one.
    pub(super) fn learn(&self, known: Option<Known>) -> Option<Known> {
        if !self.bounded || self.returned == 0 {
            return known;
        }
        match known {
            Some(known) => Some(known.after(self.returned, self.room_for)),
            None if self.fits => None,
            None => Some(Known { fits: self.room_for, usual: None }),
        }
    }
}

/// Shows an answer in the richest way that fits, or in the leanest.
pub(super) fn fitted(adapter: &Adapter, reply: Reply, wanted: Wanted<'_>) -> Fitted {
    let mut page = Page::read(&reply.body, wanted);
    let frame = Frame::new(adapter, reply, &mut page);
    let mut text = Text::longest(&page, &TEXT_SIZES);
    let (entries, mut fits) = frame.richest(&page, text.cost);
    // Data is trimmed before readable text is, and both before the page is made smaller.
    if !fits {
        text = Text::longest(&page, &[SHORTEST]);
        fits = frame.fits(text.cost, entries.cost());
    }
    // Only a page that was made smaller, or must be, has to know how large it could be.
    let judged = !fits || wanted.asked < wanted.requested.min(MAX_HITS);
    let room_for = if judged { frame.room_for(&page) } else { page.returned };
    if !fits {
        text.text.push_str(
            " This result is larger than results should be; ask for fewer with limit, or narrow the search.",
        );
    }
    Fitted {
        text: text.text,
        structured: frame.structured(entries),
        returned: page.returned,
        fits,
        room_for,
        bounded: page.returned <= wanted.asked,
    }
}

/// A text and what it costs.
struct Text {
    text: String,
    cost: usize,
}

impl Text {
    /// The first of these sizes that costs no more than a text may, else the last.
    fn longest(page: &Page, sizes: &[TextSize]) -> Self {
        let mut longest = Self { text: String::new(), cost: 0 };
        for size in sizes {
            let text = written(page, *size);
            longest = Self { cost: estimate(&text), text };
            if longest.cost <= CONTENT {
                break;
            }
        }
        longest
    }
}

/// The entries and the ladder of a page, and what each costs.
struct Entries {
    results: Value,
    ladder: Option<Value>,
    results_cost: usize,
    ladder_cost: usize,
}

impl Entries {
    fn of(page: &Page, size: DataSize, detail: ResultDetail) -> Self {
        let (results, ladder) = (results(page, size, detail), ladder(page, size));
        let results_cost = estimate_json(&results);
        let ladder_cost = ladder.as_ref().map_or(0, estimate_json);
        Self { results, ladder, results_cost, ladder_cost }
    }

    fn cost(&self) -> usize {
        self.results_cost + self.ladder_cost
    }
}

/// What stands in the structure whatever the previews are cut to.
struct Frame {
    data: Value,
    members: Map<String, Value>,
    detail: ResultDetail,
    /// What each hit costs in the envelope, and what the rest does.
    hits: Vec<usize>,
    rest: usize,
}

impl Frame {
    fn new(adapter: &Adapter, reply: Reply, page: &mut Page) -> Self {
        let cursors = cursors(&reply.body);
        let mut shown = Shown::of(reply.body);
        keep_cursors(&mut shown, cursors);
        if shown.replaced > 0 {
            page.notes.push(format!("unsafe_chars_replaced={}.", shown.replaced));
        }
        let mut members = Map::new();
        members.insert("provider_url".to_owned(), adapter.provider_url().into());
        members.insert("request_id".to_owned(), reply.request_id.into());
        shown.report(&mut members);
        let detail = adapter.settings.detail;
        let mut data = match detail {
            ResultDetail::Full => shown.value,
            ResultDetail::Compact => without_hits(shown.value),
        };
        let hits = hits_mut(&mut data).map(std::mem::take).unwrap_or_default();
        let costs = hits.iter().map(|hit| estimate_json(hit) + 1).collect();
        let rest = estimate_json(&data) + MEMBERS;
        if let Some(place) = hits_mut(&mut data) {
            *place = hits;
        }
        Self { data, members, detail, hits: costs, rest }
    }

    fn fits(&self, text: usize, entries: usize) -> bool {
        text <= CONTENT && text + entries + self.rest + self.hits.iter().sum::<usize>() <= RESULT
    }

    /// The richest entries that fit beside a text of this cost, else the leanest; whether they fit.
    fn richest(&self, page: &Page, text: usize) -> (Entries, bool) {
        for size in DATA_SIZES {
            let entries = Entries::of(page, size, self.detail);
            if self.fits(text, entries.cost()) {
                return (entries, true);
            }
        }
        (Entries::of(page, LEANEST, self.detail), false)
    }

    /// How many hits like these fit in the leanest way, at least one. What a hit costs is taken from those at hand.
    fn room_for(&self, page: &Page) -> usize {
        let count = page.hits.len().max(1);
        let lean = Entries::of(page, LEANEST, self.detail);
        let text = Text::longest(page, &[SHORTEST]).cost;
        let all: usize = self.hits.iter().sum();
        let fits = |some: &usize| {
            let share = |cost: usize| cost * some / count;
            let text = SUMMARY.min(text) + share(text.saturating_sub(SUMMARY));
            let data = if *some <= self.hits.len() { self.hits[..*some].iter().sum() } else { share(all) };
            let ladder = lean.ladder_cost * some.min(&MAX_RUNGS) / count.min(MAX_RUNGS);
            // Other hits are larger than these, so not everything is promised.
            let whole = text + data + ladder + share(lean.results_cost) + self.rest;
            text * 100 <= CONTENT * 98 && whole * 100 <= RESULT * 98
        };
        (1..=MAX_HITS).rev().find(fits).unwrap_or(1)
    }

    fn structured(self, entries: Entries) -> Value {
        let mut structured = Map::new();
        structured.insert("results".to_owned(), entries.results);
        if let Some(ladder) = entries.ladder {
            structured.insert("content_ladder".to_owned(), ladder);
        }
        structured.insert("data".to_owned(), self.data);
        structured.extend(self.members);
        structured.into()
    }
}

/// The places of a cursor, as a pointer and as a path.
const CURSORS: [(&str, &str); 2] =
    [("/next_cursor", "next_cursor"), ("/data/next_cursor", "data.next_cursor")];

fn cursors(body: &Value) -> [Option<Value>; 2] {
    CURSORS.map(|(pointer, _)| body.pointer(pointer).filter(|cursor| cursor.is_string()).cloned())
}

/// A sealed cursor looks like bytes, but it is a handle.
fn keep_cursors(shown: &mut Shown, cursors: [Option<Value>; 2]) {
    for ((pointer, path), cursor) in CURSORS.into_iter().zip(cursors) {
        if let (Some(cursor), Some(place)) = (cursor, shown.value.pointer_mut(pointer)) {
            *place = neutral(&cursor).value;
            shown.binary.retain(|known| known != path);
        }
    }
}
