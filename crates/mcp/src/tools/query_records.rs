//! `query_records`: one page of a stream.
//!
//! `data` is always one whole page of the server, so its cursor is right. A page that costs too much is asked
//! again with a smaller limit; only a single record that is too big by itself is cut, and every cut is listed.

mod page;
mod text;

use pdpp_client::Request;
use pdpp_evidence::{RecordHandle, redact};
use serde_json::{Map, Value, json};

use self::page::{Page, Service};
use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};
use crate::shown::{Shown, neutral};
use crate::{bounded, expand, ladder, record, tokens};

/// Said on each of the tools that filter.
pub(super) const FILTER_HELP: &str = "typed object filter, no pre-encoded query string: filter[field]=v, \
    filter[field][op]=v; op gte gt lte lt; fields: GET /v1/schema";

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
        Param::optional("order", Kind::Text, ""),
        Param::optional("sort", Kind::Text, "-field for descending; see sort= in schema"),
        Param::optional("count", Kind::Choice(&["none", "estimated", "exact"]), ""),
        Param::optional("filter", Kind::Filter, FILTER_HELP),
        Param::optional("fields", Kind::Texts, ""),
        Param::optional("view", Kind::Text, ""),
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
    expand::gate(&adapter, &arguments, stream, connection_id).await?;
    let page = page::fitting(&adapter, &request(&arguments), &arguments).await?;
    Ok(render(&adapter, stream, connection_id, &page))
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

/// Rows with the records they stand for.
type Named<'v> = Vec<(Option<RecordHandle>, &'v Map<String, Value>)>;

fn named<'v>(rows: &'v [Value], stream: &str, connection_id: Option<&str>) -> Named<'v> {
    rows.iter()
        .filter_map(Value::as_object)
        .map(|row| (record::identity(row, Some(stream), connection_id), row))
        .collect()
}

fn render(adapter: &Adapter, stream: &str, connection_id: Option<&str>, page: &Page) -> Outcome {
    let body = &page.reply.body;
    let rows = named(record::rows(body), stream, connection_id);
    let ladder = ladder::record_set(adapter, &rows);
    let text = text::render(adapter, stream, page, &rows);

    let (mut data, binary) = redact(body);
    let mut cuts = Vec::new();
    if let (Service::Bounded, [(handle, _)], Some(pointer)) =
        (page.service, &*rows, record::rows_pointer(body))
    {
        let beside = tokens::estimate_json(&json!(text)) + ladder.as_ref().map_or(0, tokens::estimate_json);
        let fits = bounded::cost(&data) + beside <= page::BUDGET;
        if let (false, Some(row)) = (fits, data.pointer_mut(&format!("{pointer}/0"))) {
            // The envelope around one row is small; what is listed about cuts takes the rest.
            cuts = bounded::fit_row(row, page::BUDGET.saturating_sub(beside + 1_500), handle.as_ref());
        }
    }
    let data = Shown { binary, ..neutral(&data) };

    let mut structured = Map::new();
    structured.insert("data".to_owned(), data.value.clone());
    if let Some((requested, served)) = page.shortened() {
        structured.insert("requested".to_owned(), requested.into());
        structured.insert("served".to_owned(), served.into());
    }
    bounded::report(cuts, &mut structured);
    data.report(&mut structured);
    if let Some(ladder) = ladder {
        structured.insert("content_ladder".to_owned(), ladder);
    }
    structured.insert("provider_url".to_owned(), adapter.provider_url().into());
    structured.insert("request_id".to_owned(), page.reply.request_id.clone().into());
    Outcome::new(text, structured.into())
}
