//! What happens in a store over time, and in its twin: the same inside the grant, anything outside.

use serde_json::{Value, json};

use crate::archive::{Archive, Data};
use crate::rng::Rng;
use crate::world::{
    Field, GrantedStream, HIDDEN_KEYS, Place, Stream, UNDECLARED, World, canonical, keys_of, value,
};

/// One thing that happens to a store.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(Write),
    Purge { connection: usize, stream: String },
    Rename { connection: usize, label: String },
}

/// A record written, or deleted when it has no data.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) connection: usize,
    pub(crate) stream: String,
    pub(crate) key: Vec<String>,
    pub(crate) data: Option<Data>,
    pub(crate) emitted_at: i64,
}

/// Whether nothing that happens to this key can ever be inside the grant.
fn is_outside(entry: Option<&GrantedStream>, key: &[String]) -> bool {
    let Some(entry) = entry else { return true };
    let hidden = HIDDEN_KEYS.contains(&key[0].as_str()) && entry.time.is_some();
    hidden || entry.resources.as_ref().is_some_and(|keys| !keys.contains(&canonical(key)))
}

/// The next thing that happens in the first store.
pub(crate) fn next_step(rng: &mut Rng, world: &World, archive: &Archive) -> Step {
    let places: Vec<usize> =
        (0..world.connections.len()).filter(|index| world.connections[*index].place == Place::Both).collect();
    let connection = *rng.pick(&places);
    let granted: Vec<&GrantedStream> =
        world.clients[0].grants.iter().flat_map(|grant| &grant.streams).collect();
    let entry = *rng.pick(&granted);
    let inside = *rng.pick(&entry.connections);
    let anywhere = any_stream(rng, world, connection);
    match world.stream(inside, &entry.name).filter(|_| rng.chance(70)) {
        Some(stream) => step_in(rng, world, archive, inside, stream),
        None => step_in(rng, world, archive, connection, anywhere),
    }
}

fn any_stream<'w>(rng: &mut Rng, world: &'w World, connection: usize) -> &'w Stream {
    rng.pick(&world.sources[world.connections[connection].source].streams)
}

fn step_in(rng: &mut Rng, world: &World, archive: &Archive, connection: usize, stream: &Stream) -> Step {
    if rng.chance(1) {
        return Step::Purge { connection, stream: stream.name.clone() };
    }
    let key = rng.pick(&keys_of(stream)).clone();
    let current = archive.current(connection, &stream.name, &canonical(&key));
    let data = (!rng.chance(14)).then(|| {
        let mut data = match current {
            Some(current) if rng.chance(60) => altered(rng, stream, current),
            _ => fresh(rng, stream, &key),
        };
        keep_outside(world, connection, stream, &key, &mut data);
        data
    });
    Step::Write(Write { connection, stream: stream.name.clone(), key, data, emitted_at: emission(rng) })
}

fn emission(rng: &mut Rng) -> i64 {
    let start = 1_772_000_000_000_000;
    start
        + i64::try_from(rng.below(20 * 86_400)).expect("small") * 1_000_000
        + i64::try_from(rng.below(999)).expect("small")
}

/// A record whose fields are all drawn anew.
fn fresh(rng: &mut Rng, stream: &Stream, key: &[String]) -> Data {
    let mut data = Data::new();
    for field in &stream.fields {
        let part = stream.key.iter().position(|name| *name == field.name);
        let drawn = match part {
            Some(part) => (!rng.chance(4)).then(|| json!(key[part])),
            None => value(rng, field),
        };
        data.extend(drawn.map(|value| (field.name.to_owned(), value)));
    }
    if rng.chance(25) {
        data.insert(UNDECLARED.to_owned(), json!(rng.below(100)));
    }
    data
}

/// The same record with one or two fields drawn anew.
fn altered(rng: &mut Rng, stream: &Stream, current: &Data) -> Data {
    let free: Vec<&Field> = stream.fields.iter().filter(|field| !stream.key.contains(&field.name)).collect();
    let mut data = current.clone();
    for _ in 0..rng.below(3) {
        let field = *rng.pick(&free);
        match value(rng, field) {
            Some(value) => data.insert(field.name.to_owned(), value),
            None => data.shift_remove(field.name),
        };
    }
    data
}

/// Hidden keys never come into the time limit of the client under test.
fn keep_outside(world: &World, connection: usize, stream: &Stream, key: &[String], data: &mut Data) {
    let limit = world.cover(0, connection, &stream.name).and_then(|entry| entry.time.as_ref());
    if let (Some(limit), true) = (limit, HIDDEN_KEYS.contains(&key[0].as_str())) {
        data.insert(limit.field.to_owned(), json!("soon"));
    }
}

