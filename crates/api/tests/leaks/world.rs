//! Random worlds: sources and their declarations, connections, tokens and their grants.
//!
//! A world is small and dense on purpose: few keys, few values and the same stream names under
//! several sources, so that whatever can collide does.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::moment::micros;
use crate::rng::Rng;

/// Stands for the field of an older declaration: in the data and perhaps a grant, not in the schema.
pub(crate) const UNDECLARED: &str = "x_extra";
/// When grants end: an hour and three hours after the run begins, and long after it.
const EXPIRIES: [&str; 3] =
    ["2026-03-20T13:00:00.000Z", "2026-03-20T15:00:00.000Z", "2027-01-01T00:00:00.000Z"];
/// Keys that no grant with a time limit ever shows.
pub(crate) const HIDDEN_KEYS: [&str; 2] = ["h0", "h1"];

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) sources: Vec<Source>,
    pub(crate) connections: Vec<Connection>,
    /// Whether the bytes behind `blob_ref` were uploaded.
    pub(crate) uploads: bool,
    /// The client under test first, then another client of the same owner.
    pub(crate) clients: Vec<Client>,
}

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) key: String,
    pub(crate) uri: String,
    pub(crate) staleness: Option<i64>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) place: Place,
}

/// In which of the two stores something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Both,
    TwinOnly,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) source: usize,
    pub(crate) label: Option<String>,
    /// 0 is the owner under test.
    pub(crate) subject: usize,
    pub(crate) place: Place,
    /// Given by the store when the connection is made.
    pub(crate) id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Whole,
    Number,
    Text,
    Moment,
    Json,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) schema: Value,
}

#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) name: &'static str,
    pub(crate) stream: String,
    pub(crate) foreign_key: &'static str,
    pub(crate) many: bool,
    /// Default and greatest number of children, when reads may expand it.
    pub(crate) expand: Option<(u64, u64)>,
}

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) append_only: bool,
    pub(crate) fields: Vec<Field>,
    pub(crate) key: Vec<&'static str>,
    pub(crate) cursor_field: Option<&'static str>,
    pub(crate) time_field: Option<&'static str>,
    pub(crate) views: Vec<(String, Vec<&'static str>)>,
    pub(crate) relations: Vec<Relation>,
    pub(crate) ranges: Vec<(&'static str, Vec<&'static str>)>,
    pub(crate) count: bool,
    /// `sum`, `min`, `max`, `group_by`, `group_by_time`, `count_distinct` and their fields.
    pub(crate) aggregations: Vec<(&'static str, Vec<&'static str>)>,
    pub(crate) lexical: Vec<&'static str>,
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) grants: Vec<Granted>,
}

#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) id: String,
    pub(crate) source: usize,
    pub(crate) streams: Vec<GrantedStream>,
    pub(crate) expires_at: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct GrantedStream {
    pub(crate) name: String,
    pub(crate) connections: Vec<usize>,
    pub(crate) fields: BTreeSet<String>,
    pub(crate) time: Option<TimeLimit>,
    pub(crate) resources: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    pub(crate) field: &'static str,
    pub(crate) since: Option<&'static str>,
    pub(crate) until: Option<&'static str>,
}

/// Each instant is spelled one way only, so that "the stored value" of a least time is one text.
pub(crate) const MOMENTS: [&str; 13] = [
    "2024-02-29T12:00:00Z",
    "2025-12-31T23:30:00Z",
    "2026-02-27T23:59:59Z",
    "2026-03-01T01:30:00+02:00",
    "2026-03-01T00:00:00Z",
    "2026-03-01T12:00:00.5Z",
    "2026-03-02T00:00:00",
    "2026-03-02T08:15:30.123456Z",
    "2026-03-08T10:00:00Z",
    "2026-03-29T00:30:00Z",
    "2026-03-29T01:30:00Z",
    "2026-10-25T00:30:00Z",
    "2026-10-25T01:30:00Z",
];
/// The fields that hold instants.
pub(crate) const DATES: [&str; 2] = ["at", "day"];
pub(crate) const DAYS: [&str; 6] =
    ["2024-02-29", "2025-12-31", "2026-02-28", "2026-03-01", "2026-03-02", "2026-03-31"];
