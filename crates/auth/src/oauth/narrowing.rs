//! How the owner makes a request smaller: fewer streams, fewer fields, fewer connections, less time.
//!
//! Nothing here can widen. What the schema requires stays, because a record without it would not be the declared
//! record.

use std::collections::BTreeMap;

use pdpp_wire::manifest::{FieldDeclaration, StreamDeclaration};
use pdpp_wire::{AccessMode, ConnectionId, GrantStream, Instant, TimeConstraint};
use serde::{Deserialize, Serialize};

use super::review::Proposal;
use super::{Detail, OAuthFault};

/// What the owner changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Narrowing {
    /// Per entry of the request, by its index.
    pub sources: BTreeMap<String, SourceNarrowing>,
    /// When all of it ends.
    pub expires_at: Option<String>,
    /// Once instead of until it ends; never the other way round.
    pub access_mode: Option<AccessMode>,
    /// Whether the owner allows training, where that is the purpose.
    pub ai_training_consented: bool,
    /// What the owner chose, when the request left it open.
    pub choices: Vec<Detail>,
    /// The hosts the client asked for to which the owner lets its events be sent. None unless they are named.
    pub callback_hosts: Vec<String>,
}

/// What the owner changed about one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourceNarrowing {
    /// Leave the whole entry out.
    pub rejected: bool,
    /// Only these streams.
    pub streams: Option<Vec<String>>,
    /// Per stream: only these fields.
    pub fields: BTreeMap<String, Vec<String>>,
    /// Per stream: only these connections.
    pub connections: BTreeMap<String, Vec<ConnectionId>>,
    /// Per stream: only from this time on.
    pub since: BTreeMap<String, String>,
    /// Per stream: only before this time.
    pub until: BTreeMap<String, String>,
}

impl Narrowing {
    pub(super) fn check(&self, details: &[Detail], now: Instant) -> Result<(), OAuthFault> {
        let known = |index: &String| index.parse::<usize>().is_ok_and(|index| index < details.len());
        if let Some(unknown) = self.sources.keys().find(|index| !known(index)) {
            return Err(OAuthFault::invalid(format!(
                "The request has no entry {}.",
                super::server::shown(unknown)
            )));
        }
        match self.expires_at.as_deref().map(Instant::parse) {
            Some(None) => Err(OAuthFault::invalid("`expires_at` is no time.")),
            Some(Some(at)) if at <= now => Err(OAuthFault::invalid("The grant would end before it begins.")),
            _ => Ok(()),
        }
    }

    /// When the owner wants it to end.
    pub(super) fn expires(&self) -> Option<Instant> {
        self.expires_at.as_deref().and_then(Instant::parse)
    }
}

/// The proposals as they are left.
pub(super) fn apply(proposals: Vec<Proposal>, narrowing: &Narrowing) -> Result<Vec<Proposal>, OAuthFault> {
    let mut left = Vec::with_capacity(proposals.len());
    for mut proposal in proposals {
        match narrowing.sources.get(&proposal.index.to_string()) {
            Some(narrowing) if narrowing.rejected => continue,
            Some(narrowing) => narrow(&mut proposal, narrowing)?,
            None => {}
        }
        match (proposal.grant.access_mode, narrowing.access_mode) {
            (AccessMode::SingleUse, Some(AccessMode::Continuous)) => return Err(widens("lasting access")),
            (_, Some(mode)) => proposal.grant.access_mode = mode,
            (_, None) => {}
        }
        left.push(proposal);
    }
    Ok(left)
}

