//! Turns a selection request into a grant, against the declaration the owner saw.
//!
//! Wildcards, views and presets end here: a grant names concrete streams, fields, times and
//! connections only. Fields the schema requires are always part of a selection, because a record
//! without them would not be the declared record.

use std::collections::BTreeSet;

use pdpp_wire::manifest::{Preset, StreamDeclaration};
use pdpp_wire::{
    ClientId, Code, ConnectionId, Grant, GrantClient, GrantId, GrantStream, GrantSubject, Instant, RecordKey,
    SelectionRequest, SourceDeclarationRef, StreamSelection, SubjectId, TimeConstraint,
};

use crate::{Connection, Denial, Source};

/// What the authorization server adds to a selection.
#[derive(Clone, Debug)]
pub struct GrantTerms {
    /// Names the new grant.
    pub grant_id: GrantId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Who may read.
    pub client_id: ClientId,
    /// Now.
    pub issued_at: Instant,
    /// When it ends.
    pub expires_at: Option<Instant>,
}

/// Resolves a request for one source into a checked grant.
pub fn resolve_selection(
    source: &Source,
    request: &SelectionRequest,
    terms: &GrantTerms,
) -> Result<Grant, Denial> {
    if source.manifest.source().id != request.source.id {
        return Err(refused(format!("The source '{}' is not declared here.", request.source.id)));
    }
    let selections = selected_streams(source, request)?;
    let streams =
        selections.iter().map(|selection| resolve_stream(source, selection)).collect::<Result<_, _>>()?;
    let grant = Grant {
        version: "0.1.0".to_owned(),
        grant_id: terms.grant_id.clone(),
        issued_at: terms.issued_at.to_rfc3339(),
        subject: GrantSubject { id: terms.subject_id.clone() },
        client: GrantClient { client_id: terms.client_id.clone(), client_display: None },
        source: source.manifest.source().clone(),
        source_declaration: SourceDeclarationRef { version: source.declaration_version.clone() },
        purpose_code: request.purpose_code.clone(),
        purpose_description: request.purpose_description.clone(),
        access_mode: request.access_mode,
        streams,
        selection_preset: request.selection_preset.clone(),
        retention: request.retention.clone(),
        expires_at: terms.expires_at.map(Instant::to_rfc3339),
    };
    grant.check().map_err(|fault| refused(fault.to_string()))?;
    Ok(grant)
}

fn selected_streams(source: &Source, request: &SelectionRequest) -> Result<Vec<StreamSelection>, Denial> {
    if let Some(id) = &request.selection_preset {
        let preset = source.manifest.presets().iter().find(|preset| &preset.id == id);
        return match preset {
            Some(preset) if request.streams.is_empty() => Ok(preset_streams(preset)),
            Some(_) => Err(refused("Name a preset or streams, not both.")),
            None => Err(refused(format!("The preset '{id}' is not declared."))),
        };
    }
    if let [only] = request.streams.as_slice()
        && only.name == "*"
    {
        let declared = source.manifest.streams().iter();
        return Ok(declared
            .map(|stream| StreamSelection { name: stream.name().to_string(), ..only.clone() })
            .collect());
    }
    if request.streams.is_empty() {
        return Err(refused("Name at least one stream, or `*`."));
    }
    Ok(request.streams.clone())
}

fn preset_streams(preset: &Preset) -> Vec<StreamSelection> {
    let streams = preset.streams.iter().map(|stream| StreamSelection {
        name: stream.name.clone(),
        fields: stream.fields.clone(),
        view: stream.view.clone(),
        ..StreamSelection::default()
    });
    streams.collect()
}

fn resolve_stream(source: &Source, selection: &StreamSelection) -> Result<GrantStream, Denial> {
    let Some(declaration) = source.manifest.find_stream(&selection.name) else {
        return Err(refused(format!(
            "The stream '{}' is not declared by '{}'.",
            selection.name,
            source.key()
        )));
    };
    Ok(GrantStream {
        name: declaration.name().clone(),
        instance_ids: resolve_connections(source, selection)?,
        fields: resolve_fields(declaration, selection)?,
        time_constraint: resolve_time(declaration, selection)?,
        resources: resolve_resources(declaration, selection)?,
    })
}

