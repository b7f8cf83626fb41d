//! The disclosure ledger: who read what, when, through which door; never the content.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pdpp_wire::{ClientId, Code, ConnectionId, GrantId, Instant, StreamName, SubjectId, TokenId};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Keeps disclosures.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Appends entries; when it returns they are committed.
    async fn append_disclosures(&self, entries: Vec<Disclosure>) -> Result<(), StoreError>;

    /// Entries, newest first.
    async fn list_disclosures(
        &self,
        subject_id: &SubjectId,
        filter: &DisclosureFilter,
    ) -> Result<Vec<Disclosure>, StoreError>;

    /// How many entries there are on each day (UTC) that has any, oldest first. The filter's limit does not count.
    async fn count_by_day(
        &self,
        subject_id: &SubjectId,
        filter: &DisclosureFilter,
    ) -> Result<Vec<DayCount>, StoreError> {
        let all = DisclosureFilter { limit: u32::MAX, ..filter.clone() };
        let mut days: BTreeMap<i64, DayCount> = BTreeMap::new();
        for entry in self.list_disclosures(subject_id, &all).await? {
            let day = entry.at.unix_seconds().div_euclid(86_400);
            let counted = days.entry(day).or_insert(DayCount { day, served: 0, refused: 0 });
            *(if entry.refused.is_some() { &mut counted.refused } else { &mut counted.served }) += 1;
        }
        Ok(days.into_values().collect())
    }

    /// Drops entries older than this; says how many.
    async fn prune_disclosures(&self, subject_id: &SubjectId, before: Instant) -> Result<u64, StoreError>;
}

/// Through which door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// REST under `/v1`.
    Rest,
    /// MCP over HTTP.
    Mcp,
    /// MCP over stdio on the data directory.
    McpLocal,
    /// The command line on the data directory.
    Cli,
    /// The authorization server: no records pass here, only consent, tokens and their end.
    #[serde(rename = "oauth")]
    OAuth,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disclosure {
    /// When.
    pub at: Instant,
    /// Whose data.
    pub subject_id: SubjectId,
    /// The request's id.
    pub request_id: String,
    /// Through which door.
    pub door: Door,
    /// Which client; `None` for the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// Under which grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant_ids: Vec<GrantId>,
    /// With which token, by its public name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
    /// What kind of read: `records`, `record`, `field_window`, `aggregate`, `blob`, …
    pub action: String,
    /// The refusal; `None` when the read was served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Code>,
    /// Which stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamName>,
    /// Which connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connection_ids: Vec<ConnectionId>,
    /// How many records were disclosed.
    #[serde(default)]
    pub record_count: u64,
    /// Their keys, up to a hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_keys: Vec<String>,
    /// The shown fields; empty means all (owner).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// The shown characters of a field window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub char_range: Option<(u64, u64)>,
    /// The query text, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The filtered fields' names, never the operands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter_fields: Vec<String>,
    /// What else is known, in a few words of the program's own or an error code; never a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Disclosure {
    /// Whether a reader stood at the door, so that a served entry is a use of its grants.
    pub fn is_read(&self) -> bool {
        self.door != Door::OAuth
    }
}

/// What happened on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// Days since the Unix epoch, in UTC.
    pub day: i64,
    /// What was served.
    pub served: u64,
    /// What was refused.
    pub refused: u64,
}

/// Which entries to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisclosureFilter {
    /// Only this client.
    pub client_id: Option<ClientId>,
    /// Only this grant.
    pub grant_id: Option<GrantId>,
    /// Only this stream.
    pub stream: Option<StreamName>,
    /// Not before.
    pub since: Option<Instant>,
    /// Before.
    pub until: Option<Instant>,
    /// Only refusals.
    pub refused_only: bool,
    /// At most so many.
    pub limit: u32,
}
