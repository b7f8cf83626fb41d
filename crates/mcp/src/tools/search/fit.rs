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
use crate::tokens::{CONTENT, RESULT, estimate, estimate_json, estimate_rows};
use crate::{Adapter, ResultDetail};

/// What the members of the structure cost beside the envelope, the entries and the ladder.
const MEMBERS: usize = 80;
/// What the next richer form of a hit costs more, at least.
const LEAST_GAIN: usize = 20;
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
    /// Whether the page is as large as was asked for and has no cursor, so that nothing says what comes after it.
    pub(super) may_hide_more: bool,
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
    // A page that was made smaller is likely to leave no room for more than the least.
    let made_smaller = wanted.asked < wanted.requested.min(MAX_HITS);
    let rich = if made_smaller { None } else { frame.fitting(&page, text.cost, &DATA_SIZES[..1]) };
    let mut fits = true;
    let mut room_for = page.returned;
    let entries = rich.unwrap_or_else(|| {
        let lean = Entries::of(&page, LEANEST, frame.detail);
        fits = frame.fits(text.cost, lean.cost());
        // Data is trimmed before readable text is, and both before the page is made smaller.
        if !fits {
            text = Text::longest(&page, &[SHORTEST]);
            fits = frame.fits(text.cost, lean.cost());
        }
        // A page that fits may do so by a shorter text the next time.
        let least = if fits { page.returned } else { 1 };
        room_for = frame.room_for(&page, &lean, text.cost).max(least);
        let spare = frame.spare(text.cost + lean.cost());
        let richer = spare > page.hits.len() * LEAST_GAIN;
        let sizes = if made_smaller { &DATA_SIZES[..] } else { &DATA_SIZES[1..] };
        let richer = if richer { frame.fitting(&page, text.cost, sizes) } else { None };
        richer.unwrap_or(lean)
    });
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
        may_hide_more: page.returned == wanted.asked && page.next_cursor.is_none(),
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
        Self::results(page, size, detail).with_ladder(page, size)
    }

    /// Without the ladder.
    fn results(page: &Page, size: DataSize, detail: ResultDetail) -> Self {
        let results = results(page, size, detail);
        let results_cost = estimate_rows(results.as_array().map_or(&[], Vec::as_slice)).iter().sum();
        Self { results, ladder: None, results_cost, ladder_cost: 0 }
    }

    fn with_ladder(self, page: &Page, size: DataSize) -> Self {
        let ladder = ladder(page, size);
        let ladder_cost = ladder.as_ref().map_or(0, estimate_json);
        Self { ladder, ladder_cost, ..self }
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
        let mut shown = Shown::of_page(reply.body);
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
        let costs = estimate_rows(&hits);
        let rest = estimate_json(&data) + MEMBERS;
        if let Some(place) = hits_mut(&mut data) {
            *place = hits;
        }
        Self { data, members, detail, hits: costs, rest }
    }

    fn fits(&self, text: usize, entries: usize) -> bool {
        text <= CONTENT && self.spare(text + entries) > 0
    }

    /// What is left beside a text and entries of this cost, and the envelope.
    fn spare(&self, beside: usize) -> usize {
        (RESULT + 1).saturating_sub(beside + self.rest + self.hits.iter().sum::<usize>())
    }

    /// The first of these sizes whose entries fit beside a text of this cost.
    fn fitting(&self, page: &Page, text: usize, sizes: &[DataSize]) -> Option<Entries> {
        sizes.iter().find_map(|size| {
            let fits = |entries: &Entries| self.fits(text, entries.cost());
            // What does not fit alone need not be given a ladder to know that.
            let results = Some(Entries::results(page, *size, self.detail)).filter(fits)?;
            Some(results.with_ladder(page, *size)).filter(fits)
        })
    }

    /// How many hits like these fit in the leanest way beside a text like this, at least one.
    fn room_for(&self, page: &Page, lean: &Entries, text: usize) -> usize {
        let count = page.hits.len().max(1);
        let all: usize = self.hits.iter().sum();
        let fits = |some: &usize| {
            let share = |cost: usize| cost * some / count;
            let text = SUMMARY.min(text) + share(text.saturating_sub(SUMMARY));
            let data = if *some <= self.hits.len() { self.hits[..*some].iter().sum() } else { share(all) };
            let ladder = lean.ladder_cost * some.min(&MAX_RUNGS) / count.min(MAX_RUNGS);
            let whole = text + data + ladder + share(lean.results_cost) + self.rest;
            // Other hits are larger than these, so not everything is promised.
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