const BOUNDS: [&str; 6] = [
    "2025-12-31",
    "2026-02-28T23:30:00Z",
    "2026-03-01",
    "2026-03-01T13:00:00.5+01:00",
    "2026-03-02",
    "2026-03-29",
];
const WORDS: [&str; 12] = [
    "Invoice",
    "café",
    "CAFÉ noir",
    "über",
    "Über alles",
    "naïve plan",
    "😀 ok",
    "plain words",
    "zebra",
    "MiXeD",
    "null",
    "été à Paris",
];
/// Longer than a text column keeps whole.
const LONG: &str = "a long kind that no column keeps whole because it goes on and on and on, far beyond what anybody \
would call a kind, until it is well past one hundred and twenty bytes";

fn pool() -> Vec<Field> {
    let field = |name, kind, schema| Field { name, kind, schema };
    vec![
        field(
            "title",
            Kind::Text,
            json!({"type": ["string", "null"], "x_pdpp_type": "text", "x_pdpp_role": "primary-title"}),
        ),
        field("kind", Kind::Text, json!({"type": "string"})),
        field("body", Kind::Text, json!({"type": "string"})),
        field("rank", Kind::Whole, json!({"type": ["integer", "null"]})),
        field("price", Kind::Number, json!({"type": ["null", "number"], "x_pdpp_role": "amount"})),
        field("flag", Kind::Flag, json!({"type": "boolean"})),
        field(
            "at",
            Kind::Moment,
            json!({"type": ["string", "null"], "format": "date-time", "x_pdpp_role": "event-time"}),
        ),
        field("day", Kind::Moment, json!({"type": "string", "format": "date"})),
        field("meta", Kind::Json, json!({"type": "object"})),
        field("tags", Kind::Json, json!({"type": "array"})),
        field("a.b", Kind::Text, json!({"type": "string"})),
        field("a", Kind::Json, json!({"type": ["object", "string"]})),
        field("parent", Kind::Text, json!({"type": ["string", "null"]})),
        field(
            "blob_ref",
            Kind::Json,
            json!({"type": ["object", "null"], "required": ["blob_id"], "properties": {
                "blob_id": {"type": "string"}, "mime_type": {"type": "string"}, "sha256": {"type": "string"},
                "size_bytes": {"type": "integer"}}}),
        ),
    ]
}

impl World {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let mut sources: Vec<Source> = Vec::new();
        for (index, key) in ["alpha", "beta", "gamma"].into_iter().enumerate() {
            if index == 0 || rng.chance(60) {
                sources.push(Source::random(rng, key, Place::Both));
            }
        }
        if rng.chance(50) {
            sources.push(Source::random(rng, "omega", Place::TwinOnly));
        }
        let mut connections = Vec::new();
        for (source, declared) in sources.iter().enumerate() {
            for _ in 0..=rng.below(3) {
                connections.push(Connection::random(rng, source, 0, declared.place));
            }
            if rng.chance(40) {
                connections.push(Connection::random(rng, source, 0, Place::TwinOnly));
            }
            if rng.chance(30) {
                connections.push(Connection::random(rng, source, 1, declared.place));
            }
        }
        let mut world = Self { sources, connections, uploads: rng.chance(25), clients: Vec::new() };
        for id in ["assistant", "notes-app"] {
            let client = world.client(rng, id);
            world.clients.push(client);
        }
        world
    }

    fn client(&self, rng: &mut Rng, id: &str) -> Client {
        let mut covered: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut grants: Vec<Granted> = Vec::new();
        let wanted = 1 + rng.below(3);
        for attempt in 0.. {
            if grants.len() == wanted || (attempt > 12 && !grants.is_empty()) {
                break;
            }
            let source = rng.below(self.sources.len());
            if self.sources[source].place == Place::TwinOnly {
                continue;
            }
            let streams = self.granted_streams(rng, source, &mut covered);
            if streams.is_empty() {
                continue;
            }
            let id = format!("grt_{id}_{}", grants.len()).replace('-', "_");
            let expires_at = rng.chance(30).then(|| *rng.pick(&EXPIRIES));
            grants.push(Granted { id, source, streams, expires_at });
        }
        Client { id: id.to_owned(), grants }
    }

    fn granted_streams(
        &self,
        rng: &mut Rng,
        source: usize,
        covered: &mut BTreeSet<(usize, String)>,
    ) -> Vec<GrantedStream> {
        let mut streams = Vec::new();
        for stream in &self.sources[source].streams {
            if !rng.chance(75) {
                continue;
            }
            let free: Vec<usize> = (0..self.connections.len())
                .filter(|index| {
                    let connection = &self.connections[*index];
                    connection.source == source
                        && connection.subject == 0
                        && connection.place == Place::Both
                        && !covered.contains(&(*index, stream.name.clone()))
                })
                .collect();
            if free.is_empty() {
                continue;
            }
            let connections = rng.some_of(65, &free);
            covered.extend(connections.iter().map(|index| (*index, stream.name.clone())));
            streams.push(GrantedStream::random(rng, stream, connections));
        }
        let gone = (0..self.connections.len()).find(|index| {
            let connection = &self.connections[*index];
            connection.source == source && connection.subject == 0 && connection.place == Place::Both
        });
        if let Some(connection) =
            gone.filter(|index| rng.chance(3) && covered.insert((*index, "gone".to_owned())))
        {
            let fields = BTreeSet::from(["id".to_owned()]);
            let name = "gone".to_owned();
            streams.push(GrantedStream {
                name,
                connections: vec![connection],
                fields,
                time: None,
                resources: None,
            });
        }
        streams
    }

    /// What the client's grants say about one stream of one connection.
    pub(crate) fn cover(&self, client: usize, connection: usize, stream: &str) -> Option<&GrantedStream> {
        let grants = self.clients[client].grants.iter();
        grants
            .flat_map(|grant| &grant.streams)
            .find(|entry| entry.name == stream && entry.connections.contains(&connection))
    }

    pub(crate) fn stream(&self, connection: usize, name: &str) -> Option<&Stream> {
        self.sources[self.connections[connection].source].streams.iter().find(|stream| stream.name == name)
    }
}

