//! One page that fits: what the server sends is measured, and asked again smaller when it costs too much.

use pdpp_client::Request;
use pdpp_evidence::redact;
use serde_json::{Value, json};

use super::{named, text};
use crate::Adapter;
use crate::adapter::Reply;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::{bounded, ladder, record, tokens};

/// What a result may cost by our estimate; the rest is for the frame around both halves.
pub(super) const BUDGET: usize = tokens::RESULT - 150;
/// The most a server serves when no limit is given.
const MAX_LIMIT: usize = 100;
/// What the words about a shortened page cost.
const SHORTENED: usize = 60;
/// How often a page is asked again. Once is enough unless records grow in between.
const ATTEMPTS: usize = 3;

/// Whether the server keeps to limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Bounded,
    /// It sent more than it was asked for, so asking for less would change nothing.
    Unbounded,
}

/// A page as it is shown.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) reply: Reply,
    pub(super) service: Service,
    /// How many records the caller would have got, when that was too much.
    wanted: Option<usize>,
}

impl Page {
    /// How many records were wanted and how many are here, when the page was made smaller.
    pub(super) fn shortened(&self) -> Option<(usize, usize)> {
        self.wanted.map(|wanted| (wanted, record::rows(&self.reply.body).len()))
    }
}

/// Asks for a page that fits a result.
pub(super) async fn fitting(
    adapter: &Adapter,
    request: &Request,
    arguments: &Arguments,
) -> Result<Page, Failure> {
    let asked = arguments.integer("limit").and_then(|limit| usize::try_from(limit).ok());
    let mut limit = asked.unwrap_or(MAX_LIMIT);
    let mut page = Page { reply: adapter.json(request).await?, service: Service::Bounded, wanted: None };
    for _ in 0..ATTEMPTS {
        let rows = record::rows(&page.reply.body).len();
        if rows > limit {
            page.service = Service::Unbounded;
            return Ok(page);
        }
        let fits = how_many_fit(adapter, arguments, &page);
        if rows <= 1 || fits >= rows {
            return Ok(page);
        }
        page.wanted = page.wanted.or(asked).or(Some(rows));
        limit = fits.max(1);
        page.reply = adapter.json(&request.clone().replacing("limit", limit.to_string())).await?;
    }
    Ok(page)
}

/// How many of the page's rows fit beside the text, the ladder and the envelope.
fn how_many_fit(adapter: &Adapter, arguments: &Arguments, page: &Page) -> usize {
    let (stream, connection_id) = (arguments.needed("stream"), arguments.text("connection_id"));
    let body = &page.reply.body;
    let (redacted, _) = redact(body);
    let costs: Vec<usize> = record::rows(&redacted).iter().map(|row| bounded::cost(row) + 1).collect();
    let envelope = envelope_cost(&redacted);
    let beside = |count: usize| {
        let named = named(&record::rows(body)[..count], stream, connection_id);
        let text = text::render(adapter, stream, page, &named);
        let ladder = ladder::record_set(adapter, &named).map_or(0, |ladder| tokens::estimate_json(&ladder));
        envelope + tokens::estimate_json(&json!(text)) + ladder
    };
    let data = |count: usize| costs[..count].iter().sum::<usize>();
    if data(costs.len()) + beside(costs.len()) <= BUDGET {
        return costs.len();
    }
    // Fewer rows leave more of the text to each, so the rest is measured anew for every count that may do.
    let mut count = (1..costs.len()).take_while(|count| data(*count) + envelope <= BUDGET).count();
    while count > 0 && data(count) + beside(count) + SHORTENED > BUDGET {
        count -= 1;
    }
    count
}

fn envelope_cost(body: &Value) -> usize {
    let mut envelope = body.clone();
    if let Some(rows) = record::rows_pointer(body).and_then(|pointer| envelope.pointer_mut(pointer)) {
        *rows = Value::Null;
    }
    bounded::cost(&envelope) + 100
}
