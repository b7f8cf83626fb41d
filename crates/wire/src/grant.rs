//! The grant, version `0.1.0`: a closed object, frozen when the owner approved it.
//!
//! Whatever a stored grant holds beyond this shape makes it invalid, because nothing may be guessed
//! about a consent. Status (revoked, consumed) is not part of it: that is kept beside the grant.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientId, ConnectionId, GrantId, Instant, RecordKey, StreamName, SubjectId};

/// What the owner approved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Always `0.1.0`.
    pub version: String,
    /// Names the grant.
    pub grant_id: GrantId,
    /// When the owner approved it.
    pub issued_at: String,
    /// Whose data.
    pub subject: GrantSubject,
    /// Who may read.
    pub client: GrantClient,
    /// Which source.
    pub source: GrantSource,
    /// The declaration the owner saw.
    pub source_declaration: SourceDeclarationRef,
    /// What for, as an absolute URI.
    pub purpose_code: String,
    /// What for, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose_description: Option<String>,
    /// Once, or until it ends.
    pub access_mode: AccessMode,
    /// What may be read; each name once.
    pub streams: Vec<GrantStream>,
    /// The preset the selection came from; informational.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_preset: Option<String>,
    /// What the client promised about keeping the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// When it ends; absent or null means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// Whose data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantSubject {
    /// The data subject.
    pub id: SubjectId,
}

/// Who may read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantClient {
    /// The client application.
    pub client_id: ClientId,
    /// How the authorization server resolved the client's display metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_display: Option<ClientDisplay>,
}

/// Display metadata of a client, resolved by the authorization server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientDisplay {
    /// Claimed name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Home page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_uri: Option<String>,
    /// Privacy policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_uri: Option<String>,
    /// Terms of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tos_uri: Option<String>,
}

/// Which source; `id` is the identity, `kind` only says where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantSource {
    /// How the data reached the server.
    pub kind: SourceKind,
    /// Absolute URI of the source.
    pub id: String,
}

/// How a source's data reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Collected from another service or an export.
    Connector,
    /// The server is the provider.
    ProviderNative,
}

/// The declaration version the owner saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceDeclarationRef {
    /// Opaque version.
    pub version: String,
}

/// How often a grant may be used to obtain a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessMode {
    /// One token, once.
    SingleUse,
    /// Until revoked or expired.
    Continuous,
}

/// A client's promise about keeping data; never enforced by the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// ISO 8601 duration.
    pub max_duration: String,
    /// What happens then.
    pub on_expiry: OnExpiry,
}

/// What a client promises to do when its retention ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnExpiry {
    /// Delete.
    Delete,
    /// Anonymize.
    Anonymize,
}

/// What may be read of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantStream {
    /// The stream.
    pub name: StreamName,
    /// The connections, each once.
    pub instance_ids: Vec<ConnectionId>,
    /// The top-level fields, each once; the authoritative projection.
    pub fields: Vec<String>,
    /// Only records of this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_constraint: Option<TimeConstraint>,
    /// Only these records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<RecordKey>>,
}

/// `since` is inclusive, `until` exclusive; at least one is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeConstraint {
    /// The field that holds the record's time.
    pub field: String,
    /// Inclusive lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Exclusive upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Why a grant document is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("grant is invalid: {0}")]
pub struct GrantFault(pub String);

impl Grant {
    /// Parses and checks a stored grant document.
    pub fn parse(json: &str) -> Result<Self, GrantFault> {
        let grant: Self = serde_json::from_str(json).map_err(|error| GrantFault(error.to_string()))?;
        grant.check()?;
        Ok(grant)
    }

    /// Checks what the types alone cannot say.
    pub fn check(&self) -> Result<(), GrantFault> {
        let fault = |text: &str| Err(GrantFault(text.to_owned()));
        if self.version != "0.1.0" {
            return fault("version must be 0.1.0");
        }
        if Instant::parse(&self.issued_at).is_none() {
            return fault("issued_at is not a time");
        }
        if self.expires_at.as_deref().is_some_and(|at| Instant::parse(at).is_none()) {
            return fault("expires_at is not a time");
        }
        if !is_absolute_uri(&self.purpose_code) {
            return fault("purpose_code must be an absolute URI");
        }
        if !is_absolute_uri(&self.source.id) {
            return fault("source.id must be an absolute URI");
        }
        if self.streams.is_empty() || !unique(self.streams.iter().map(|stream| &stream.name)) {
            return fault("streams must be non-empty with unique names");
        }
        self.streams.iter().try_for_each(GrantStream::check)
    }
}

