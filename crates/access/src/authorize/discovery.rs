//! What a principal can see at all: streams, relations, blobs.

use std::sync::Arc;

use pdpp_wire::manifest::ExpandDeclaration;
use pdpp_wire::{BlobId, Code};

use super::Authorizer;
use crate::{
    BlobPlan, BlobRequest, ClientPrincipal, Denial, Principal, ReadPlan, Source, StreamsRequest, Target,
};

/// Whether a relation can be expanded by this principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandState {
    /// It can.
    Usable,
    /// The related stream, or its foreign key, is outside the grant.
    NotGranted,
    /// The related stream is not declared.
    Unknown,
}

impl Authorizer<'_> {
    /// Every visible stream of every source, one plan each: grant order for clients, declared order
    /// for the owner.
    pub fn streams(&self, request: &StreamsRequest) -> Result<Vec<ReadPlan>, Denial> {
        let plans = match self.principal {
            Principal::Owner(_) => self.owner_streams(request)?,
            Principal::Client(client) => self.client_streams(client, request)?,
        };
        Ok(plans)
    }

    fn owner_streams(&self, request: &StreamsRequest) -> Result<Vec<ReadPlan>, Denial> {
        let only = match &request.connector_id {
            None => None,
            Some(id) => Some(self.catalogue.find_source(id).ok_or_else(|| {
                Denial::new(Code::NotFound, format!("No connector '{id}' is registered."))
                    .param("connector_id")
            })?),
        };
        if let Some(id) = &request.connection_id
            && self.catalogue.find_connection(id).is_none()
        {
            return Err(unknown_connection());
        }
        let chosen = |source: &&Arc<Source>| only.is_none_or(|only| only.key() == source.key());
        let mut plans = Vec::new();
        for source in self.catalogue.sources.iter().filter(chosen) {
            let wanted = |id: &str| request.connection_id.as_deref().is_none_or(|wanted| wanted == id);
            let readable =
                source.connections.iter().filter(|c| c.is_readable() && wanted(c.connection_id.as_str()));
            let connections: Vec<_> = readable.collect();
            if connections.is_empty() {
                continue;
            }
            for stream in source.manifest.streams() {
                plans.push(self.owner_plan(source, stream.name(), connections.iter().copied()));
            }
        }
        Ok(plans)
    }

    fn client_streams(
        &self,
        client: &ClientPrincipal,
        request: &StreamsRequest,
    ) -> Result<Vec<ReadPlan>, Denial> {
        let mut plans: Vec<ReadPlan> = Vec::new();
        let mut seen = false;
        for grant in client.grants() {
            for entry in grant.streams() {
                let wanted = request.connection_id.as_deref();
                if wanted.is_some_and(|id| !entry.instance_ids.iter().any(|have| have.as_str() == id)) {
                    continue;
                }
                seen = true;
                let Ok(source) = self.declared_source(grant, entry) else {
                    continue;
                };
                let plan = self.client_plan(source, &[(grant, entry)], wanted);
                let same = |other: &&mut ReadPlan| {
                    other.stream == plan.stream && other.source.key() == plan.source.key()
                };
                match plans.iter_mut().find(same) {
                    Some(other) => {
                        other.parts.extend(plan.parts);
                        other.parts.sort_by(|a, b| a.connection_id.cmp(&b.connection_id));
                    }
                    None => plans.push(plan),
                }
            }
        }
        if seen { Ok(plans) } else { Err(unknown_connection()) }
    }

    /// The plan behind one stream's description.
    pub fn stream(&self, target: &Target) -> Result<ReadPlan, Denial> {
        self.scope(target)
    }

    /// Whether a relation of a stream can be expanded.
    pub fn expand_state(&self, read: &ReadPlan, declaration: &ExpandDeclaration) -> ExpandState {
        if read.source().manifest.find_stream(&declaration.relationship.stream).is_none() {
            return ExpandState::Unknown;
        }
        match self.child(read, declaration) {
            Ok(_) => ExpandState::Usable,
            Err(_) => ExpandState::NotGranted,
        }
    }

    /// Authorizes reading a blob: only where `blob_ref` itself is granted. Every denial looks the same.
    pub fn blob(&self, request: &BlobRequest) -> Result<BlobPlan, Denial> {
        let absent = || Denial::new(Code::BlobNotFound, "No visible record refers to this blob.");
        if let Principal::Owner(_) = self.principal {
            self.owner_source(request.connector_id.as_deref(), request.connection_id.as_deref())?;
        }
        let blob_id = BlobId::parse(request.blob_id.as_str()).map_err(|_| absent())?;
        let wanted = StreamsRequest {
            connection_id: request.connection_id.clone(),
            connector_id: request
                .connector_id
                .clone()
                .filter(|_| matches!(self.principal, Principal::Owner(_))),
        };
        let mut reads = self.streams(&wanted).map_err(|_| absent())?;
        for read in &mut reads {
            read.parts.retain(|part| part.granted.contains("blob_ref"));
        }
        reads.retain(|read| read.declaration().has_blobs() && !read.parts.is_empty());
        Ok(BlobPlan { blob_id, reads })
    }
}

fn unknown_connection() -> Denial {
    Denial::new(Code::ConnectionNotFound, "No such connection is visible.").param("connection_id")
}
