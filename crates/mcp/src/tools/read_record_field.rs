//! `read_record_field`: one bounded window of one field, with exact offsets and the calls that read on.

use super::{Effect, Spec};
use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::field_window::{Selector, read};
use crate::outcome::Outcome;
use crate::params::{Kind, Param};

/// The most context around a match, in characters.
const MAX_CONTEXT: u64 = pdpp_evidence::MAX_CONTEXT_CHARS as u64;
/// The longest window, in characters.
const MAX_LIMIT: u64 = pdpp_evidence::MAX_LIMIT_CHARS as u64;

pub(crate) const SPEC: Spec = Spec {
    name: "read_record_field",
    title: "Read PDPP record field window",
    description: "Read-only. GET /v1/streams/{stream}/records/{record_id}/field-window: a bounded window of one \
                  text or JSON field, inline, with offsets and next/previous arguments. Give `id` (or \
                  connection_id, stream and record_id together) and `field_path`; start at `offset_chars` or \
                  `cursor`, or at the first match of `q`.",
    params: &[
        Param::optional(
            "id",
            Kind::Text,
            "connection_id/stream:record_id, pdpp://record/... or pdpp://field-window/...",
        ),
        Param::optional("connection_id", Kind::Name, ""),
        Param::optional("stream", Kind::Name, ""),
        Param::optional("record_id", Kind::Name, ""),
        Param::required("field_path", Kind::Name, ""),
        Param::optional("cursor", Kind::Text, ""),
        Param::optional("offset_chars", Kind::Integer { min: 0, max: None }, ""),
        Param::optional("limit_chars", Kind::Integer { min: 1, max: Some(MAX_LIMIT) }, "default 4096"),
        Param::optional("q", Kind::Text, ""),
        Param::optional("before_chars", Kind::Integer { min: 0, max: Some(MAX_CONTEXT) }, ""),
        Param::optional("after_chars", Kind::Integer { min: 0, max: Some(MAX_CONTEXT) }, ""),
    ],
    output: &["record", "field", "window", "next", "previous", "provider_url", "request_id"],
    effect: Effect::Reads,
    in_read_set: true,
    run: |adapter, arguments| Box::pin(run(adapter, arguments)),
};

async fn run(adapter: Adapter, arguments: Arguments) -> Result<Outcome, Failure> {
    let selector = Selector::from_arguments(&arguments)?;
    let window = read(&adapter, &selector).await?;
    Ok(window.outcome(adapter.provider_url()))
}
