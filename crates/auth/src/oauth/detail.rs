//! One `authorization_details` entry (RFC 9396) of the one type this server knows.
//!
//! The shape is closed: a member nobody knows could mean a limit nobody would keep.

use std::collections::{BTreeMap, BTreeSet};

use pdpp_access::Source;
use pdpp_wire::{
    AccessMode, ConnectionId, GrantSource, OAuthCode, RecordKey, Retention, SelectionRequest, SourceKind,
    StreamSelection, TimeRange,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OAuthFault;

/// The type of every entry.
pub const DATA_ACCESS: &str = "https://pdpp.dev/data-access";

const MAX_DETAILS: usize = 16;
const MAX_STREAMS: usize = 128;
const MAX_CLAIMS: usize = 16;
const MAX_WORDS: usize = 1_000;

/// What a client asks of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detail {
    /// Always [`DATA_ACCESS`].
    #[serde(rename = "type")]
    pub detail_type: String,
    /// The source.
    pub source: DetailSource,
    /// What for, as an absolute URI.
    pub purpose_code: String,
    /// What for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose_description: Option<String>,
    /// Once, or until it ends.
    pub access_mode: AccessMode,
    /// What the client promises about keeping the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// The streams; empty when a preset names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamAsk>,
    /// A declared preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection_preset: Option<String>,
    /// What the client says about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_claims: Option<ClientClaims>,
}

/// The source asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailSource {
    /// Its absolute URI.
    pub id: String,
    /// If said, it must be the declaration's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SourceKind>,
}

/// The client's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientClaims {
    /// What it promises.
    #[serde(default)]
    pub commitments: Vec<String>,
}

/// One stream asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamAsk {
    /// A declared stream, or `*`.
    pub name: String,
    /// Whether the client can do without.
    #[serde(default)]
    pub necessity: Necessity,
    /// These connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_ids: Option<Vec<ConnectionId>>,
    /// Only records of this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range: Option<TimeRange>,
    /// The fields of a declared view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Only these fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    /// Only these records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<RecordKey>>,
}

/// Whether a client can do without a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Necessity {
    /// It cannot.
    #[default]
    Required,
    /// It can.
    Optional,
}

/// Reads the entries of a request.
pub(super) fn parse_details(value: &Value) -> Result<Vec<Detail>, OAuthFault> {
    let items = value.as_array().ok_or_else(|| refused("`authorization_details` is not a list."))?;
    if items.is_empty() || items.len() > MAX_DETAILS {
        return Err(refused(format!("`authorization_details` has 1 to {MAX_DETAILS} entries.")));
    }
    let read = |(index, item): (usize, &Value)| {
        let detail: Detail = serde_json::from_value(item.clone())
            .map_err(|error| refused(format!("`authorization_details[{index}]`: {error}.")))?;
        detail.check().map_err(|problem| refused(format!("`authorization_details[{index}]`: {problem}.")))?;
        Ok(detail)
    };
    items.iter().enumerate().map(read).collect()
}

impl Detail {
    fn check(&self) -> Result<(), String> {
        let fault = |text: &str| Err(text.to_owned());
        if self.detail_type != DATA_ACCESS {
            return Err(format!("`type` must be {DATA_ACCESS}"));
        }
        if self.streams.is_empty() == self.selection_preset.is_none() {
            return fault("name streams or a preset, one of the two");
        }
        if self.streams.len() > MAX_STREAMS {
            return Err(format!("names more than {MAX_STREAMS} streams"));
        }
        let names: BTreeSet<_> = self.streams.iter().map(|stream| &stream.name).collect();
        if names.len() != self.streams.len() {
            return fault("names a stream twice");
        }
        if self.streams.len() > 1 && self.streams.iter().any(|stream| stream.name == "*") {
            return fault("`*` must be the only stream");
        }
        let claims = self.client_claims.as_ref().map_or(&[][..], |claims| &claims.commitments);
        let words = self.purpose_description.iter().chain(claims);
        if claims.len() > MAX_CLAIMS || words.clone().any(|text| text.chars().count() > MAX_WORDS) {
            return fault("says more than fits on a page");
        }
        if words.clone().any(|text| text.trim().is_empty()) {
            return fault("holds an empty text");
        }
        Ok(())
    }

    /// The request in the words of a declaration. Streams without connections get these.
    pub(super) fn selection(
        &self,
        source: &Source,
        connections: Option<&[ConnectionId]>,
    ) -> Result<SelectionRequest, OAuthFault> {
        let declared = source.manifest.source();
        if self.source.kind.is_some_and(|kind| kind != declared.kind) {
            return Err(refused(format!("The source '{}' is of another kind.", declared.id)));
        }
        let stream = |ask: &StreamAsk| StreamSelection {
            name: ask.name.clone(),
            fields: ask.fields.clone(),
            view: ask.view.clone(),
            time_range: ask.time_range.clone(),
            resources: ask.resources.clone(),
            instance_ids: ask.instance_ids.clone().or_else(|| connections.map(<[_]>::to_vec)),
        };
        Ok(SelectionRequest {
            source: GrantSource { kind: declared.kind, id: declared.id.clone() },
            purpose_code: self.purpose_code.clone(),
            purpose_description: self.purpose_description.clone(),
            access_mode: self.access_mode,
            streams: self.streams.iter().map(stream).collect(),
            selection_preset: self.selection_preset.clone(),
            retention: self.retention.clone(),
        })
    }

    /// How much the client needs each stream it names.
    pub(super) fn necessities(&self) -> BTreeMap<&str, Necessity> {
        self.streams.iter().map(|stream| (stream.name.as_str(), stream.necessity)).collect()
    }
}

pub(super) fn refused(message: impl Into<String>) -> OAuthFault {
    OAuthFault::refused(OAuthCode::InvalidAuthorizationDetails, message)
}
