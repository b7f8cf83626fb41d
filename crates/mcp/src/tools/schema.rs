//! `schema`: what there is to read, first as an index, then field by field.

mod document;
mod fields;
mod line;
mod overview;
pub(crate) mod rows;
mod shrink;
mod text;

use pdpp_client::Request;
use pdpp_evidence::compact;
use pdpp_wire::Code;
use serde_json::{Value, json};

use super::{Effect, Spec};
use crate::Adapter;
use crate::adapter::Reply;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};
use crate::shown::shown;
use crate::tokens;

pub(crate) use document::prepared;
pub(crate) use fields::granted_fields;

pub(crate) const SPEC: Spec = Spec {
    name: "schema",
    title: "Get PDPP schema",
    description: "Read-only. GET /v1/schema: compact index of the granted streams, each with its connector_key and \
        connection_id; with `stream`, what each field can do. Path: schema -> schema(stream) -> schema(stream, \
        connection_id) -> query_records. detail: \"full\" (raw JSON Schema) is allowed only with `stream`.",
    params: &[
        Param::optional("detail", Kind::Choice(&["compact", "full"]), ""),
        Param::optional("stream", Kind::Name, ""),
        Param::optional("connection_id", Kind::Name, ""),
    ],
    output: &["data", "provider_url", "request_id"],
    effect: Effect::Reads,
    in_read_set: true,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

/// What part of the schema was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) stream: Option<&'a str>,
    pub(crate) connection_id: Option<&'a str>,
    pub(crate) full: bool,
}

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let wanted = Wanted {
        stream: arguments.text("stream"),
        connection_id: arguments.text("connection_id"),
        full: arguments.text("detail") == Some("full"),
    };
    let reply = if wanted.full { full(&adapter, wanted).await? } else { read(&adapter, wanted).await? };
    let today = adapter.settings.now.as_ref().map(crate::now::Now::date);
    let document = prepared(reply.body, wanted);
    let mut rows = rows::rows(&document);
    rows.retain(|row| wanted.stream.is_none_or(|name| row.name == name));
    let mut page = text::page(&document, &rows, wanted, today.as_deref());
    let data = if wanted.full {
        document::full(&document)
    } else {
        document::index(compact(&document), wanted.stream.is_some())
    };
    let room = tokens::RESULT.saturating_sub(tokens::CONTENT + 100);
    let data = match shrink::shrink(data, &rows, wanted, room) {
        shrink::Shrunk::Whole(data) => data,
        shrink::Shrunk::Shortened(data, note) => {
            page.push('\n');
            page.push_str(&note);
            data
        }
    };
    let shown = shown(&data);
    let mut structured =
        json!({"data": shown.value, "provider_url": adapter.provider_url(), "request_id": reply.request_id});
    if let Some(members) = structured.as_object_mut() {
        members.extend(today.map(|today| ("today".to_owned(), Value::from(today))));
        shown.report(members);
    }
    Ok(Outcome::new(page, structured))
}

fn request(wanted: Wanted<'_>) -> Request {
    Request::get(["v1", "schema"]).maybe("stream", wanted.stream).maybe("connection_id", wanted.connection_id)
}

/// The server decides whether full detail is unambiguous; nothing is checked here.
async fn full(adapter: &Adapter, wanted: Wanted<'_>) -> Result<Reply, Failure> {
    adapter.json(&request(wanted).query("detail", "full")).await
}

/// The compact schema. Servers without that view refuse the parameter; their whole schema is made compact here.
pub(crate) async fn read(adapter: &Adapter, wanted: Wanted<'_>) -> Result<Reply, Failure> {
    let refused = match adapter.json(&request(wanted).query("view", "compact")).await {
        Err(failure) if failure.http_status == Some(400) => failure,
        other => return other,
    };
    let unknown_view = [Code::InvalidRequest.as_str(), "bad_request", "unsupported_query"];
    if unknown_view.contains(&refused.code()) { adapter.json(&request(wanted)).await } else { Err(refused) }
}
