//! Manifests that are replaced while their connections are in use.

use serde_json::{Value, json};

use crate::rng::Rng;
use crate::world::{Field, Kind, Place, UNDECLARED, World};

/// Declares one more optional field of a stream that both stores have: one that records have carried
/// all along, or a new one. Says which source is to be registered again.
pub(crate) fn widen(rng: &mut Rng, world: &mut World) -> Option<usize> {
    let both: Vec<usize> =
        (0..world.sources.len()).filter(|index| world.sources[*index].place == Place::Both).collect();
    let source = *rng.pick(&both);
    let streams = &mut world.sources[source].streams;
    let index = rng.below(streams.len());
    let (name, kind, schema) = match rng.chance(50) {
        true => (UNDECLARED, Kind::Whole, json!({"type": "integer"})),
        false => ("added", Kind::Text, json!({"type": ["string", "null"]})),
    };
    if streams[index].field(name).is_some() {
        return None;
    }
    streams[index].fields.push(Field { name, kind, schema });
    Some(source)
}

/// Another manifest for a source the client under test was granted nothing of: the same streams and
/// keys, so that it goes on taking records, and nothing else as it was; or the first one again.
pub(crate) fn elsewhere(rng: &mut Rng, world: &World) -> Option<Value> {
    let granted = |index: usize| world.clients[0].grants.iter().any(|grant| grant.source == index);
    let outside: Vec<usize> = (0..world.sources.len()).filter(|index| !granted(*index)).collect();
    if outside.is_empty() {
        return None;
    }
    let mut manifest = world.sources[*rng.pick(&outside)].manifest();
    if rng.chance(25) {
        return Some(manifest);
    }
    manifest["display_name"] = json!(format!("Renamed {}", rng.below(9)));
    manifest["capabilities"] = json!({"refresh_policy": {"maximum_staleness_seconds": 1 + rng.below(9)}});
    let streams = manifest["streams"].as_array_mut().expect("a manifest has streams");
    for stream in streams.iter_mut() {
        stream["description"] = json!("Not as it was.");
        stream["schema"]["properties"]["unheard_of"] = json!({"type": "string"});
        if rng.chance(50) {
            let members = stream.as_object_mut().expect("a stream is an object");
            for name in ["cursor_field", "consent_time_field", "views", "relationships", "query"] {
                members.remove(name);
            }
        }
    }
    streams.push(json!({
        "name": "more", "semantics": "mutable_state", "primary_key": ["id"],
        "schema": {"type": "object", "properties": {"id": {"type": "string"}}},
    }));
    Some(manifest)
}
