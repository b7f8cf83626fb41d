//! A page as a result: rendered once, with what each part of it costs.

use pdpp_evidence::RecordHandle;
use serde_json::{Map, Value};

use super::page::{Page, Service};
use super::text;
use crate::Adapter;
use crate::arguments::Arguments;
use crate::outcome::Outcome;
use crate::record::Named;
use crate::shown::Shown;
use crate::tokens::{self, estimate_json, estimate_rows};
use crate::{bounded, ladder, record};

/// What a result may cost by our estimate; the rest is for the frame around both halves.
const BUDGET: usize = tokens::RESULT - 150;
/// What the members beside `data` cost.
const MEMBERS: usize = 100;
/// What the words about a shortened page cost.
const SHORTENED: usize = 60;
/// What the longest text costs as it stands in the result.
const LONGEST_TEXT: usize = tokens::CONTENT * 11 / 10;
/// What is listed about cuts in a record that is too big by itself.
const CUTS: usize = 1_500;

/// A page, ready to be shown.
pub(super) struct Measured {
    text: String,
    ladder: Option<Value>,
    data: Shown,
    /// What is not shown whole.
    cuts: Vec<bounded::Cut>,
    service: Service,
    shortened: Option<(usize, usize)>,
    request_id: Option<String>,
    /// What each row costs.
    rows: Vec<usize>,
    /// What stands around the rows.
    envelope: usize,
    /// The text as it stands in the result, and the ladder.
    text_cost: usize,
    ladder_cost: usize,
    /// Whether the text of a smaller page may be longer.
    text_may_grow: bool,
}

impl Measured {
    /// Renders and measures a page. Handles, text and ladder are made from the server's own values, before the
    /// boundary changes any.
    pub(super) fn of(adapter: &Adapter, arguments: &Arguments, page: Page) -> Self {
        let (stream, connection_id) = (arguments.needed("stream"), arguments.text("connection_id"));
        let rows = named(record::rows(&page.reply.body), stream, connection_id);
        let (ladder, ladder_cost) = ladder::record_set(adapter, &rows).unzip();
        let text = text::render(adapter, stream, &page, &rows);
        let only = match rows.as_slice() {
            [Named { handle, .. }] => handle.clone(),
            _ => None,
        };
        let mut measured = Self {
            text_cost: text.cost + escapes(&text.text),
            text_may_grow: text.cut,
            ladder_cost: ladder_cost.unwrap_or(0),
            text: text.text,
            ladder,
            cuts: Vec::new(),
            service: page.service,
            shortened: page.shortened(),
            request_id: page.reply.request_id,
            data: Shown { value: page.reply.body, replaced: 0, binary: Vec::new() },
            rows: Vec::new(),
            envelope: 0,
        };
        measured.data.redact_page();
        (measured.rows, measured.envelope) = costs(&mut measured.data.value);
        if measured.cost() > BUDGET {
            measured.text_cost = estimate_json(&Value::from(measured.text.as_str()));
        }
        measured.cut_to_fit(only.as_ref());
        measured.data.neutralise();
        measured
    }

    fn cost(&self) -> usize {
        self.rows.iter().sum::<usize>() + self.envelope + self.text_cost + self.ladder_cost
    }

    /// How many rows like these fit: of this page, or, when all of it does, of a larger one. Whoever asks again is
    /// careful, because a smaller page leaves more of the text to each of its records.
    pub(super) fn how_many_fit(&self, careful: bool) -> usize {
        let (count, all) = (self.rows.len(), self.rows.iter().sum::<usize>());
        let room = BUDGET.saturating_sub(self.envelope + self.text_cost + self.ladder_cost);
        if all <= room {
            // Some rows are larger than others, so not all of the rest is promised.
            let more = (room - all).saturating_sub(SHORTENED) * 9 / 10 * count / all.max(1);
            return count + more;
        }
        let fits = |text: usize| {
            let room = BUDGET.saturating_sub(self.envelope + text + self.ladder_cost + SHORTENED);
            let sums = self.rows.iter().scan(0, |spent, row| {
                *spent += row;
                Some(*spent)
            });
            sums.take_while(|spent| *spent <= room).count()
        };
        let many = fits(self.text_cost);
        let few = careful || self.text_may_grow || many < text::PREVIEWED;
        if few { fits(self.text_cost.max(LONGEST_TEXT)) } else { many }
    }

    /// The result.
    pub(super) fn outcome(self, adapter: &Adapter) -> Outcome {
        let mut structured = Map::new();
        let mut report = Map::new();
        self.data.report(&mut report);
        structured.insert("data".to_owned(), self.data.value);
        if let Some((requested, served)) = self.shortened {
            structured.insert("requested".to_owned(), requested.into());
            structured.insert("served".to_owned(), served.into());
        }
        bounded::report(self.cuts, &mut structured);
        structured.extend(report);
        if let Some(ladder) = self.ladder {
            structured.insert("content_ladder".to_owned(), ladder);
        }
        structured.insert("provider_url".to_owned(), adapter.provider_url().into());
        structured.insert("request_id".to_owned(), self.request_id.into());
        Outcome::new(self.text, structured.into())
    }

    /// Cuts a single record that is too big by itself.
    fn cut_to_fit(&mut self, handle: Option<&RecordHandle>) {
        let beside = self.text_cost + self.ladder_cost;
        let [row] = self.rows.as_slice() else { return };
        if self.service == Service::Unbounded || row + self.envelope + beside <= BUDGET {
            return;
        }
        let pointer = record::rows_pointer(&self.data.value).map(|pointer| format!("{pointer}/0"));
        if let Some(row) = pointer.and_then(|pointer| self.data.value.pointer_mut(&pointer)) {
            // The envelope around one row is small; what is listed about cuts takes the rest.
            self.cuts = bounded::fit_row(row, BUDGET.saturating_sub(beside + CUTS), handle);
        }
    }
}

fn named<'v>(rows: &'v [Value], stream: &str, connection_id: Option<&str>) -> Vec<Named<'v>> {
    rows.iter()
        .filter_map(Value::as_object)
        .map(|row| Named::new(row, record::identity(row, Some(stream), connection_id)))
        .collect()
}

/// What the text costs more inside of JSON, at most: each quote gets a mark before it, each line break a letter that
/// stands before the next word.
fn escapes(text: &str) -> usize {
    let cost = |byte| match byte {
        b'"' | b'\\' => 1,
        b'\n' | b'\t' => 2,
        _ => 0,
    };
    text.bytes().map(cost).sum()
}

/// What each row costs, and what the rest does.
fn costs(body: &mut Value) -> (Vec<usize>, usize) {
    let place = record::rows_pointer(body);
    let Some(held) = place.and_then(|place| body.pointer_mut(place)) else {
        return (Vec::new(), estimate_json(body) + MEMBERS);
    };
    let rows = held.take();
    let items = rows.as_array().map_or(&[][..], Vec::as_slice);
    let costs = estimate_rows(items);
    let envelope = estimate_json(body) + MEMBERS;
    if let Some(held) = place.and_then(|place| body.pointer_mut(place)) {
        *held = rows;
    }
    (costs, envelope)
}
