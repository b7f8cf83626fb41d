//! Which stream of which source, under which connections: the first question of every read.

use std::sync::Arc;

use pdpp_wire::{AvailableConnection, Code, ConnectionId, GrantStream, StreamName};

use super::Authorizer;
use crate::{
    ActiveGrant, ClientPrincipal, Connection, Denial, FieldSet, PlanPart, Principal, ReadPlan, Source, Target,
};

impl Authorizer<'_> {
    /// The plan for a stream named in a path.
    pub(super) fn scope(&self, target: &Target) -> Result<ReadPlan, Denial> {
        match self.principal {
            Principal::Owner(_) => self.owner_scope(target),
            Principal::Client(client) => self.client_scope(client, target),
        }
    }

    fn owner_scope(&self, target: &Target) -> Result<ReadPlan, Denial> {
        let (source, named) =
            self.owner_source(target.connector_id.as_deref(), target.connection_id.as_deref())?;
        let Some(declaration) = source.manifest.find_stream(&target.stream) else {
            let message = format!("The connector '{}' declares no stream '{}'.", source.key(), target.stream);
            return Err(Denial::new(Code::NotFound, message));
        };
        let connections: Vec<&Connection> = match named {
            Some(connection) => vec![connection],
            None => source.connections.iter().filter(|connection| connection.is_readable()).collect(),
        };
        if connections.is_empty() {
            return Err(Denial::new(
                Code::ConnectionNotFound,
                "This connector has no active connection yet.",
            ));
        }
        Ok(self.owner_plan(source, declaration.name(), connections))
    }

    pub(super) fn owner_plan<'s>(
        &self,
        source: &Arc<Source>,
        stream: &StreamName,
        connections: impl IntoIterator<Item = &'s Connection>,
    ) -> ReadPlan {
        let mut parts: Vec<PlanPart> = connections.into_iter().map(owner_part).collect();
        parts.sort_by(|a, b| a.connection_id.cmp(&b.connection_id));
        ReadPlan {
            subject_id: self.principal.subject_id().clone(),
            source: Arc::clone(source),
            stream: stream.clone(),
            parts,
        }
    }

    /// The source an owner addresses; one connector needs no selector.
    pub(super) fn owner_source(
        &self,
        connector_id: Option<&str>,
        connection_id: Option<&str>,
    ) -> Result<(&Arc<Source>, Option<&Connection>), Denial> {
        let by_connector = match connector_id {
            None => None,
            Some(id) => Some(self.catalogue.find_source(id).ok_or_else(|| {
                Denial::new(Code::NotFound, format!("No connector '{id}' is registered."))
                    .param("connector_id")
            })?),
        };
        if let Some(id) = connection_id {
            let Some((source, connection)) = self.catalogue.find_connection(id) else {
                let message = format!("There is no connection '{id}'.");
                return Err(Denial::new(Code::ConnectorInstanceNotFound, message).param("connection_id"));
            };
            if by_connector.is_some_and(|wanted| wanted.key() != source.key()) {
                let message = format!("The connection '{id}' belongs to connector '{}'.", source.key());
                return Err(
                    Denial::new(Code::ConnectorInstanceConnectorMismatch, message).param("connection_id")
                );
            }
            if !connection.is_readable() {
                let message = format!("The connection '{id}' is not active.");
                return Err(Denial::new(Code::ConnectorInstanceInactive, message).param("connection_id"));
            }
            return Ok((source, Some(connection)));
        }
        match (by_connector, self.catalogue.sources.as_slice()) {
            (Some(source), _) => Ok((source, None)),
            (None, [only]) => Ok((only, None)),
            (None, []) => Err(Denial::new(Code::NotFound, "No connector is registered yet.")),
            (None, _) => {
                let message = "Several connectors are registered; add `connector_id` or `connection_id`.";
                Err(Denial::invalid("connector_id", message))
            }
        }
    }

    fn client_scope(&self, client: &ClientPrincipal, target: &Target) -> Result<ReadPlan, Denial> {
        let granted = granted_streams(client, &target.stream);
        if granted.is_empty() {
            let message = format!("The stream '{}' is not part of the grant.", target.stream);
            return Err(Denial::new(Code::GrantStreamNotAllowed, message));
        }
        let chosen: Vec<_> = match target.connection_id.as_deref() {
            None => granted,
            Some(id) => granted
                .into_iter()
                .filter(|(_, s)| s.instance_ids.iter().any(|have| have.as_str() == id))
                .collect(),
        };
        let Some((first, stream)) = chosen.first() else {
            let message = "No such connection is granted for this stream.";
            return Err(Denial::new(Code::ConnectionNotFound, message).param("connection_id"));
        };
        if chosen.iter().any(|(grant, _)| grant.source_id() != first.source_id()) {
            return Err(self.ambiguous_sources(&target.stream, &chosen));
        }
        let source = self.declared_source(first, stream)?;
        Ok(self.client_plan(source, &chosen, target.connection_id.as_deref()))
    }

    /// The source of a granted stream, if it still declares the stream.
    pub(super) fn declared_source(
        &self,
        grant: &ActiveGrant,
        stream: &GrantStream,
    ) -> Result<&Arc<Source>, Denial> {
        let source = self.catalogue.find_source_by_uri(grant.source_id());
        source.filter(|source| source.manifest.find_stream(stream.name.as_str()).is_some()).ok_or_else(|| {
            let message = format!("The source no longer declares the stream '{}'.", stream.name);
            Denial::new(Code::StreamNotDeclared, message)
        })
    }

    /// The plan over all chosen entries, which share one source and one stream name.
    pub(super) fn client_plan(
        &self,
        source: &Arc<Source>,
        chosen: &[(&ActiveGrant, &GrantStream)],
        connection_id: Option<&str>,
    ) -> ReadPlan {
        let wanted = |id: &&ConnectionId| connection_id.is_none_or(|wanted| id.as_str() == wanted);
        let mut parts: Vec<PlanPart> = chosen
            .iter()
            .flat_map(|(grant, stream)| {
                stream.instance_ids.iter().filter(wanted).map(|id| client_part(source, grant, stream, id))
            })
            .collect();
        parts.sort_by(|a, b| a.connection_id.cmp(&b.connection_id));
        ReadPlan {
            subject_id: self.principal.subject_id().clone(),
            source: Arc::clone(source),
            stream: chosen[0].1.name.clone(),
            parts,
        }
    }

    fn ambiguous_sources(&self, stream: &str, chosen: &[(&ActiveGrant, &GrantStream)]) -> Denial {
        let offered = chosen.iter().flat_map(|(grant, entry)| {
            let source = self.catalogue.find_source_by_uri(grant.source_id());
            entry.instance_ids.iter().map(move |id| AvailableConnection {
                connection_id: id.clone(),
                connector_key: source.map(|source| source.key().clone()),
                stream: None,
                display_name: source
                    .and_then(|s| s.find_connection(id.as_str()))
                    .and_then(|c| c.display_name.clone()),
            })
        });
        let message = format!("Several sources grant a stream '{stream}'. Retry with `connection_id`.");
        Denial::new(Code::AmbiguousConnection, message).choose_from(offered.collect())
    }
}

