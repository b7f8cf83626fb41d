//! What one pair of stores holds, and how they differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Few words, so that they meet; some differ by a letter, for mistyped queries.
pub(crate) const WORDS: [&str; 24] = [
    "harbour",
    "harbours",
    "boat",
    "boats",
    "sailing",
    "storm",
    "invoice",
    "invoices",
    "malta",
    "garden",
    "gardens",
    "winter",
    "the",
    "and",
    "meeting",
    "bob@post.test",
    "inv-2034",
    "café",
    "寿司",
    "🎉",
    "kitchen",
    "marrige",
    "marriage",
    "anna",
];

pub(crate) const STREAMS: [&str; 2] = ["talk", "notes"];

/// Splitmix64.
#[derive(Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("smaller than a usize")
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Scrambles a number.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// One connection's stream and a key.
pub(crate) type Place = (usize, &'static str, String);

/// One write: data, or a deletion. `None` as a whole lets the index commit.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Put(Place, Value),
    Delete(Place),
    CatchUp,
}

/// A granted stream of some connections.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) stream: &'static str,
    pub(crate) connections: Vec<usize>,
    pub(crate) fields: Vec<&'static str>,
    pub(crate) since: Option<u32>,
    pub(crate) until: Option<u32>,
    pub(crate) resources: Option<Vec<String>>,
}

/// Records and a grant.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) records: BTreeMap<Place, Value>,
    pub(crate) grant: Vec<Entry>,
    order: Vec<Place>,
}

const FIELDS: [&str; 8] = ["id", "room", "who", "text", "note", "secret", "at", "kind"];

pub(crate) fn manifest() -> Value {
    let text = || json!({"type": ["string", "null"]});
    let with = |role: &str| json!({"type": ["string", "null"], "x_pdpp_role": role});
    let streams = STREAMS.map(|name| {
        json!({
            "name": name, "semantics": "mutable_state", "primary_key": ["id"],
            "cursor_field": "at", "consent_time_field": "at", "selection": {"fields": true, "resources": true},
            "schema": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"}, "room": with("thread"), "who": with("actor"), "text": with("body"),
                "note": {"type": ["object", "null"]}, "secret": text(), "kind": text(),
                "at": {"type": ["string", "null"], "format": "date-time"},
            }},
            "query": {"search": {"lexical_fields": ["text", "who", "note.inner", "secret"]}},
        })
    });
    json!({"protocol_version": "0.1.0", "connector_key": "talks", "version": "1", "display_name": "Talks", "streams": streams})
}

