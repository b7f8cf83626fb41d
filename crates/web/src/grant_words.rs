//! What a grant lets its client read, in words.

use pdpp_access::Catalogue;
use pdpp_auth::{GrantState, state_of_grant};
use pdpp_store::StoredGrant;
use pdpp_wire::{AccessMode, Grant, Instant};

use crate::consent::Declared;
use crate::moment::{self, Moment};
use crate::{purpose, stranger};

/// A grant on the owner's page.
#[derive(Clone, Debug)]
pub(crate) struct GrantWords {
    pub(crate) grant_id: String,
    pub(crate) source: String,
    /// One sentence per stream.
    pub(crate) streams: Vec<String>,
    pub(crate) purpose: String,
    pub(crate) mode: &'static str,
    pub(crate) issued: Option<Moment>,
    pub(crate) expires: Option<Moment>,
    pub(crate) last_used: Option<Moment>,
    /// `active`, `expired`, `revoked`, `unreadable`.
    pub(crate) state: &'static str,
    pub(crate) active: bool,
}

impl GrantWords {
    pub(crate) fn of(stored: &StoredGrant, grant: &Grant, catalogue: &Catalogue, now: Instant) -> Self {
        let declared = Declared::new(catalogue);
        let source = catalogue.find_source_by_uri(&grant.source.id);
        let name = source.and_then(|source| source.manifest.display_name()).unwrap_or(&grant.source.id);
        let connection = |id: &pdpp_wire::ConnectionId| {
            let found = source.and_then(|source| source.find_connection(id.as_str()));
            stranger::name(found.and_then(|one| one.display_name.as_deref()).unwrap_or(id.as_str()))
        };
        let streams = grant.streams.iter().map(|stream| {
            let fields = stream.fields.iter();
            let fields =
                fields.map(|field| declared.field(&grant.source.id, stream.name.as_str(), field).label);
            let connections: Vec<_> = stream.instance_ids.iter().map(connection).collect();
            format!(
                "{} of {}, {}: {}.",
                declared.stream(&grant.source.id, stream.name.as_str()).label,
                connections.join(" and "),
                moment::window_of(stream.time_constraint.as_ref()),
                fields.collect::<Vec<_>>().join(", ")
            )
        });
        let state = state_of_grant(stored, now);
        Self {
            grant_id: stored.grant_id.to_string(),
            source: stranger::name(name),
            streams: streams.collect(),
            purpose: purpose::in_words(&grant.purpose_code)
                .map_or_else(|| stranger::name(&grant.purpose_code), str::to_owned),
            mode: match grant.access_mode {
                AccessMode::Continuous => "again and again",
                AccessMode::SingleUse => "with one token",
            },
            issued: Instant::parse(&grant.issued_at).map(Moment::of),
            expires: grant.expires_at.as_deref().and_then(Instant::parse).map(Moment::of),
            last_used: stored.last_used_at.map(Moment::of),
            state: match state {
                GrantState::Active => "active",
                GrantState::Expired => "expired",
                GrantState::Revoked => "revoked",
                GrantState::Invalid => "unreadable",
            },
            active: state == GrantState::Active,
        }
    }
}