/// The entries of a client's grants for one stream name.
pub(super) fn granted_streams<'c>(
    client: &'c ClientPrincipal,
    name: &str,
) -> Vec<(&'c ActiveGrant, &'c GrantStream)> {
    let grants = client.grants().iter();
    grants
        .flat_map(|grant| grant.streams().iter().map(move |stream| (grant, stream)))
        .filter(|(_, stream)| stream.name.as_str() == name)
        .collect()
}

fn owner_part(connection: &Connection) -> PlanPart {
    PlanPart {
        connection_id: connection.connection_id.clone(),
        display_name: connection.display_name.clone(),
        grant_id: None,
        granted: FieldSet::All,
        shown: FieldSet::All,
        resources: None,
        time: None,
    }
}

fn client_part(source: &Source, grant: &ActiveGrant, stream: &GrantStream, id: &ConnectionId) -> PlanPart {
    let granted = ActiveGrant::fields(stream);
    PlanPart {
        connection_id: id.clone(),
        display_name: source
            .find_connection(id.as_str())
            .and_then(|connection| connection.display_name.clone()),
        grant_id: Some(grant.id().clone()),
        shown: granted.clone(),
        granted,
        resources: stream.resources.as_ref().map(|keys| Arc::new(keys.iter().cloned().collect())),
        time: ActiveGrant::time(stream),
    }
}
