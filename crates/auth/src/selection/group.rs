//! Packs chosen streams into as few requests as grants can carry.
//!
//! A grant has one source and names each stream once. The same stream with the same fields under
//! several connections is one entry; with other fields it needs a grant of its own.

use pdpp_access::Denial;
use pdpp_wire::{SelectionRequest, StreamSelection, TimeRange};

use super::{Chosen, SelectionArgs, refused};

pub(super) fn requests(
    chosen: &[Chosen<'_>],
    args: &SelectionArgs<'_>,
    time_range: Option<&TimeRange>,
) -> Result<Vec<SelectionRequest>, Denial> {
    refuse_repeats(chosen)?;
    let mut requests: Vec<SelectionRequest> = Vec::new();
    for one in chosen {
        let fits = |request: &SelectionRequest| {
            request.source == *one.source.manifest.source() && takes(request, one)
        };
        let index = requests.iter().position(fits).unwrap_or_else(|| {
            requests.push(empty_request(one, args));
            requests.len() - 1
        });
        put(&mut requests[index], one, time_range);
    }
    Ok(requests)
}

fn empty_request(one: &Chosen<'_>, args: &SelectionArgs<'_>) -> SelectionRequest {
    SelectionRequest {
        source: one.source.manifest.source().clone(),
        purpose_code: args.purpose_code.to_owned(),
        purpose_description: args.purpose_description.map(str::to_owned),
        access_mode: args.access_mode,
        streams: Vec::new(),
        selection_preset: None,
        retention: None,
    }
}

/// `*` stands alone in its request; any other stream joins unless its name is taken with other fields.
fn takes(request: &SelectionRequest, one: &Chosen<'_>) -> bool {
    let wild = |name: &str| name == "*";
    request.streams.iter().all(|entry| {
        if entry.name == one.name {
            entry.fields == one.fields
        } else {
            !wild(&entry.name) && !wild(&one.name)
        }
    })
}

fn put(request: &mut SelectionRequest, one: &Chosen<'_>, time_range: Option<&TimeRange>) {
    match request.streams.iter_mut().find(|entry| entry.name == one.name) {
        Some(entry) => entry.instance_ids.get_or_insert_default().push(one.connection_id.clone()),
        None => request.streams.push(StreamSelection {
            name: one.name.clone(),
            fields: one.fields.clone(),
            view: None,
            time_range: time_range.cloned(),
            resources: None,
            instance_ids: Some(vec![one.connection_id.clone()]),
        }),
    }
}

fn refuse_repeats(chosen: &[Chosen<'_>]) -> Result<(), Denial> {
    for (index, one) in chosen.iter().enumerate() {
        let same = |other: &Chosen<'_>| {
            other.connection_id == one.connection_id
                && (other.name == one.name || other.name == "*" || one.name == "*")
        };
        if chosen[..index].iter().any(same) {
            return Err(refused(format!("The stream '{}' is named twice for one connection.", one.name)));
        }
    }
    Ok(())
}
