//! Which stream of which source, under which connections.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Answer, Faults, Model};
use crate::archive::{Data, Life, Row, shows};
use crate::moment::micros;
use crate::question::{OWNER, Question};
use crate::world::{Granted, GrantedStream, Place, Source, Stream};

/// One stream of one source, with the connections it is read under.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) source: usize,
    pub(super) stream: &'a Stream,
    /// By connection id.
    pub(super) parts: Vec<Part<'a>>,
}

/// One connection and what covers it; the owner needs no grant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) connection: usize,
    pub(super) entry: Option<&'a GrantedStream>,
}

/// One visible record.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) part: Part<'a>,
    pub(super) row: &'a Row,
    pub(super) life: Life<'a>,
}

impl<'a> Part<'a> {
    pub(super) fn fields(&self) -> Option<&'a BTreeSet<String>> {
        self.entry.map(|entry| &entry.fields)
    }

    pub(super) fn grants(&self, field: &str) -> bool {
        self.fields().is_none_or(|fields| fields.contains(field))
    }
}

impl Scope<'_> {
    /// A parameter may name a field when every connection grants it.
    pub(super) fn grants(&self, field: &str) -> bool {
        self.parts.iter().all(|part| part.grants(field))
    }

    /// Refuses a field that is not declared, or not granted.
    pub(super) fn check_field(&self, field: &str, faults: &mut Faults) -> bool {
        let declared = self.stream.field(field).is_some();
        let granted = self.grants(field);
        faults.add_if(!declared, "unknown_field");
        faults.add_if(declared && !granted, "field_not_granted");
        declared && granted
    }
}

impl Seen<'_> {
    pub(super) fn data(&self) -> &Data {
        self.life.last()
    }

    pub(super) fn emitted_at(&self) -> i64 {
        self.life.changed(self.part.fields()).1
    }
}