fn narrow(proposal: &mut Proposal, narrowing: &SourceNarrowing) -> Result<(), OAuthFault> {
    let streams = &mut proposal.grant.streams;
    let asked = |name: &str| streams.iter().any(|stream| stream.name.as_str() == name);
    let named = narrowing.streams.iter().flatten().chain(narrowing.fields.keys());
    let named =
        named.chain(narrowing.connections.keys()).chain(narrowing.since.keys()).chain(narrowing.until.keys());
    if let Some(unknown) = named.into_iter().find(|name| !asked(name)) {
        return Err(widens(&format!("the stream '{}'", super::server::shown(unknown))));
    }
    if let Some(kept) = &narrowing.streams {
        streams.retain(|stream| kept.iter().any(|name| name == stream.name.as_str()));
    }
    if streams.is_empty() {
        return Err(OAuthFault::invalid(
            "No stream is left; deny the request, or leave the whole entry out.",
        ));
    }
    let manifest = std::sync::Arc::clone(&proposal.source.manifest);
    for stream in streams {
        let name = stream.name.to_string();
        let declaration = manifest.find_stream(&name).expect("a resolved stream is declared");
        if let Some(fields) = narrowing.fields.get(&name) {
            narrow_fields(stream, declaration, fields)?;
        }
        if let Some(connections) = narrowing.connections.get(&name) {
            narrow_connections(stream, connections)?;
            proposal.chosen.insert(name.clone());
        }
        let bounds = (narrowing.since.get(&name), narrowing.until.get(&name));
        narrow_time(stream, declaration, bounds)?;
    }
    Ok(())
}

fn narrow_fields(
    stream: &mut GrantStream,
    declaration: &StreamDeclaration,
    fields: &[String],
) -> Result<(), OAuthFault> {
    if let Some(more) = fields.iter().find(|field| !stream.fields.contains(field)) {
        return Err(widens(&format!("the field '{}'", super::server::shown(more))));
    }
    if !declaration.selects_fields() && fields.len() < stream.fields.len() {
        return Err(OAuthFault::invalid(format!("The stream '{}' comes with all its fields.", stream.name)));
    }
    let required = |name: &str| declaration.find_field(name).is_some_and(FieldDeclaration::required);
    stream.fields.retain(|name| fields.contains(name) || required(name));
    if stream.fields.is_empty() {
        return Err(OAuthFault::invalid(format!("No field of '{}' is left.", stream.name)));
    }
    Ok(())
}

fn narrow_connections(stream: &mut GrantStream, connections: &[ConnectionId]) -> Result<(), OAuthFault> {
    if let Some(more) = connections.iter().find(|id| !stream.instance_ids.contains(id)) {
        return Err(widens(&format!("the connection '{more}'")));
    }
    stream.instance_ids.retain(|id| connections.contains(id));
    if stream.instance_ids.is_empty() {
        return Err(OAuthFault::invalid(format!("No connection of '{}' is left.", stream.name)));
    }
    Ok(())
}

fn narrow_time(
    stream: &mut GrantStream,
    declaration: &StreamDeclaration,
    (since, until): (Option<&String>, Option<&String>),
) -> Result<(), OAuthFault> {
    if since.is_none() && until.is_none() {
        return Ok(());
    }
    let name = stream.name.clone();
    let field = match (&stream.time_constraint, declaration.consent_time_field()) {
        (Some(constraint), _) => constraint.field.clone(),
        (None, Some(field)) => field.to_owned(),
        (None, None) => {
            return Err(OAuthFault::invalid(format!("The stream '{name}' cannot be limited in time.")));
        }
    };
    let before = stream.time_constraint.clone().unwrap_or(TimeConstraint { field, since: None, until: None });
    let mut after = before.clone();
    if let Some(since) = since {
        after.since = Some(since.clone());
    }
    if let Some(until) = until {
        after.until = Some(until.clone());
    }
    let unusable = || OAuthFault::invalid(format!("The time limits of '{name}' are no times, or reversed."));
    let (new_since, new_until) = after.bounds().ok_or_else(unusable)?;
    let (old_since, old_until) = before.bounds().unwrap_or((None, None));
    if old_since.is_some_and(|old| new_since.is_none_or(|new| new < old))
        || old_until.is_some_and(|old| new_until.is_none_or(|new| new > old))
    {
        return Err(widens(&format!("times of '{name}'")));
    }
    stream.time_constraint = Some(after);
    Ok(())
}

fn widens(what: &str) -> OAuthFault {
    OAuthFault::invalid(format!("The request does not ask for {what}; an approval can only narrow it."))
}
