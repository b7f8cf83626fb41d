//! `query_records`: one page of a stream.
//!
//! `data` is always one whole page of the server, so its cursor is right. A page that costs too much is asked
//! again with a smaller limit; only a single record that is too big by itself is cut, and every cut is listed.

mod body;
mod cut;
mod measured;
mod page;
#[cfg(test)]
mod tests;
mod text;

use pdpp_client::Request;

use self::page::Asking;
use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::expand;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};

/// Said on each of the tools that filter, in sentences that are short enough to be repeated.
pub(super) const FILTER_HELP: &str = "typed object filter, no pre-encoded query string. filter[field]=v, \
    filter[field][op]=v; gte gt lte lt. GET /v1/schema";

pub(crate) const SPEC: Spec = Spec {
    name: "query_records",
    title: "Query PDPP records",
    description: "Read-only. GET /v1/streams/{stream}/records: at most 25 records by default, capped at 100 \
        (REST: limit_clamped), fewer when large. Text previews up to the first 5 records; structured output: \
        structuredContent.data. Page with cursor, narrow with fields; prefer aggregate or search to wide reads. \
        Fields, connection_id, connector_key: GET /v1/schema.",
    params: &[
        Param::required("stream", Kind::Name, ""),
        Param::optional("limit", Kind::Integer { min: 1, max: Some(100) }, ""),
        Param::optional("cursor", Kind::Text, ""),
        Param::optional("order", Kind::Choice(&["asc", "desc"]), ""),
        Param::optional("sort", Kind::Text, "-field for descending; see sort= in schema"),
        Param::optional("count", Kind::Choice(&["none", "estimated", "exact"]), ""),
        Param::optional("filter", Kind::Filter, FILTER_HELP),
        Param::optional("fields", Kind::Texts, ""),
        Param::optional("view", Kind::Text, "one of views= in schema; excludes fields"),
        Param::optional("expand", Kind::Texts, ""),
        Param::optional("expand_limit", Kind::ExpandLimit, ""),
        Param::optional(
            "changes_since",
            Kind::Text,
            "beginning or next_changes_since. Do not pass an ISO timestamp.",
        ),
        Param::optional(
            "connection_id",
            Kind::Name,
            "when ambiguous: pick from available_connections by connector_key, pass its connection_id",
        ),
    ],
    output: &["data", "content_ladder", "provider_url", "request_id"],
    effect: Effect::Reads,
    in_read_set: true,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let stream = arguments.needed("stream");
    let connection_id = arguments.text("connection_id");
    let relations = expand::gate(&adapter, &arguments, stream, connection_id).await?.into();
    let request = request(&arguments);
    let asking = Asking { adapter: &adapter, arguments: &arguments, request, relations };
    asking.fitting_page().await.map(|page| page.outcome(&adapter))
}

fn request(arguments: &Arguments) -> Request {
    let stream = arguments.needed("stream");
    let texts = |request: Request, names: &[&str]| {
        names.iter().fold(request, |request, name| request.maybe(name, arguments.text(name)))
    };
    let request = Request::get(["v1", "streams", stream, "records"])
        .maybe("limit", arguments.integer("limit").map(|limit| limit.to_string()));
    let request = texts(request, &["cursor", "order", "sort", "count"]);
    let request = crate::filter::filtered(request, arguments.object("filter"))
        .each("fields", arguments.texts("fields"));
    let request = expand::expanded(texts(request, &["view"]), arguments);
    texts(request, &["changes_since", "connection_id"])
}