impl GrantStream {
    fn check(&self) -> Result<(), GrantFault> {
        let fault = |text: &str| Err(GrantFault(format!("stream {}: {text}", self.name)));
        if self.instance_ids.is_empty() || !unique(&self.instance_ids) {
            return fault("instance_ids must be non-empty and unique");
        }
        if self.fields.is_empty() || !unique(&self.fields) || self.fields.iter().any(String::is_empty) {
            return fault("fields must be non-empty and unique");
        }
        if let Some(keys) = &self.resources
            && (keys.is_empty() || !unique(keys))
        {
            return fault("resources must be non-empty and unique");
        }
        match self.time_constraint.as_ref().map(TimeConstraint::bounds) {
            Some(None) => fault("time_constraint needs ordered, parseable bounds"),
            _ => Ok(()),
        }
    }
}

impl TimeConstraint {
    /// The bounds as instants, or `None` when they are missing, unparseable or reversed.
    pub fn bounds(&self) -> Option<(Option<Instant>, Option<Instant>)> {
        let parse = |bound: &Option<String>| match bound {
            Some(text) => Instant::parse(text).map(Some),
            None => Some(None),
        };
        match (parse(&self.since)?, parse(&self.until)?) {
            (None, None) => None,
            (Some(since), Some(until)) if since > until => None,
            bounds => Some(bounds),
        }
    }
}

fn unique<T: Ord>(items: impl IntoIterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    items.into_iter().all(|item| seen.insert(item))
}

/// Whether a text has the shape `scheme:rest`.
pub(crate) fn is_absolute_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !rest.is_empty()
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    fn sample() -> Value {
        json!({
            "version": "0.1.0", "grant_id": "grt_1", "issued_at": "2026-01-02T03:04:05.678Z",
            "subject": {"id": "owner_local"}, "client": {"client_id": "notes"},
            "source": {"kind": "connector", "id": "urn:pdpp:source:chat"},
            "source_declaration": {"version": "sha256:1"},
            "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
            "streams": [{"name": "messages", "instance_ids": ["cin_a"], "fields": ["id", "text"],
                "time_constraint": {"field": "sent_at", "since": "2026-01-01"}}]
        })
    }

    #[track_caller]
    fn check(pointer: &str, value: Value, expected: Expect) {
        let mut grant = sample();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        grant.pointer_mut(parent).unwrap()[member] = value;
        let outcome =
            Grant::parse(&grant.to_string()).map_or_else(|fault| fault.to_string(), |_| "valid".into());
        expected.assert_eq(&outcome);
    }

    #[test]
    fn a_whole_grant_survives_a_round_trip() {
        let grant = Grant::parse(&sample().to_string()).unwrap();
        assert_eq!(serde_json::to_value(&grant).unwrap(), sample());
    }

    #[test]
    fn unknown_members_make_a_grant_invalid() {
        check(
            "/view",
            json!("x"),
            expect![
                "grant is invalid: unknown field `view`, expected one of `version`, `grant_id`, `issued_at`, `subject`, `client`, `source`, `source_declaration`, `purpose_code`, `purpose_description`, `access_mode`, `streams`, `selection_preset`, `retention`, `expires_at` at line 1 column 469"
            ],
        );
    }

    #[test]
    fn every_rule_of_the_closed_shape_is_checked() {
        check("/version", json!("0.2.0"), expect!["grant is invalid: version must be 0.1.0"]);
        check(
            "/streams",
            json!([]),
            expect!["grant is invalid: streams must be non-empty with unique names"],
        );
        check(
            "/purpose_code",
            json!("assist"),
            expect!["grant is invalid: purpose_code must be an absolute URI"],
        );
        check("/expires_at", json!("soon"), expect!["grant is invalid: expires_at is not a time"]);
        check("/expires_at", json!(null), expect!["valid"]);
    }

    #[test]
    fn a_time_constraint_needs_ordered_bounds() {
        let path = "/streams/0/time_constraint";
        let refused =
            expect!["grant is invalid: stream messages: time_constraint needs ordered, parseable bounds"];
        let mut grant = sample();
        for bounds in [
            json!({"field": "f"}),
            json!({"field": "f", "since": "x"}),
            json!({"field": "f", "since": "2026-02-01", "until": "2026-01-01"}),
        ] {
            *grant.pointer_mut(path).unwrap() = bounds;
            refused.assert_eq(&Grant::parse(&grant.to_string()).unwrap_err().to_string());
        }
    }
}