/// What happens in the twin instead.
pub(crate) fn twin_steps(rng: &mut Rng, world: &World, twin: &Archive, step: &Step) -> Vec<Step> {
    match step {
        Step::Rename { .. } => vec![step.clone()],
        Step::Purge { connection, stream } => match world.cover(0, *connection, stream) {
            None if rng.chance(50) => Vec::new(),
            _ => vec![step.clone()],
        },
        Step::Write(write) => {
            let entry = world.cover(0, write.connection, &write.stream);
            match entry {
                Some(entry) if !is_outside(Some(entry), &write.key) => {
                    vec![Step::Write(inside(rng, world, entry, write))]
                }
                _ => match rng.below(3) {
                    0 => Vec::new(),
                    1 => vec![step.clone()],
                    _ => vec![outside(rng, world, twin, write.connection).unwrap_or_else(|| step.clone())],
                },
            }
        }
    }
}

/// The same write, with other values in the fields the grant does not name.
fn inside(rng: &mut Rng, world: &World, entry: &GrantedStream, write: &Write) -> Write {
    let stream = world.stream(write.connection, &write.stream).expect("written streams are declared");
    let data = write.data.as_ref().map(|data| veiled(rng, stream, entry, data));
    Write { data, ..write.clone() }
}

/// The data with every ungranted field drawn anew; granted ones keep value and order, and the
/// record stays inside or outside the grant's time.
fn veiled(rng: &mut Rng, stream: &Stream, entry: &GrantedStream, data: &Data) -> Data {
    let mut twin = Data::new();
    for field in &stream.fields {
        // Ungranted fields may also come to stand before granted ones.
        if !entry.fields.contains(field.name) && !stream.key.contains(&field.name) && rng.chance(30) {
            twin.extend(value(rng, field).map(|value| (field.name.to_owned(), value)));
        }
    }
    for (name, value) in data {
        // An ungranted key field may only be left out: another value would be another record.
        if entry.fields.contains(name) || (stream.key.contains(&name.as_str()) && rng.chance(80)) {
            twin.insert(name.clone(), value.clone());
        }
    }
    for field in &stream.fields {
        let free = !entry.fields.contains(field.name) && !stream.key.contains(&field.name);
        if free && !twin.contains_key(field.name) {
            twin.extend(value(rng, field).map(|value| (field.name.to_owned(), value)));
        }
    }
    if !entry.fields.contains(UNDECLARED) && rng.chance(30) {
        twin.insert(UNDECLARED.to_owned(), json!(rng.below(100)));
    }
    if let Some(limit) = &entry.time
        && !entry.fields.contains(limit.field)
        && limit.holds(&twin) != limit.holds(data)
    {
        let same = data.get(limit.field).cloned().unwrap_or(Value::Null);
        twin.insert(limit.field.to_owned(), same);
    }
    twin
}

/// Something that happens in the twin alone, outside the grant.
pub(crate) fn noise(rng: &mut Rng, world: &World, twin: &Archive) -> Option<Step> {
    let connection = rng.below(world.connections.len());
    match rng.below(10) {
        0..=4 => hidden_change(rng, world, twin),
        5 if !granted_at_all(world, connection) => {
            Some(Step::Rename { connection, label: format!("Renamed {}", rng.below(9)) })
        }
        _ => outside(rng, world, twin, connection),
    }
}

fn granted_at_all(world: &World, connection: usize) -> bool {
    let entries = world.clients[0].grants.iter().flat_map(|grant| &grant.streams);
    entries.into_iter().any(|entry| entry.connections.contains(&connection))
}

/// A write, delete or purge that the grant knows nothing of.
fn outside(rng: &mut Rng, world: &World, twin: &Archive, connection: usize) -> Option<Step> {
    let stream = any_stream(rng, world, connection);
    let step = step_in(rng, world, twin, connection, stream);
    match &step {
        Step::Write(write) => {
            is_outside(world.cover(0, connection, &write.stream), &write.key).then_some(step)
        }
        Step::Purge { stream, .. } => world.cover(0, connection, stream).is_none().then_some(step),
        Step::Rename { .. } => None,
    }
}

/// A visible record changes in fields the grant does not name.
fn hidden_change(rng: &mut Rng, world: &World, twin: &Archive) -> Option<Step> {
    if twin.rows.is_empty() {
        return None;
    }
    let row = rng.pick(&twin.rows);
    let entry = world.cover(0, row.connection, &row.stream)?;
    let stream = world.stream(row.connection, &row.stream)?;
    let key = keys_of(stream).into_iter().find(|key| canonical(key) == row.key)?;
    if stream.append_only || is_outside(Some(entry), &key) {
        return None;
    }
    let data = Some(veiled(rng, stream, entry, row.data()?));
    let (connection, stream) = (row.connection, row.stream.clone());
    Some(Step::Write(Write { connection, stream, key, data, emitted_at: emission(rng) }))
}
