//! `fetch`: one record as a document, small enough to be read where it arrives.

mod document;
mod fields;
mod left_out;
mod metadata;
mod notes;
mod payload;
mod related;
mod room;

use pdpp_client::Request;
use pdpp_evidence::{HandleError, RecordHandle};
use pdpp_wire::Code;
use serde_json::Value;

use self::document::Record;
use self::payload::Payload;
use self::related::Related;
use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Kind, Param};
use crate::text::quoted;
use crate::{expand, record};

pub(crate) const SPEC: Spec = Spec {
    name: "fetch",
    title: "Fetch PDPP search result",
    description: "Read-only. GET /v1/streams/{stream}/records/{record_id}: one record as {id,title,text,url,\
        metadata}, in text and structured output. Narrow with fields; if the projection excludes every text-like \
        field, text is compact JSON for the projected record. Long text is cut: metadata.continuations has the next \
        calls. Prefer search or aggregate to many fetches. On ambiguous_connection (409) add connection_id, chosen by \
        connector_key.",
    params: &[
        Param::required(
            "id",
            Kind::Text,
            "connection_id/stream:record_id, stream:record_id or pdpp://record/..., as printed",
        ),
        Param::optional("fields", Kind::Texts, ""),
        Param::optional("expand", Kind::Texts, ""),
        Param::optional("expand_limit", Kind::ExpandLimit, ""),
        Param::optional("connection_id", Kind::Name, ""),
    ],
    output: &["id", "title", "text", "url", "metadata", "content_ladder"],
    effect: Effect::Reads,
    in_read_set: true,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let id = arguments.needed("id");
    let handle = RecordHandle::parse(id).map_err(|error| invalid_id(&error))?;
    let connection_id = match (handle.connection_id.as_deref(), arguments.text("connection_id")) {
        (Some(embedded), Some(given)) if embedded != given => return Err(conflict(embedded, given)),
        (embedded, given) => embedded.or(given).map(str::to_owned),
    };
    let relations = expand::gate(&adapter, &arguments, &handle.stream, connection_id.as_deref()).await?;
    let request = Request::get(["v1", "streams", &handle.stream, "records", &handle.record_id])
        .each("fields", arguments.texts("fields"));
    let request = expand::expanded(request, &arguments).maybe("connection_id", connection_id.as_deref());
    let reply = adapter.json(&request).await?;
    let Some(row) = record::single(&reply.body) else {
        let message = "The resource server's answer is no record. Check the provider URL.";
        return Err(Failure::adapter(Code::RsInvalidResponse, message));
    };
    // A URI names the same record as its plain form, and the plain form is what people and models pass on.
    let shown_id = if id.starts_with("pdpp://") { record::usable_id(&handle) } else { None };
    let shown_id = shown_id.unwrap_or_else(|| id.to_owned());
    let embeds = handle.connection_id.is_some();
    let connection_id = connection_id.or_else(|| record::connection_of(row).map(str::to_owned));
    let handle = RecordHandle { connection_id, ..handle };
    let read_id = if embeds { None } else { record::usable_id(&handle) };
    let read_id = read_id.unwrap_or_else(|| shown_id.clone());
    let roles = document::roles(&adapter, &handle, row).await;
    let (payload, related) = (Payload::of(row), Related::of(row, &handle, &relations));
    // A list of fields may be given as one word, which servers take apart.
    let asked = arguments.texts("fields").into_iter().flat_map(|list| list.split(',')).map(str::trim);
    let asked = &*asked.filter(|name| !name.is_empty()).collect::<Vec<_>>();
    let record =
        Record { adapter: &adapter, handle: &handle, shown_id, read_id, row, payload, related, asked, roles };
    let outcome = record.outcome();
    Ok(match handle.connection_id {
        Some(_) => outcome.resource("record", handle.uri()),
        None => outcome,
    })
}

fn invalid_id(error: &HandleError) -> Failure {
    let mut message = error.to_string();
    if !matches!(error, HandleError::NoGrammar) {
        message.push_str(
            "; pass `connection_id/stream:record_id` or `stream:record_id` exactly as a result printed it",
        );
    }
    Failure::adapter(Code::InvalidRecordId, message).param("id")
}

fn conflict(embedded: &str, given: &str) -> Failure {
    let bare = |text: &str| quoted(text, 200).trim_matches('"').to_owned();
    let message = format!(
        "id embeds connection_id '{}' but the connection_id argument is '{}'. {}",
        bare(embedded),
        bare(given),
        Code::ConflictingConnectionId.advice(),
    );
    Failure::adapter(Code::ConflictingConnectionId, message).param("connection_id")
}

/// A text that is not worth showing.
fn blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}