impl GrantedStream {
    fn random(rng: &mut Rng, stream: &Stream, connections: Vec<usize>) -> Self {
        let names: Vec<String> = stream.fields.iter().map(|field| field.name.to_owned()).collect();
        let mut fields: BTreeSet<String> = rng.some_of(60, &names).into_iter().collect();
        for often in ["id", "parent", "blob_ref"] {
            if rng.chance(60) && stream.field(often).is_some() {
                fields.insert(often.to_owned());
            }
        }
        if rng.chance(8) {
            fields.insert(UNDECLARED.to_owned());
        }
        let time = stream.time_field.filter(|_| rng.chance(45)).map(|field| TimeLimit::random(rng, field));
        let resources = rng.chance(20).then(|| {
            let keys: Vec<String> = keys_of(stream).iter().map(|parts| canonical(parts)).collect();
            rng.some_of(50, &keys).into_iter().collect()
        });
        Self { name: stream.name.clone(), connections, fields, time, resources }
    }

    /// Whether a record with this key and data satisfies the grant's constraints.
    pub(crate) fn shows(&self, key: &str, data: &Map<String, Value>) -> bool {
        self.resources.as_ref().is_none_or(|keys| keys.contains(key))
            && self.time.as_ref().is_none_or(|limit| limit.holds(data))
    }
}

impl TimeLimit {
    fn random(rng: &mut Rng, field: &'static str) -> Self {
        let (low, high) = (rng.below(BOUNDS.len()), rng.below(BOUNDS.len()));
        let (low, high) = (low.min(high), low.max(high));
        let mode = rng.below(3);
        Self { field, since: (mode != 1).then_some(BOUNDS[low]), until: (mode != 0).then_some(BOUNDS[high]) }
    }

    pub(crate) fn holds(&self, data: &Map<String, Value>) -> bool {
        let Some(at) = data.get(self.field).and_then(Value::as_str).and_then(micros) else { return false };
        let bound = |text: &str| micros(text).expect("bounds are instants");
        self.since.is_none_or(|since| bound(since) <= at) && self.until.is_none_or(|until| at < bound(until))
    }
}

impl Connection {
    fn random(rng: &mut Rng, source: usize, subject: usize, place: Place) -> Self {
        let label = match rng.below(6) {
            0 => None,
            1 => Some("legacy".to_owned()),
            number => Some(format!("Account {number}")),
        };
        Self { source, label, subject, place, id: String::new() }
    }
}

impl Source {
    fn random(rng: &mut Rng, key: &str, place: Place) -> Self {
        let names = ["notes", "mail", "items"];
        let count = 1 + rng.below(3);
        let mut streams: Vec<Stream> = names[..count].iter().map(|name| Stream::random(rng, name)).collect();
        let with_parent: Vec<String> = streams
            .iter()
            .filter(|stream| stream.field("parent").is_some())
            .map(|stream| stream.name.clone())
            .chain(["ghost".to_owned()])
            .collect();
        for stream in &mut streams {
            let declared = &with_parent[..with_parent.len() - 1];
            let children = if rng.chance(90) && !declared.is_empty() { declared } else { &with_parent };
            stream.relate(rng, children);
        }
        let staleness = rng.chance(50).then_some(86_400 * 30);
        Self { key: key.to_owned(), uri: format!("urn:pdpp:source:{key}"), staleness, streams, place }
    }