fn words(rng: &mut Rng, most: usize) -> String {
    let count = 1 + rng.below(most);
    (0..count).map(|_| *rng.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

fn day(day: u32) -> String {
    format!("2026-01-{:02}T00:00:00Z", 1 + day % 28)
}

fn field(rng: &mut Rng, name: &str) -> Value {
    match name {
        "room" => json!(["red", "blue"][rng.below(2)]),
        "who" => json!(["anna", "bob", "malta"][rng.below(3)]),
        "note" => json!({"inner": words(rng, 4), "outer": words(rng, 2)}),
        "at" => json!(day(u32::try_from(rng.below(28)).expect("small"))),
        "kind" => json!(["a", "b"][rng.below(2)]),
        // Some are long, and make several passages.
        _ if rng.chance(3) => json!(format!("{}. ", words(rng, 12)).repeat(40)),
        _ => json!(words(rng, 9)),
    }
}

fn data(rng: &mut Rng, key: &str) -> Value {
    let mut members = Map::new();
    members.insert("id".to_owned(), json!(key));
    for name in &FIELDS[1..] {
        if rng.chance(if matches!(*name, "text" | "at" | "room") { 95 } else { 60 }) {
            members.insert((*name).to_owned(), field(rng, name));
        }
    }
    Value::Object(members)
}

impl World {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let mut records = BTreeMap::new();
        for connection in 0..3 {
            for stream in STREAMS {
                for key in 0..rng.below(9) {
                    let key = format!("k{key}");
                    let record = data(rng, &key);
                    records.insert((connection, stream, key), record);
                }
            }
        }
        let mut order: Vec<Place> = records.keys().cloned().collect();
        for index in (1..order.len()).rev() {
            order.swap(index, rng.below(index + 1));
        }
        let mut grant = Vec::new();
        for stream in STREAMS {
            if grant.is_empty() && stream == "notes" || rng.chance(75) {
                grant.push(entry(rng, stream));
            }
        }
        Self { records, grant, order }
    }

    /// The grant's entry that covers a record, if it is inside.
    pub(crate) fn cover(&self, (connection, stream, key): &Place, data: &Value) -> Option<&Entry> {
        let entry = self
            .grant
            .iter()
            .find(|entry| entry.stream == *stream && entry.connections.contains(connection))?;
        if entry.resources.as_ref().is_some_and(|keys| !keys.contains(key)) {
            return None;
        }
        let bounded = entry.since.is_some() || entry.until.is_some();
        let at = data["at"].as_str().map(|at| at[8..10].parse::<u32>().expect("a day") - 1);
        let inside = match at {
            None => !bounded,
            Some(at) => {
                entry.since.is_none_or(|since| at >= since) && entry.until.is_none_or(|until| at < until)
            }
        };
        inside.then_some(entry)
    }

    /// The records as they are.
    pub(crate) fn plain(&self) -> Vec<Step> {
        let steps = self.order.iter().map(|place| Step::Put(place.clone(), self.records[place].clone()));
        steps.chain([Step::CatchUp]).collect()
    }

    /// The same inside the grant, and something else outside.
    pub(crate) fn altered(&self, rng: &mut Rng) -> Vec<Step> {
        let mut steps = Vec::new();
        for place in &self.order {
            let record = &self.records[place];
            if rng.chance(30) {
                self.noise(rng, &mut steps);
            }
            if rng.chance(10) {
                steps.push(Step::CatchUp);
            }
            match self.cover(place, record) {
                Some(entry) => {
                    if rng.chance(20) {
                        // An earlier life that the grant may have seen, and that is over.
                        steps.push(Step::Put(place.clone(), data(rng, &place.2)));
                        steps.extend(rng.chance(50).then_some(Step::CatchUp));
                        steps.push(Step::Delete(place.clone()));
                    }
                    steps.push(Step::Put(place.clone(), hidden_altered(rng, entry, record)));
                }
                None if rng.chance(30) => {}
                None if rng.chance(50) => {
                    let other = data(rng, &place.2);
                    let other = self.outside(rng, place, other);
                    steps.extend(other.map(|other| Step::Put(place.clone(), other)));
                }
                None => steps.push(Step::Put(place.clone(), record.clone())),
            }
        }
        self.noise(rng, &mut steps);
        steps.push(Step::CatchUp);
        steps
    }

    /// The same but for one record inside the grant.
    pub(crate) fn spoiled(&self, rng: &mut Rng) -> Vec<Step> {
        let mut steps = self.plain();
        let inside = self.order.iter().find(|place| self.cover(place, &self.records[*place]).is_some());
        if let Some(place) = inside {
            let mut record = self.records[place].clone();
            for name in ["text", "who", "secret"] {
                record[name] = field(rng, name);
            }
            record["note"] = field(rng, "note");
            steps.push(Step::Put(place.clone(), record));
        }
        steps.push(Step::CatchUp);
        steps
    }

    /// Records that exist in one store only, all outside the grant; some do not stay.
    fn noise(&self, rng: &mut Rng, steps: &mut Vec<Step>) {
        for _ in 0..rng.below(4) {
            let place = (rng.below(3), *rng.pick(&STREAMS), format!("x{}", rng.below(6)));
            let record = data(rng, &place.2);
            if let Some(record) = self.outside(rng, &place, record) {
                steps.push(Step::Put(place.clone(), record));
                if rng.chance(30) {
                    steps.extend(rng.chance(50).then_some(Step::CatchUp));
                    steps.push(Step::Delete(place));
                }
            }
        }
    }

    /// The record, moved outside the grant; nothing when it cannot be.
    fn outside(&self, rng: &mut Rng, place: &Place, mut record: Value) -> Option<Value> {
        for _ in 0..8 {
            if self.cover(place, &record).is_none() {
                return Some(record);
            }
            record["at"] = field(rng, "at");
        }
        None
    }
}

fn entry(rng: &mut Rng, stream: &'static str) -> Entry {
    let mut connections: Vec<usize> = (0..3).filter(|_| rng.chance(50)).collect();
    if connections.is_empty() {
        connections.push(rng.below(3));
    }
    let fields = FIELDS.into_iter().filter(|name| match *name {
        "id" => true,
        "text" => rng.chance(90),
        "secret" => rng.chance(25),
        _ => rng.chance(60),
    });
    let fields = fields.collect();
    let small = |rng: &mut Rng, bound| u32::try_from(rng.below(bound)).expect("small");
    let since = rng.chance(30).then(|| small(rng, 14));
    let until = rng.chance(20).then(|| since.unwrap_or(5) + 3 + small(rng, 12));
    let resources = rng.chance(20).then(|| {
        let chosen: Vec<_> = (0..6).filter(|_| rng.chance(60)).map(|key| format!("k{key}")).collect();
        if chosen.is_empty() { vec!["k1".to_owned()] } else { chosen }
    });
    Entry { stream, connections, fields, since, until, resources }
}

/// The record with other values in fields the grant does not open. A field that bounds the grant stays.
fn hidden_altered(rng: &mut Rng, entry: &Entry, record: &Value) -> Value {
    let mut altered = record.clone();
    let bounded = entry.since.is_some() || entry.until.is_some();
    for name in FIELDS {
        let bounds = name == "at" && bounded;
        if !entry.fields.contains(&name) && !bounds && rng.chance(60) {
            altered[name] = field(rng, name);
        }
    }
    altered
}
