//! Valid grants in a line or two.

use pdpp_access::{ActiveGrant, GrantStanding, Source};
use pdpp_wire::{
    AccessMode, ClientId, ConnectionId, Grant, GrantClient, GrantId, GrantStream, GrantSubject, Instant,
    RecordKey, SourceDeclarationRef, StreamName, SubjectId, TimeConstraint,
};

use crate::sample;

/// The client of every grant and principal here.
pub fn client_id() -> ClientId {
    ClientId::parse("assistant").expect("a plain id")
}

/// Starts a grant over a source: id `grt_<connector key>`, no streams yet, never expires.
pub fn grant(source: &Source) -> GrantBuilder {
    GrantBuilder {
        connections: source.connections.iter().map(|connection| connection.connection_id.clone()).collect(),
        time_fields: source
            .manifest
            .streams()
            .iter()
            .filter_map(|stream| Some((stream.name().clone(), stream.consent_time_field()?.to_owned())))
            .collect(),
        grant: Grant {
            version: "0.1.0".to_owned(),
            grant_id: GrantId::parse(format!("grt_{}", source.key().as_str().replace('.', "_")))
                .expect("a plain id"),
            issued_at: "2026-01-01T00:00:00.000Z".to_owned(),
            subject: GrantSubject { id: sample::subject() },
            client: GrantClient { client_id: client_id(), client_display: None },
            source: source.manifest.source().clone(),
            source_declaration: SourceDeclarationRef { version: source.declaration_version.clone() },
            purpose_code: "https://pdpp.dev/purpose/agent_context".to_owned(),
            purpose_description: None,
            access_mode: AccessMode::Continuous,
            streams: Vec::new(),
            selection_preset: None,
            retention: None,
            expires_at: None,
        },
    }
}

/// A grant being written; every method about a stream means the last one added.
#[derive(Clone, Debug)]
pub struct GrantBuilder {
    grant: Grant,
    connections: Vec<ConnectionId>,
    time_fields: Vec<(StreamName, String)>,
}

impl GrantBuilder {
    /// Names the grant.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.grant.grant_id = GrantId::parse(id).expect("a plain id");
        self
    }

    /// Another subject.
    #[must_use]
    pub fn subject(mut self, subject_id: &SubjectId) -> Self {
        self.grant.subject.id = subject_id.clone();
        self
    }

    /// Another client.
    #[must_use]
    pub fn client(mut self, client_id: &str) -> Self {
        self.grant.client.client_id = ClientId::parse(client_id).expect("a plain id");
        self
    }

    /// Grants these fields of a stream, under every connection of the source.
    #[must_use]
    pub fn stream(mut self, name: &str, fields: &[&str]) -> Self {
        self.grant.streams.push(GrantStream {
            name: StreamName::parse(name).expect("a plain name"),
            instance_ids: self.connections.clone(),
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            time_constraint: None,
            resources: None,
        });
        self
    }

    /// Only these connections.
    #[must_use]
    pub fn connections(mut self, ids: &[&ConnectionId]) -> Self {
        self.last().instance_ids = ids.iter().map(|id| (*id).clone()).collect();
        self
    }

    /// Only records from this time on.
    #[must_use]
    pub fn since(mut self, since: &str) -> Self {
        self.time().since = Some(since.to_owned());
        self
    }

    /// Only records before this time.
    #[must_use]
    pub fn until(mut self, until: &str) -> Self {
        self.time().until = Some(until.to_owned());
        self
    }

    /// Only these records.
    #[must_use]
    pub fn resources(mut self, keys: &[&str]) -> Self {
        let keys = keys.iter().map(|key| RecordKey::parse(*key).expect("a plain key"));
        self.last().resources = Some(keys.collect());
        self
    }

    /// Ends the grant at this time.
    #[must_use]
    pub fn expires(mut self, at: &str) -> Self {
        self.grant.expires_at = Some(at.to_owned());
        self
    }

    /// One token, once.
    #[must_use]
    pub fn single_use(mut self) -> Self {
        self.grant.access_mode = AccessMode::SingleUse;
        self
    }

    /// The grant, checked.
    #[track_caller]
    pub fn build(self) -> Grant {
        self.grant.check().expect("the test describes a valid grant");
        self.grant
    }

    fn last(&mut self) -> &mut GrantStream {
        self.grant.streams.last_mut().expect("a stream comes first")
    }

    fn time(&mut self) -> &mut TimeConstraint {
        let name = self.last().name.clone();
        let field = self.time_fields.iter().find(|(stream, _)| *stream == name);
        let field = field.expect("the stream has a consent time field").1.clone();
        let empty = TimeConstraint { field, since: None, until: None };
        self.last().time_constraint.get_or_insert(empty)
    }
}

/// A grant as a store keeps it.
pub fn standing(grant: &Grant) -> GrantStanding {
    GrantStanding { document: serde_json::to_string(grant).expect("grants are plain data"), revoked_at: None }
}

/// A grant that is active at the beginning of 2026.
#[track_caller]
pub fn active(grant: &Grant) -> ActiveGrant {
    let now = Instant::parse("2026-01-01").expect("a date");
    ActiveGrant::try_new(&standing(grant), now).expect("the test describes an active grant")
}
