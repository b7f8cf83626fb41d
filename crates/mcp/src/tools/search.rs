//! `search`: from a question to hits with proven evidence, and the exact call that reads on from each.

mod envelope;
mod fit;
mod hit;
mod marked;
mod mint;
mod notes;
mod page;
mod read;
mod structured;
mod value;
mod window;
mod written;

use pdpp_client::Request;

use super::query_records::FILTER_HELP;
use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::filter::filtered;
use crate::outcome::Outcome;
use crate::page_memory::Target;
use crate::params::{Kind, Param};
use fit::fitted;
use page::Wanted;

/// The most hits of one call, whatever was asked for: a result must fit what hosts show.
const MAX_HITS: usize = 10;
/// How often a page that does not fit is asked for again.
const MAX_REPEATS: usize = 3;

pub(crate) const SPEC: Spec = Spec {
    name: "search",
    title: "Search PDPP records",
    description: "Read-only. GET /v1/search (by mode /semantic, /hybrid): hits with excerpts that prove them, 10 per call \
                  (limit capped at 100); page with cursor. Ids are self-contained: for fetch, read_record_field. \
                  connection_id, connector_key: GET /v1/schema. filter takes one stream. Structured output: results, \
                  data. To count, aggregate.",
    params: &[
        Param::required("q", Kind::Text, ""),
        Param::optional("streams", Kind::Texts, ""),
        Param::optional("limit", Kind::Integer { min: 1, max: Some(100) }, ""),
        Param::optional("cursor", Kind::Text, ""),
        Param::optional("mode", Kind::Choice(&["lexical", "semantic", "hybrid"]), ""),
        Param::optional("filter", Kind::Filter, FILTER_HELP),
        Param::optional("connection_id", Kind::Name, ""),
    ],
    output: &["data", "results", "content_ladder", "provider_url", "request_id"],
    effect: Effect::Reads,
    in_read_set: true,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let requested =
        arguments.integer("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(MAX_HITS);
    let most = requested.min(MAX_HITS);
    let target = target(&adapter, &arguments);
    let known = adapter.pages.recall(target);
    let mut wanted = Wanted {
        query: arguments.needed("q"),
        requested,
        asked: known.map_or(most, |known| known.fits.min(most)),
        known: 0,
        provider_url: adapter.provider_url(),
    };
    let request = request(&arguments);
    let page = |asked: usize| request.clone().replacing("limit", asked.to_string());
    let mut best = fitted(&adapter, adapter.json(&page(wanted.asked)).await?, wanted);
    if wanted.asked < most && best.may_hide_more {
        // Nothing but the whole page tells what a smaller one leaves out.
        if let Ok(whole) = adapter.json(&page(most)).await {
            wanted.asked = most;
            best = fitted(&adapter, whole, wanted);
        }
    }
    let mut learnt = best.learn(known);
    for _ in 0..MAX_REPEATS {
        // A server that ignores limit would only send the same again.
        if best.fits || best.returned > wanted.asked || best.returned <= 1 {
            break;
        }
        let asked = best.room_for.min(best.returned - 1).max(1);
        // Whatever keeps the smaller page away, a grant for one use among it, the page at hand is still good.
        let Ok(again) = adapter.json(&page(asked)).await else { break };
        (wanted.asked, wanted.known) = (asked, wanted.known.max(best.returned));
        best = fitted(&adapter, again, wanted);
        learnt = best.learn(learnt);
    }
    // A server that gives no cursor is always asked for all, because nothing reaches what a smaller page leaves out.
    if let (Some(known), false) = (learnt, best.may_hide_more) {
        adapter.pages.keep(target, known);
    }
    Ok(best.outcome())
}

/// What decides the size of a hit: where it is looked for and how.
fn target(adapter: &Adapter, arguments: &Arguments) -> Target {
    let text = |name| arguments.text(name);
    adapter.pages.target(("search", [text("mode"), text("connection_id")], arguments.texts("streams")))
}

/// The request without its limit. Each mode has its own route, and none falls back to another.
fn request(arguments: &Arguments) -> Request {
    let route: &[&str] = match arguments.text("mode") {
        Some("semantic") => &["v1", "search", "semantic"],
        Some("hybrid") => &["v1", "search", "hybrid"],
        _ => &["v1", "search"],
    };
    let request = Request::get(route.iter().copied())
        .query("q", arguments.needed("q"))
        .each("streams", arguments.texts("streams"))
        .maybe("cursor", arguments.text("cursor"))
        .maybe("connection_id", arguments.text("connection_id"));
    filtered(request, arguments.object("filter"))
}
