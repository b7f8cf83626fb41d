//! Making a page fit what a host shows of a result: shorter previews first, then a smaller page.
//!
//! Hits are never dropped from a page that was served, because the server's cursor is already past them.

use serde_json::{Map, Value};

use super::envelope::{first_hits, without_hits};
use super::page::{Page, Wanted};
use super::structured::{DATA_SIZES, DataSize, LEANEST, ladder, results};
use super::written::{TEXT_SIZES, written};
use crate::adapter::Reply;
use crate::outcome::Outcome;
use crate::shown::{neutral, shown};
use crate::tokens::{CONTENT, RESULT, estimate, estimate_json};
use crate::{Adapter, ResultDetail};

/// A page as it would be shown.
#[derive(Debug)]
pub(super) struct Fitted {
    text: String,
    structured: Value,
    /// How many hits the server sent.
    pub(super) returned: usize,
    /// Whether it costs no more than it may.
    pub(super) fits: bool,
}

impl Fitted {
    /// The result.
    pub(super) fn outcome(self) -> Outcome {
        Outcome::new(self.text, self.structured)
    }
}

/// Shows an answer in the richest way that fits, or in the leanest.
pub(super) fn fitted(adapter: &Adapter, reply: &Reply, wanted: Wanted<'_>) -> Fitted {
    let mut page = Page::read(&reply.body, wanted);
    let frame = Frame::new(adapter, reply, &mut page);
    let mut text = String::new();
    for size in TEXT_SIZES {
        text = written(&page, size);
        if estimate(&text) <= CONTENT {
            break;
        }
    }
    let shortest = written(&page, TEXT_SIZES[TEXT_SIZES.len() - 1]);
    let (mut structured, mut fits) = (Value::Null, false);
    // Data is trimmed before readable text is, and both before the page is made smaller.
    for (size, shorten) in DATA_SIZES.into_iter().map(|size| (size, false)).chain([(LEANEST, true)]) {
        if shorten {
            text.clone_from(&shortest);
        }
        let cost = estimate(&text);
        structured = frame.structured(&page, size);
        fits = cost <= CONTENT && cost + estimate_json(&structured) <= RESULT;
        if fits {
            break;
        }
    }
    if !fits {
        text.push_str(
            " This result is larger than results should be; ask for fewer with limit, or narrow the search.",
        );
    }
    Fitted { text, structured, returned: page.returned, fits }
}

/// How many of the hits would fit, judged by those at hand; at least one.
pub(super) fn smaller(adapter: &Adapter, reply: &Reply, wanted: Wanted<'_>, returned: usize) -> usize {
    let fits = |count: &usize| {
        let part = Reply { body: first_hits(&reply.body, *count), ..reply.clone() };
        fitted(adapter, &part, wanted).fits
    };
    (1..returned).rev().find(fits).unwrap_or(1)
}

/// What stands in the structure whatever the previews are cut to.
struct Frame {
    data: Value,
    members: Map<String, Value>,
    report: Map<String, Value>,
    detail: ResultDetail,
}

impl Frame {
    fn new(adapter: &Adapter, reply: &Reply, page: &mut Page) -> Self {
        let mut shown = shown(&reply.body);
        keep_cursor(&mut shown.value, &reply.body, &mut shown.binary);
        if shown.replaced > 0 {
            page.notes.push(format!("unsafe_chars_replaced={}.", shown.replaced));
        }
        let mut report = Map::new();
        shown.report(&mut report);
        let detail = adapter.settings.detail;
        let data = match detail {
            ResultDetail::Full => shown.value,
            ResultDetail::Compact => without_hits(shown.value),
        };
        let mut members = Map::new();
        members.insert("provider_url".to_owned(), adapter.provider_url().into());
        members.insert("request_id".to_owned(), reply.request_id.as_deref().into());
        Self { data, members, report, detail }
    }

    fn structured(&self, page: &Page, size: DataSize) -> Value {
        let mut structured = Map::new();
        structured.insert("results".to_owned(), results(page, size, self.detail));
        if let Some(ladder) = ladder(page, size) {
            structured.insert("content_ladder".to_owned(), ladder);
        }
        structured.insert("data".to_owned(), self.data.clone());
        structured.extend(self.members.clone());
        structured.extend(self.report.clone());
        structured.into()
    }
}

/// A sealed cursor looks like bytes, but it is a handle.
fn keep_cursor(data: &mut Value, body: &Value, binary: &mut Vec<String>) {
    for (pointer, path) in [("/next_cursor", "next_cursor"), ("/data/next_cursor", "data.next_cursor")] {
        let cursor = body.pointer(pointer).filter(|cursor| cursor.is_string());
        if let (Some(cursor), Some(shown)) = (cursor, data.pointer_mut(pointer)) {
            *shown = neutral(cursor).value;
            binary.retain(|known| known != path);
        }
    }
}