fn resolve_fields(
    declaration: &StreamDeclaration,
    selection: &StreamSelection,
) -> Result<Vec<String>, Denial> {
    let name = declaration.name();
    let chosen: Vec<String> = match (&selection.view, &selection.fields) {
        (Some(_), Some(_)) => {
            return Err(refused(format!("Stream '{name}': name a view or fields, not both.")));
        }
        (Some(view), None) => match declaration.find_view(view) {
            Some(view) => view.fields.clone(),
            None => return Err(refused(format!("Stream '{name}' declares no view '{view}'."))),
        },
        (None, Some(_)) if !declaration.selects_fields() => {
            return Err(refused(format!("Stream '{name}' does not allow choosing fields.")));
        }
        (None, Some(fields)) => fields.clone(),
        (None, None) => declaration.fields().iter().map(|field| field.name().to_owned()).collect(),
    };
    if let Some(unknown) = chosen.iter().find(|field| declaration.find_field(field).is_none()) {
        return Err(refused(format!("Stream '{name}' declares no field '{unknown}'.")));
    }
    let required =
        declaration.fields().iter().filter(|field| field.required()).map(|field| field.name().to_owned());
    let all: BTreeSet<String> = chosen.into_iter().chain(required).collect();
    Ok(all.into_iter().collect())
}

fn resolve_time(
    declaration: &StreamDeclaration,
    selection: &StreamSelection,
) -> Result<Option<TimeConstraint>, Denial> {
    let Some(range) = &selection.time_range else {
        return Ok(None);
    };
    let name = declaration.name();
    let Some(field) = declaration.consent_time_field() else {
        return Err(refused(format!("Stream '{name}' has no time field and cannot be limited in time.")));
    };
    let constraint =
        TimeConstraint { field: field.to_owned(), since: range.since.clone(), until: range.until.clone() };
    if constraint.bounds().is_none() {
        return Err(refused(format!(
            "Stream '{name}': the time range needs a parseable since or until, in order."
        )));
    }
    Ok(Some(constraint))
}

fn resolve_resources(
    declaration: &StreamDeclaration,
    selection: &StreamSelection,
) -> Result<Option<Vec<RecordKey>>, Denial> {
    let Some(keys) = &selection.resources else {
        return Ok(None);
    };
    let name = declaration.name();
    if !declaration.selects_resources() {
        return Err(refused(format!("Stream '{name}' does not allow choosing records.")));
    }
    let arity = declaration.primary_key().len();
    let canonical = |key: &RecordKey| {
        arity == 1
            || serde_json::from_str::<Vec<String>>(key.as_str()).is_ok_and(|parts| {
                parts.len() == arity && serde_json::to_string(&parts).is_ok_and(|text| text == key.as_str())
            })
    };
    if let Some(bad) = keys.iter().find(|key| !canonical(key)) {
        return Err(refused(format!("Stream '{name}': '{bad}' is not a canonical key of {arity} parts.")));
    }
    Ok(Some(keys.clone()))
}

fn resolve_connections(source: &Source, selection: &StreamSelection) -> Result<Vec<ConnectionId>, Denial> {
    let eligible: Vec<&Connection> =
        source.connections.iter().filter(|connection| connection.is_readable()).collect();
    if let Some(named) = &selection.instance_ids {
        let unknown =
            named.iter().find(|id| !eligible.iter().any(|connection| &connection.connection_id == *id));
        return match unknown {
            Some(id) => Err(refused(format!("'{id}' is not an active connection of '{}'.", source.key()))),
            None => Ok(named.clone()),
        };
    }
    match eligible.as_slice() {
        [one] => Ok(vec![one.connection_id.clone()]),
        several => {
            let (name, found) = (&selection.name, several.len());
            let message =
                format!("Stream '{name}' requires exactly one eligible connection, found {found}; name one.");
            Err(refused(message).choose_from(several.iter().map(|connection| connection.offered()).collect()))
        }
    }
}

fn refused(message: impl Into<String>) -> Denial {
    Denial::new(Code::InvalidAuthorizationDetails, message)
}

#[cfg(test)]
mod tests;
