//! A grant on its way from storage to use: only one that is active now can authorize anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use pdpp_wire::{Code, ConnectionId, Grant, GrantId, GrantStream, Instant};

use crate::{Denial, FieldSet, TimeBound};

/// What is kept beside a grant document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantStanding {
    /// The grant document, verbatim.
    pub document: String,
    /// When the owner revoked it.
    pub revoked_at: Option<Instant>,
}

/// A grant that was valid, unrevoked and unexpired when it was made.
#[derive(Clone, Debug)]
pub struct ActiveGrant {
    grant: Arc<Grant>,
}

impl ActiveGrant {
    /// Checks a stored grant against its standing and the time.
    pub fn try_new(standing: &GrantStanding, now: Instant) -> Result<Self, Denial> {
        if standing.revoked_at.is_some() {
            return Err(Denial::new(Code::GrantRevoked, "The owner revoked this grant."));
        }
        let grant = Grant::parse(&standing.document).map_err(|_| {
            Denial::new(Code::GrantInvalid, "The stored grant is not valid; fresh consent is needed.")
        })?;
        Self { grant: Arc::new(grant) }.again(standing, now)
    }

    /// The same grant at another time, from its document as it was parsed before. The standing must be of the
    /// very same document; whether it is still active is asked anew.
    pub fn again(&self, standing: &GrantStanding, now: Instant) -> Result<Self, Denial> {
        if standing.revoked_at.is_some() {
            return Err(Denial::new(Code::GrantRevoked, "The owner revoked this grant."));
        }
        let expires = self.grant.expires_at.as_deref().and_then(Instant::parse);
        if expires.is_some_and(|at| at <= now) {
            return Err(Denial::new(Code::GrantExpired, "This grant has expired."));
        }
        Ok(self.clone())
    }

    /// Names the grant.
    pub fn id(&self) -> &GrantId {
        &self.grant.grant_id
    }

    /// The document.
    pub fn document(&self) -> &Grant {
        &self.grant
    }

    pub(crate) fn streams(&self) -> &[GrantStream] {
        &self.grant.streams
    }

    pub(crate) fn source_id(&self) -> &str {
        &self.grant.source.id
    }

    pub(crate) fn fields(stream: &GrantStream) -> FieldSet {
        FieldSet::only(stream.fields.iter().cloned())
    }

    pub(crate) fn time(stream: &GrantStream) -> Option<TimeBound> {
        let constraint = stream.time_constraint.as_ref()?;
        // A grant is checked when it is parsed, so bounds are there.
        let (since, until) = constraint.bounds().unwrap_or((Some(Instant::from_micros(i64::MAX)), None));
        Some(TimeBound { field: constraint.field.clone(), since, until })
    }

    /// Whether two grants in one token would cover the same (source, stream, connection).
    pub fn overlaps(&self, other: &Self) -> bool {
        let covered = |grant: &Self| -> BTreeSet<(String, ConnectionId)> {
            let streams = grant.streams().iter();
            streams.flat_map(|s| s.instance_ids.iter().map(|id| (s.name.to_string(), id.clone()))).collect()
        };
        self.source_id() == other.source_id() && !covered(self).is_disjoint(&covered(other))
    }
}
