//! The envelope of successful JSON reads: lists, links, counts and warnings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ConnectionId;
use crate::literal::ListObject;

/// One page of a list.
///
/// `next_cursor` is absent on the last page: strict clients refuse a cursor beside
/// `has_more: false`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub struct List<T> {
    /// Always `list`.
    pub object: ListObject,
    /// The request path, without the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The entries of this page.
    pub data: Vec<T>,
    /// Whether another page follows.
    pub has_more: bool,
    /// Send this as `cursor` to read the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Send this as `changes_since` next time to read only what changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_changes_since: Option<String>,
    /// Where this page is, and the next one.
    pub links: PageLinks,
    /// Counts and warnings.
    pub meta: Meta,
}

/// Links of a body without pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    /// The request's own path and query, as received.
    #[serde(rename = "self")]
    pub this: String,
}

/// Links of a body with pages: `next` is always present and null on the last page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageLinks {
    /// The request's own path and query, as received.
    #[serde(rename = "self")]
    pub this: String,
    /// The path and query of the next page, or null.
    pub next: Option<String>,
}

/// What accompanies the data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// The total, when one was asked for.
    pub count: Count,
    /// What the reader should know; a warning never changes the status.
    pub warnings: Vec<Warning>,
    /// Total and time bounds, when `window=exact` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<CorpusWindow>,
}

/// The total over everything the request could read, whatever the page holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Count {
    /// No total was asked for.
    #[default]
    None,
    /// The exact total.
    Exact {
        /// How many.
        value: u64,
    },
}

/// The total and the first and last time of everything the request could read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CorpusWindow {
    /// How many records.
    pub total: u64,
    /// The earliest value of the stream's consent time field; present together with `latest_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest_at: Option<String>,
    /// The latest value of the stream's consent time field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_at: Option<String>,
}

/// Something the reader should know beside the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// What clients branch on.
    pub code: WarningCode,
    /// For people.
    pub message: String,
    /// The parameter concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// Facts that belong to the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
    /// The connection concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// The field concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

/// The closed set of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// `limit` or `limit_chars` was above the route's maximum and was lowered to it.
    LimitClamped,
    /// The deprecated parameter `connector_instance_id` was sent.
    DeprecatedAliasUsed,
    /// Pages of some connections were left unread.
    PartialResults,
    /// A requested count could not be produced.
    CountDowngraded,
    /// Search left out a source.
    SourceSkippedNotApplicable,
    /// Reserved.
    CompatibilityFallback,
}

impl Meta {
    /// No count, no window, these warnings, each said once.
    pub fn with_warnings(warnings: Vec<Warning>) -> Self {
        let mut once: Vec<Warning> = Vec::with_capacity(warnings.len());
        for warning in warnings {
            if !once.contains(&warning) {
                once.push(warning);
            }
        }
        Self { warnings: once, ..Self::default() }
    }
}

impl Warning {
    /// A warning about one parameter.
    pub fn about(code: WarningCode, param: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            param: Some(param.to_owned()),
            detail: None,
            connection_id: None,
            field: None,
        }
    }
}