    pub(crate) fn manifest(&self) -> Value {
        let streams: Vec<Value> = self.streams.iter().map(Stream::declaration).collect();
        let mut manifest =
            json!({"protocol_version": "0.1.0", "connector_key": self.key, "streams": streams});
        if let Some(seconds) = self.staleness {
            manifest["capabilities"] = json!({"refresh_policy": {"maximum_staleness_seconds": seconds}});
        }
        manifest
    }
}

impl Stream {
    fn random(rng: &mut Rng, name: &str) -> Self {
        let mut key = vec!["id"];
        let mut fields = vec![Field { name: "id", kind: Kind::Text, schema: json!({"type": "string"}) }];
        if rng.chance(12) {
            key.push("part");
            fields.push(Field { name: "part", kind: Kind::Text, schema: json!({"type": "string"}) });
        }
        fields.extend(rng.some_of(60, &pool()));
        let of = |kinds: &[Kind]| -> Vec<&'static str> {
            fields.iter().filter(|field| kinds.contains(&field.kind)).map(|field| field.name).collect()
        };
        let ordered = of(&[Kind::Whole, Kind::Number, Kind::Moment]);
        let (numbers, moments) = (of(&[Kind::Whole, Kind::Number]), of(&[Kind::Moment]));
        let texts = of(&[Kind::Text]);
        let scalars = of(&[Kind::Flag, Kind::Whole, Kind::Number, Kind::Text, Kind::Moment]);
        let one = |rng: &mut Rng, names: &[&'static str], percent| {
            (!names.is_empty() && rng.chance(percent)).then(|| *rng.pick(names))
        };
        let all: Vec<&'static str> = fields.iter().map(|field| field.name).collect();
        let ops = ["gte", "gt", "lte", "lt"];
        Self {
            name: name.to_owned(),
            append_only: rng.chance(20),
            cursor_field: one(rng, &ordered, 80),
            time_field: one(rng, &moments, 80),
            views: (0..rng.below(3)).map(|n| (format!("view{n}"), rng.some_of(40, &all))).collect(),
            relations: Vec::new(),
            ranges: rng.some(70, &ordered).into_iter().map(|name| (name, rng.some_of(70, &ops))).collect(),
            count: rng.chance(85),
            aggregations: vec![
                ("sum", rng.some(80, &numbers)),
                ("min", rng.some(80, &ordered)),
                ("max", rng.some(80, &ordered)),
                ("group_by", rng.some(80, &scalars)),
                ("group_by_time", rng.some(80, &moments)),
                ("count_distinct", rng.some(80, &scalars)),
            ],
            lexical: rng.some(40, &texts),
            key,
            fields,
        }
    }

    fn relate(&mut self, rng: &mut Rng, children: &[String]) {
        for (name, many) in [("children", true), ("companion", false)] {
            if rng.chance(65) {
                let (low, high) = (1 + rng.below(3) as u64, 3 + rng.below(3) as u64);
                let expand = rng.chance(85).then_some(if many { (low, high) } else { (10, 50) });
                let stream = rng.pick(children).clone();
                self.relations.push(Relation { name, stream, foreign_key: "parent", many, expand });
            }
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The stream as a manifest declares it.
    pub(crate) fn declaration(&self) -> Value {
        let properties: Map<String, Value> =
            self.fields.iter().map(|field| (field.name.to_owned(), field.schema.clone())).collect();
        let views: Vec<Value> =
            self.views.iter().map(|(id, fields)| json!({"id": id, "fields": fields})).collect();
        let mut declaration = json!({
            "name": self.name,
            "semantics": if self.append_only { "append_only" } else { "mutable_state" },
            "schema": {"type": "object", "properties": properties},
            "primary_key": self.key,
            "selection": {"fields": true, "resources": true},
            "views": views,
            "relationships": self.relations.iter().map(Relation::relationship).collect::<Vec<_>>(),
            "query": self.query(),
        });
        for (member, field) in [("cursor_field", self.cursor_field), ("consent_time_field", self.time_field)]
        {
            if let Some(field) = field {
                declaration[member] = json!(field);
            }
        }
        declaration
    }

    pub(crate) fn query(&self) -> Value {
        let ranges: Map<String, Value> =
            self.ranges.iter().map(|(name, operators)| ((*name).to_owned(), json!(operators))).collect();
        let mut aggregations: Map<String, Value> =
            self.aggregations.iter().map(|(name, fields)| ((*name).to_owned(), json!(fields))).collect();
        aggregations.insert("count".to_owned(), json!(self.count));
        let expand = self.relations.iter().filter_map(|relation| {
            let (default, max) = relation.expand?;
            Some(match relation.many {
                true => json!({"name": relation.name, "default_limit": default, "max_limit": max}),
                false => json!({"name": relation.name}),
            })
        });
        json!({
            "range_filters": ranges,
            "search": {"lexical_fields": self.lexical},
            "aggregations": aggregations,
            "expand": expand.collect::<Vec<_>>(),
        })
    }

    /// The fields declared for one kind of aggregation.
    pub(crate) fn aggregated(&self, kind: &str) -> &[&'static str] {
        self.aggregations.iter().find(|(name, _)| *name == kind).map_or(&[], |(_, fields)| fields)
    }
}

impl Relation {
    pub(crate) fn cardinality(&self) -> &'static str {
        if self.many { "has_many" } else { "has_one" }
    }

    pub(crate) fn relationship(&self) -> Value {
        json!({"name": self.name, "stream": self.stream, "foreign_key": self.foreign_key, "cardinality": self.cardinality()})
    }
}

