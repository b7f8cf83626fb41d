//! Expansion: children of a record, one level deep, in the same connection.

use pdpp_wire::manifest::{Cardinality, ExpandDeclaration};
use pdpp_wire::{Code, GrantStream};

use super::Authorizer;
use super::scope::granted_streams;
use crate::{ActiveGrant, Denial, ExpandPlan, Principal, ReadPlan};

impl Authorizer<'_> {
    pub(super) fn expand(
        &self,
        read: &ReadPlan,
        names: &[String],
        limits: &[(String, String)],
    ) -> Result<Vec<ExpandPlan>, Denial> {
        if let Some((stray, _)) = limits.iter().find(|(relation, _)| !names.contains(relation)) {
            return Err(invalid("expand_limit", format!("`expand_limit[{stray}]` needs `expand={stray}`.")));
        }
        let mut plans: Vec<ExpandPlan> = Vec::new();
        for name in names {
            if plans.iter().any(|plan| &plan.declaration.relationship.name == name) {
                continue;
            }
            let Some(declaration) = read.declaration().find_expand(name) else {
                let message = format!("Stream '{}' declares no expandable relation '{name}'.", read.stream());
                return Err(invalid("expand", message));
            };
            let asked = limits.iter().find(|(relation, _)| relation == name).map(|(_, limit)| limit.as_str());
            plans.push(ExpandPlan {
                limit: limit(declaration, asked)?,
                child: self.child(read, declaration)?,
                declaration: declaration.clone(),
            });
        }
        Ok(plans)
    }

    /// What may be read of the related stream under the parent's own connections.
    pub(super) fn child(&self, read: &ReadPlan, declaration: &ExpandDeclaration) -> Result<ReadPlan, Denial> {
        let relation = &declaration.relationship;
        let Some(stream) = read.source().manifest.find_stream(&relation.stream) else {
            return Err(invalid(
                "expand",
                format!("The related stream '{}' is not declared.", relation.stream),
            ));
        };
        let Principal::Client(client) = self.principal else {
            let ids: Vec<_> = read.parts().iter().map(|part| part.connection_id().as_str()).collect();
            let connections = read.source().connections.iter();
            let same = connections.filter(|connection| ids.contains(&connection.connection_id.as_str()));
            return Ok(self.owner_plan(&read.source, stream.name(), same));
        };
        let uri = &read.source().manifest.source().id;
        let granted: Vec<(&ActiveGrant, &GrantStream)> = granted_streams(client, &relation.stream)
            .into_iter()
            .filter(|(grant, _)| grant.source_id() == uri)
            .collect();
        let covers = |(_, entry): &(&ActiveGrant, &GrantStream), id| {
            entry.instance_ids.contains(id) && entry.fields.contains(&relation.foreign_key)
        };
        let covered = |id| granted.iter().any(|entry| covers(entry, id));
        if granted.is_empty() || !read.parts().iter().all(|part| covered(part.connection_id())) {
            let (name, stream, key) = (&relation.name, &relation.stream, &relation.foreign_key);
            let message = if granted.is_empty() {
                format!("Expanding '{name}' needs stream '{stream}' in the grant.")
            } else {
                format!(
                    "Expanding '{name}' needs field '{key}' of stream '{stream}' in the grant, for each connection read."
                )
            };
            return Err(Denial::new(Code::InsufficientScope, message).param("expand"));
        }
        let mut child = self.client_plan(&read.source, &granted, None);
        child
            .parts
            .retain(|part| read.parts().iter().any(|parent| parent.connection_id == part.connection_id));
        Ok(child)
    }
}

fn limit(declaration: &ExpandDeclaration, asked: Option<&str>) -> Result<u32, Denial> {
    let ExpandDeclaration { relationship, default_limit, max_limit } = declaration;
    let name = &relationship.name;
    match asked {
        None if relationship.cardinality == Cardinality::HasOne => Ok(1),
        None => Ok(*default_limit),
        Some(_) if relationship.cardinality == Cardinality::HasOne => {
            Err(invalid("expand_limit", format!("'{name}' has at most one record and takes no limit.")))
        }
        Some(text) => match text.parse::<u32>() {
            Ok(limit) if (1..=*max_limit).contains(&limit) => Ok(limit),
            _ => Err(invalid("expand_limit", format!("`expand_limit[{name}]` must be 1 to {max_limit}."))),
        },
    }
}

fn invalid(param: &str, message: impl Into<String>) -> Denial {
    Denial::new(Code::InvalidExpand, message).param(param)
}
