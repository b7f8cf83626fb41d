//! The tools: one file each, one table of all.

mod aggregate;
mod events;
mod fetch;
pub(crate) mod fetch_blob;
mod list_streams;
mod query_records;
mod read_record_field;
pub(crate) mod schema;
mod search;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::Adapter;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::params::{Param, input_schema};

/// One tool: what clients see of it, and what it does.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) params: &'static [Param],
    /// The members of `structuredContent`, beside `error`.
    pub(crate) output: &'static [&'static str],
    pub(crate) effect: Effect,
    /// Whether the small set lists it.
    pub(crate) in_read_set: bool,
    pub(crate) run: fn(Adapter, Arguments) -> BoxFuture<'static, Result<Outcome, Failure>>,
}

/// What calling a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Changes,
    Destroys,
}

/// Every tool, in the order of `tools/list`.
pub(crate) const TABLE: &[&Spec] = &[
    &schema::SPEC,
    &list_streams::SPEC,
    &query_records::SPEC,
    &aggregate::SPEC,
    &search::SPEC,
    &fetch::SPEC,
    &read_record_field::SPEC,
    &fetch_blob::SPEC,
    &events::DISCOVER,
    &events::CREATE,
    &events::LIST,
    &events::GET,
    &events::UPDATE,
    &events::DELETE,
    &events::TEST,
];

impl Spec {
    /// The tool as clients list it.
    pub(crate) fn tool(&self) -> Tool {
        let mut tool = Tool::new(self.name, self.description, Arc::new(input_schema(self.params)));
        tool.title = Some(self.title.to_owned());
        tool.output_schema = Some(Arc::new(self.output_schema()));
        let reads = self.effect == Effect::Reads;
        tool.annotations = Some(
            ToolAnnotations::new()
                .read_only(reads)
                .destructive(self.effect == Effect::Destroys)
                .idempotent(self.effect != Effect::Changes)
                .open_world(false),
        );
        tool
    }

    /// Nothing is required: an error result has `error` and none of the rest, and clients check both.
    fn output_schema(&self) -> Map<String, Value> {
        let mut properties: Map<String, Value> =
            self.output.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        properties.insert("error".to_owned(), json!({"type": "object"}));
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema
    }
}