/// The keys records of a stream may have, as their parts.
pub(crate) fn keys_of(stream: &Stream) -> Vec<Vec<String>> {
    let firsts = ["k0", "k1", "k2", "k3", "k4", "k/5", "ü 6", HIDDEN_KEYS[0], HIDDEN_KEYS[1]];
    let keys = firsts.iter().map(|first| vec![(*first).to_owned()]);
    match stream.key.len() {
        1 => keys.collect(),
        _ => keys.flat_map(|key| ["p", "q"].map(|part| vec![key[0].clone(), part.to_owned()])).collect(),
    }
}

/// The canonical key of some parts.
pub(crate) fn canonical(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        many => serde_json::to_string(many).expect("texts are JSON"),
    }
}

/// A value for a field, if it has one; null where the schema allows it.
pub(crate) fn value(rng: &mut Rng, field: &Field) -> Option<Value> {
    if rng.chance(12) {
        return None;
    }
    let nullable = field.schema["type"].as_array().is_some_and(|types| types.contains(&json!("null")));
    if nullable && rng.chance(15) {
        return Some(Value::Null);
    }
    Some(match (field.name, field.kind) {
        ("blob_ref", _) => {
            let (id, size) = *rng.pick(&crate::blobs::all());
            json!({"blob_id": id, "mime_type": "text/plain", "size_bytes": size})
        }
        ("kind", _) => json!(*rng.pick(&["red", "green", "blue", "RED", LONG])),
        ("parent", _) => json!(*rng.pick(&["k0", "k0", "k1", "h0", "nobody"])),
        ("tags", _) => json!([*rng.pick(&WORDS), rng.below(3)]),
        ("meta" | "a", _) => {
            json!({"b": *rng.pick(&WORDS), "deep": {"list": [*rng.pick(&WORDS), 1.5, null]}, "n": rng.below(9)})
        }
        ("day", _) if rng.chance(8) => json!("someday"),
        ("day", _) => json!(*rng.pick(&DAYS)),
        ("body", _) => {
            let words: Vec<&str> = (0..rng.below(9)).map(|_| *rng.pick(&WORDS)).collect();
            json!(words.join(" "))
        }
        (_, Kind::Flag) => json!(rng.chance(50)),
        (_, Kind::Whole) => json!(i64::try_from(rng.below(7)).expect("small") - 2),
        (_, Kind::Number) => match rng.below(4) {
            0 => json!(rng.below(3)),
            n => json!(f64::from(u32::try_from(n).expect("small")) * 0.75 + 0.125),
        },
        (_, Kind::Moment) if rng.chance(6) => json!(*rng.pick(&["soon", ""])),
        (_, Kind::Moment) => json!(*rng.pick(&MOMENTS)),
        (_, Kind::Text | Kind::Json) => json!(*rng.pick(&WORDS)),
    })
}
