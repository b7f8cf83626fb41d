//! A page as a result: rendered once, with what each part of it costs.

use std::sync::Arc;

use pdpp_evidence::RecordHandle;
use serde_json::{Map, Value};

use super::body::{Body, PlainPage};
use super::page::{Page, Service};
use super::text;
use crate::Adapter;
use crate::arguments::Arguments;
use crate::outcome::Outcome;
use crate::plain::write_text;
use crate::row::Named;
use crate::shown::Shown;
use crate::text::put;
use crate::tokens::{self, Scale, estimate_json, estimate_rows};
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
    /// As JSON.
    ladder: Option<String>,
    data: Data,
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
    /// Whether nothing had to be left out of the text.
    text_is_whole: bool,
}

/// The server's page, past the boundary of [`crate::shown`].
enum Data {
    Tree(Shown),
    /// It came as it may be shown.
    Plain(Arc<str>),
}

impl Measured {
    /// Renders and measures a page. One that was measured roughly and may not fit is measured closely.
    pub(super) fn of(adapter: &Adapter, arguments: &Arguments, page: Page) -> Self {
        let Body::Plain(plain) = &page.body else { return Self::measure(adapter, arguments, page) };
        let (scale, json) = (page.body.scale(), Arc::clone(&plain.json));
        let (service, wanted, known) = (page.service, page.wanted, page.known);
        let relations = Arc::clone(&page.relations);
        let measured = Self::measure(adapter, arguments, page);
        if scale == Scale::Close || (measured.text_is_whole && measured.cost() <= BUDGET) {
            return measured;
        }
        // What was read once is read again.
        let Some(plain) = PlainPage::of(json, Scale::Close) else { return measured };
        let page = Page {
            body: Body::Plain(plain),
            request_id: measured.request_id,
            service,
            wanted,
            known,
            relations,
        };
        Self::measure(adapter, arguments, page)
    }

    /// Renders and measures a page. Handles, text and ladder are made from the server's own values, before the
    /// boundary changes any.
    fn measure(adapter: &Adapter, arguments: &Arguments, page: Page) -> Self {
        let (stream, connection_id) = (arguments.needed("stream"), arguments.text("connection_id"));
        let rows = page.body.named(stream, connection_id);
        let (ladder, ladder_cost) = ladder::record_set(adapter, &rows).unzip();
        let text = text::render(adapter, stream, &page, &rows);
        let only = match rows.as_slice() {
            [Named { handle, .. }] => handle.clone(),
            _ => None,
        };
        let shortened = page.shortened();
        let (data, rows, envelope) = match page.body {
            Body::Plain(page) => (Data::Plain(page.json), page.costs, page.envelope_cost + MEMBERS),
            Body::Tree(value) => {
                let mut shown = Shown { value, replaced: 0, binary: Vec::new() };
                shown.redact_page();
                let (rows, envelope) = costs(&mut shown.value);
                (Data::Tree(shown), rows, envelope)
            }
        };
        let mut measured = Self {
            text_cost: text.cost + escapes(&text.text),
            text_may_grow: text.cut,
            text_is_whole: text.whole,
            ladder_cost: ladder_cost.unwrap_or(0),
            text: text.text,
            ladder,
            cuts: Vec::new(),
            service: page.service,
            shortened,
            request_id: page.request_id,
            data,
            rows,
            envelope,
        };
        if measured.cost() > BUDGET {
            measured.text_cost = estimate_json(&Value::from(measured.text.as_str()));
        }
        measured.cut_to_fit(only.as_ref());
        if let Data::Tree(shown) = &mut measured.data {
            shown.neutralise();
        }
        measured
    }

    /// What each row costs, and what stands around them.
    #[cfg(test)]
    pub(super) fn costs(&self) -> (&[usize], usize) {
        (&self.rows, self.envelope)
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
        let mut beside = Map::new();
        if let Some((requested, served)) = self.shortened {
            beside.insert("requested".to_owned(), requested.into());
            beside.insert("served".to_owned(), served.into());
        }
        bounded::report(self.cuts, &mut beside);
        if let Data::Tree(shown) = &self.data {
            shown.report(&mut beside);
        }
        let provider_url = adapter.provider_url();
        match self.data {
            Data::Tree(shown) => {
                if let Some(ladder) = self.ladder {
                    // We wrote it ourselves.
                    let ladder = serde_json::from_str(&ladder).unwrap_or_default();
                    beside.insert("content_ladder".to_owned(), ladder);
                }
                beside.insert("provider_url".to_owned(), provider_url.into());
                beside.insert("request_id".to_owned(), self.request_id.into());
                beside.shift_insert(0, "data".to_owned(), shown.value);
                Outcome::new(self.text, beside.into())
            }
            Data::Plain(page) => {
                let ladder = self.ladder.unwrap_or_default();
                let mut json = String::with_capacity(page.len() + ladder.len() + 512);
                json.push_str("{\"data\":");
                json.push_str(&page);
                for (name, value) in beside {
                    json.push(',');
                    write_text(&mut json, &name);
                    json.push(':');
                    json.push_str(&value.to_string());
                }
                if !ladder.is_empty() {
                    put(&mut json, ",\"content_ladder\":", &ladder);
                }
                json.push_str(",\"provider_url\":");
                write_text(&mut json, provider_url);
                json.push_str(",\"request_id\":");
                match self.request_id {
                    Some(id) => write_text(&mut json, &id),
                    None => json.push_str("null"),
                }
                json.push('}');
                Outcome::written(self.text, json)
            }
        }
    }

    /// Cuts a single record that is too big by itself.
    fn cut_to_fit(&mut self, handle: Option<&RecordHandle>) {
        let beside = self.text_cost + self.ladder_cost;
        let [row] = self.rows.as_slice() else { return };
        if self.service == Service::Unbounded || row + self.envelope + beside <= BUDGET {
            return;
        }
        let data = self.data.tree();
        let pointer = record::rows_pointer(data).map(|pointer| format!("{pointer}/0"));
        if let Some(row) = pointer.and_then(|pointer| data.pointer_mut(&pointer)) {
            // The envelope around one row is small; what is listed about cuts takes the rest.
            self.cuts = bounded::fit_row(row, BUDGET.saturating_sub(beside + CUTS), handle);
            self.ladder = self.ladder.take().map(|ladder| ladder::with_cuts(&ladder, handle, &self.cuts));
        }
    }
}

impl Data {
    /// The page as a tree, to be changed.
    fn tree(&mut self) -> &mut Value {
        if let Self::Plain(page) = self {
            // It was read before, so that it is JSON.
            let value = serde_json::from_str(page).unwrap_or_default();
            *self = Self::Tree(Shown { value, replaced: 0, binary: Vec::new() });
        }
        match self {
            Self::Tree(shown) => &mut shown.value,
            Self::Plain(_) => unreachable!("it was made a tree"),
        }
    }
}

/// What the text costs more inside of JSON, at most: each quote gets a mark before it, each line break a letter that
/// stands before the next word.
fn escapes(text: &str) -> usize {
    // Counted bytewise over pieces that no count of bytes overflows in, many bytes go at once.
    let cost =
        |byte: u8| u8::from(byte == b'"' || byte == b'\\') + 2 * u8::from(byte == b'\n' || byte == b'\t');
    text.as_bytes()
        .chunks(64)
        .map(|piece| usize::from(piece.iter().fold(0, |sum: u8, byte| sum.wrapping_add(cost(*byte)))))
        .sum()
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