impl<'a> Model<'a> {
    /// The client's grants that still stand.
    pub(super) fn grants(&self, who: usize) -> Vec<&'a Granted> {
        let grants = self.world.clients[who].grants.iter();
        let over = |at: &str| micros(at).is_none_or(|at| at <= self.now);
        grants
            .filter(|grant| !self.revoked.contains(&grant.id) && !grant.expires_at.is_some_and(over))
            .collect()
    }

    pub(super) fn source(&self, index: usize) -> &'a Source {
        &self.world.sources[index]
    }

    /// Which connection the request names; both names together must agree.
    pub(super) fn named<'q>(question: &'q Question, faults: &mut Faults) -> Option<&'q str> {
        let (name, alias) = (question.text("connection_id"), question.text("connector_instance_id"));
        if let (Some(name), Some(alias)) = (name, alias) {
            faults.add_if(name != alias, "invalid_argument");
        }
        name.or(alias)
    }

    pub(super) fn scope(
        &self,
        question: &Question,
        stream: &str,
        faults: &mut Faults,
    ) -> Result<Scope<'a>, Answer> {
        let named = Self::named(question, faults);
        let found = match question.who {
            OWNER => self.owner_scope(question, stream, named),
            who => self.client_scope(who, stream, named),
        };
        found.map_err(|answer| match answer {
            Answer::Fault(mut codes, offered) => {
                codes.extend(&faults.0);
                Answer::Fault(codes, offered)
            }
            other => other,
        })
    }

    fn client_scope(&self, who: usize, stream: &str, named: Option<&str>) -> Result<Scope<'a>, Answer> {
        let mut entries: Vec<(usize, Part<'a>)> = Vec::new();
        let mut granted = false;
        for grant in self.grants(who) {
            for entry in grant.streams.iter().filter(|entry| entry.name == stream) {
                granted = true;
                let parts = entry
                    .connections
                    .iter()
                    .map(|connection| Part { connection: *connection, entry: Some(entry) });
                entries.extend(parts.map(|part| (grant.source, part)));
            }
        }
        if !granted {
            return Err(Answer::fault("grant_stream_not_allowed"));
        }
        entries.retain(|(_, part)| named.is_none_or(|id| self.id(part.connection) == id));
        let Some((source, _)) = entries.first().copied() else {
            return Err(Answer::fault("connection_not_found"));
        };
        if entries.iter().any(|(other, _)| *other != source) {
            let offers = entries.iter().map(|(source, part)| {
                let mut offer = self.offered(part.connection);
                offer["connector_key"] = json!(self.source(*source).key);
                offer
            });
            let offered = Some(Value::Array(offers.collect()));
            return Err(Answer::Fault(BTreeSet::from(["ambiguous_connection"]), offered));
        }
        let Some(declared) = self.source(source).streams.iter().find(|declared| declared.name == stream)
        else {
            return Err(Answer::fault("stream_not_declared"));
        };
        let parts = entries.into_iter().map(|(_, part)| part).collect();
        Ok(Scope { source, stream: declared, parts: self.sorted(parts) })
    }

    fn owner_scope(
        &self,
        question: &Question,
        stream: &str,
        named: Option<&str>,
    ) -> Result<Scope<'a>, Answer> {
        let (source, connection) = self.owner_source(question.text("connector_id"), named)?;
        let Some(declared) = self.source(source).streams.iter().find(|declared| declared.name == stream)
        else {
            return Err(Answer::fault("not_found"));
        };
        let connections = match connection {
            Some(one) => vec![one],
            None => self.owners(source),
        };
        if connections.is_empty() {
            return Err(Answer::fault("connection_not_found"));
        }
        let parts = connections.into_iter().map(|connection| Part { connection, entry: None }).collect();
        Ok(Scope { source, stream: declared, parts: self.sorted(parts) })
    }

    pub(super) fn owner_source(
        &self,
        connector: Option<&str>,
        named: Option<&str>,
    ) -> Result<(usize, Option<usize>), Answer> {
        let registered: Vec<usize> =
            (0..self.world.sources.len()).filter(|index| self.source(*index).place == Place::Both).collect();
        let called = |index: &usize| {
            let source = self.source(*index);
            connector.is_some_and(|id| source.key == id || source.uri == id)
        };
        let wanted = registered.iter().copied().find(called);
        if connector.is_some() && wanted.is_none() {
            return Err(Answer::fault("not_found"));
        }
        if let Some(id) = named {
            let Some(connection) = self.own_connections().find(|index| self.id(*index) == id) else {
                return Err(Answer::fault("connector_instance_not_found"));
            };
            let source = self.world.connections[connection].source;
            if wanted.is_some_and(|wanted| wanted != source) {
                return Err(Answer::fault("connector_instance_connector_mismatch"));
            }
            if !self.archive.active.contains(&connection) {
                return Err(Answer::fault("connector_instance_inactive"));
            }
            return Ok((source, Some(connection)));
        }
        match (wanted, registered.as_slice()) {
            (Some(source), _) => Ok((source, None)),
            (None, [only]) => Ok((*only, None)),
            (None, _) => Err(Answer::fault("invalid_request")),
        }
    }

    /// The owner's connections in the store under test.
    pub(super) fn own_connections(&self) -> impl Iterator<Item = usize> {
        let all = self.world.connections.iter().enumerate();
        all.filter(|(_, connection)| connection.subject == 0 && connection.place == Place::Both)
            .map(|(index, _)| index)
    }

    /// The connections of a source that hold records.
    pub(super) fn owners(&self, source: usize) -> Vec<usize> {
        self.own_connections()
            .filter(|index| {
                self.world.connections[*index].source == source && self.archive.active.contains(index)
            })
            .collect()
    }

    pub(super) fn id(&self, connection: usize) -> &'a str {
        &self.world.connections[connection].id
    }

    pub(super) fn sorted(&self, mut parts: Vec<Part<'a>>) -> Vec<Part<'a>> {
        parts.sort_by_key(|part| self.id(part.connection));
        parts
    }

    /// Every live record the part shows.
    pub(super) fn seen(&self, part: Part<'a>, stream: &str) -> Vec<Seen<'a>> {
        let rows =
            self.archive.rows.iter().filter(|row| row.connection == part.connection && row.stream == stream);
        let lives = rows.filter_map(|row| Some(Seen { part, row, life: row.life()? }));
        lives.filter(|seen| shows(part.entry, &seen.row.key, seen.life.last())).collect()
    }

    pub(super) fn all_seen(&self, scope: &Scope<'a>) -> Vec<Seen<'a>> {
        scope.parts.iter().flat_map(|part| self.seen(*part, &scope.stream.name)).collect()
    }
}
