//! What exists and what may be asked of it: streams, one stream, the schema, the connectors.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::scope::{Part, Scope};
use super::{Answer, Faults, Model, placeholder};
use crate::moment::{micros, print};
use crate::question::{OWNER, Question};
use crate::world::{Field, Kind, Place, Relation};

impl<'a> Model<'a> {
    /// Every readable stream of every source: in the order of the grants, or as declared.
    fn scopes(&self, who: usize, named: Option<&str>, connector: Option<&str>) -> Vec<Scope<'a>> {
        let mut scopes: Vec<Scope<'a>> = Vec::new();
        let mut readable: Vec<(usize, &str, Part<'a>)> = Vec::new();
        if who == OWNER {
            for (index, source) in self.world.sources.iter().enumerate() {
                for stream in &source.streams {
                    let owners = self.owners(index).into_iter();
                    readable.extend(
                        owners.map(|connection| {
                            (index, stream.name.as_str(), Part { connection, entry: None })
                        }),
                    );
                }
            }
        } else {
            let parts = self.everything(who).into_iter();
            readable.extend(
                parts.map(|(name, part)| (self.world.connections[part.connection].source, name, part)),
            );
        }
        for (source, name, part) in readable {
            let own = self.source(source);
            let chosen = named.is_none_or(|id| self.id(part.connection) == id)
                && connector.is_none_or(|id| own.key == id || own.uri == id);
            let Some(stream) = own.streams.iter().find(|stream| stream.name == name && chosen) else {
                continue;
            };
            match scopes.iter_mut().find(|scope| scope.source == source && scope.stream.name == name) {
                Some(scope) => scope.parts.push(part),
                None => scopes.push(Scope { source, stream, parts: vec![part] }),
            }
        }
        for scope in &mut scopes {
            scope.parts = self.sorted(std::mem::take(&mut scope.parts));
        }
        scopes
    }

    /// How many records, and the newest emission among them.
    fn summary(&self, parts: &[Part<'a>], stream: &str) -> (usize, Option<i64>) {
        let seen: Vec<_> = parts.iter().flat_map(|part| self.seen(*part, stream)).collect();
        (seen.len(), seen.iter().map(super::scope::Seen::emitted_at).max())
    }

    fn freshness(&self, source: usize, captured: Option<i64>) -> Value {
        let status = match (self.source(source).staleness, captured) {
            (Some(seconds), Some(at)) if self.now - at <= seconds * 1_000_000 => "current",
            (Some(_), Some(_)) => "stale",
            _ => "unknown",
        };
        match captured {
            Some(at) => json!({"status": status, "captured_at": print(at)}),
            None => json!({"status": status}),
        }
    }

    pub(super) fn streams(&self, question: &Question, mut faults: Faults) -> Answer {
        let named = Self::named(question, &mut faults);
        let connector = question.text("connector_id").filter(|_| question.who == OWNER);
        if question.who == OWNER {
            let known = named.is_none_or(|id| self.own_connections().any(|index| self.id(index) == id));
            faults.add_if(!known, "connection_not_found");
            let mut sources = self.world.sources.iter().filter(|source| source.place == Place::Both);
            let mut registered = |id: &str| sources.any(|source| source.key == id || source.uri == id);
            faults.add_if(connector.is_some_and(|id| !registered(id)), "not_found");
        } else {
            let granted = |id: &str| {
                self.everything(question.who).iter().any(|(_, part)| self.id(part.connection) == id)
            };
            faults.add_if(named.is_some_and(|id| !granted(id)), "connection_not_found");
        }
        if faults.any() {
            return faults.answer();
        }
        let mut data = Vec::new();
        for scope in self.scopes(question.who, named, connector) {
            for part in &scope.parts {
                let (count, latest) = self.summary(&[*part], &scope.stream.name);
                let id = self.id(part.connection);
                let mut item = json!({
                    "object": "stream", "name": scope.stream.name, "record_count": count,
                    "last_updated": latest.map(print), "connection_id": id, "connector_instance_id": id,
                    "freshness": self.freshness(scope.source, latest),
                });
                if let Some(label) = self.label(part.connection) {
                    item["display_name"] = json!(label);
                }
                if question.who == OWNER {
                    let source = self.source(scope.source);
                    item["connector_id"] = json!(source.key);
                    item["source"] = json!({"kind": "connector", "id": source.uri});
                }
                data.push(item);
            }
        }
        Answer::json(json!({
            "object": "list", "data": data, "has_more": false,
            "links": {"self": question.uri(placeholder), "next": null}, "meta": Self::meta(question),
        }))
    }

    pub(super) fn stream(&self, question: &Question, stream: &str, mut faults: Faults) -> Answer {
        let scope = match self.scope(question, stream, &mut faults) {
            Ok(scope) => scope,
            Err(answer) => return answer,
        };
        if faults.any() {
            return faults.answer();
        }
        let mut body = self.document(question.who, &scope);
        body["links"] = Self::links(question);
        body["meta"] = Self::meta(question);
        Answer::json(body)
    }

    /// The whole declaration; only the flags know the grant.
    fn document(&self, who: usize, scope: &Scope<'a>) -> Value {
        let mut document = scope.stream.declaration();
        let latest = self.summary(&scope.parts, &scope.stream.name).1;
        let fields =
            scope.stream.fields.iter().map(|field| (field.name.to_owned(), capability(scope, field)));
        document["object"] = json!("stream_metadata");
        document["field_capabilities"] = Value::Object(fields.collect());
        document["freshness"] = self.freshness(scope.source, latest);
        let relations = scope.stream.relations.iter();
        document["expand_capabilities"] =
            relations.filter_map(|relation| self.expand_capability(who, scope, relation)).collect();
        document
    }

    fn expand_capability(&self, who: usize, scope: &Scope<'a>, relation: &Relation) -> Option<Value> {
        let (default, max) = relation.expand?;
        let reason = match self.children_scope(who, scope, relation) {
            Ok(_) => None,
            Err("insufficient_scope") => Some("related_stream_not_granted"),
            Err(_) => Some("related_stream_unknown"),
        };
        let mut entry = json!({
            "name": relation.name, "stream": relation.stream, "target_stream": relation.stream,
            "cardinality": relation.cardinality(), "child_parent_key_field": relation.foreign_key,
            "foreign_key": relation.foreign_key, "granted": reason.is_none(), "usable": reason.is_none(),
        });
        if relation.many {
            entry["default_limit"] = json!(default);
            entry["max_limit"] = json!(max);
        }
        if let Some(reason) = reason {
            entry["reason"] = json!(reason);
        }
        Some(entry)
    }

    pub(super) fn schema(&self, question: &Question, mut faults: Faults) -> Answer {
        let is = |name: &str, word: &str| {
            question.text(name).is_some_and(|text| text.trim().eq_ignore_ascii_case(word))
        };
        let compact = is("view", "compact");
        let full = is("detail", "full") && !compact;
        let (stream, named) = (question.text("stream"), question.text("connection_id"));
        faults.add_if(full && stream.is_none(), "invalid_request");
        let mut scopes = self.scopes(question.who, None, None);
        scopes.retain(|scope| stream.is_none_or(|name| scope.stream.name == name));
        if full && stream.is_some() && named.is_none() && scopes.len() > 1 {
            let offers = scopes.iter().flat_map(|scope| {
                scope.parts.iter().map(|part| {
                    let mut offer = self.offered(part.connection);
                    offer["connector_key"] = json!(self.source(scope.source).key);
                    offer["stream"] = json!(scope.stream.name);
                    offer
                })
            });
            return Answer::Fault(BTreeSet::from(["ambiguous_schema_detail"]), Some(offers.collect()));
        }
        if faults.any() {
            return faults.answer();
        }
        let mut connectors: Vec<Value> = Vec::new();
        for scope in &scopes {
            let mut document = self.document(question.who, scope);
            let granted =
                scope.parts.iter().filter(|part| named.is_none_or(|id| self.id(part.connection) == id));
            let granted: Vec<Value> = granted.map(|part| self.offered(part.connection)).collect();
            if granted.is_empty() {
                continue;
            }
            document["granted_connections"] = Value::Array(granted);
            if let Some(limit) = shared_limit(&scope.parts) {
                document["time_constraint"] = limit;
            }
            let source = self.source(scope.source);
            if !connectors.iter().any(|connector| connector["connector_key"] == *source.key) {
                connectors.push(json!({
                    "object": "connector", "source": {"kind": "connector", "id": source.uri},
                    "connector_key": source.key, "connector_id": source.key, "streams": [],
                }));
            }
            let known = connectors.iter_mut().find(|connector| connector["connector_key"] == *source.key);
            let connector = known.expect("just pushed");
            connector["streams"].as_array_mut().expect("a list").push(document);
        }
        if compact {
            connectors.iter_mut().for_each(make_compact);
        }
        let streams = |connector: &Value| connector["streams"].as_array().map_or(0, Vec::len);
        let total: usize = connectors.iter().map(streams).sum();
        for connector in &mut connectors {
            connector["stream_count"] = json!(streams(connector));
        }
        let mut body = json!({
            "object": "schema", "bearer": self.bearer(question.who), "connectors": connectors,
            "links": Self::links(question), "meta": {"count": {"kind": "none"}, "warnings": []},
        });
        if compact {
            body["detail"] = json!("compact");
        }
        if compact || stream.is_some() || named.is_some() {
            body["connector_count"] = json!(body["connectors"].as_array().map_or(0, Vec::len));
            body["stream_count"] = json!(total);
        }
        Answer::json(body)
    }

    fn bearer(&self, who: usize) -> Value {
        if who == OWNER {
            return json!({"token_kind": "owner", "scope": "owner"});
        }
        let grants = self.grants(who);
        let mut bearer =
            json!({"token_kind": "client", "scope": "grant", "client_id": self.world.clients[who].id});
        match grants.as_slice() {
            [one] => bearer["grant_id"] = json!(one.id),
            many => bearer["grant_ids"] = many.iter().map(|grant| json!(grant.id)).collect(),
        }
        if let Some(at) = grants.iter().filter_map(|grant| grant.expires_at).min() {
            bearer["expires_at"] = json!(at);
        }
        bearer
    }

    pub(super) fn connectors(&self, faults: Faults, question: &Question) -> Answer {
        if faults.any() {
            return faults.answer();
        }
        let mut connectors: Vec<Value> = Vec::new();
        for scope in self.scopes(question.who, None, None) {
            let source = self.source(scope.source);
            let (count, latest) = self.summary(&scope.parts, &scope.stream.name);
            let base = format!("/v1/streams/{}", scope.stream.name);
            let query = format!("?connector_id={}", source.key);
            let sums =
                scope.stream.count || scope.stream.aggregations.iter().any(|(_, fields)| !fields.is_empty());
            let entry = json!({
                "object": "stream", "name": scope.stream.name, "record_count": count,
                "last_updated": latest.map(print), "freshness": self.freshness(scope.source, latest),
                "capabilities": {
                    "records": true, "stream_metadata": true, "changes_since": true, "exact_filters": true,
                    "range_filters": !scope.stream.ranges.is_empty(),
                    "expand": scope.stream.relations.iter().any(|relation| relation.expand.is_some()),
                    "aggregate": sums, "records_url": format!("{base}/records{query}"),
                    "metadata_url": format!("{base}{query}"),
                    "aggregate_url": sums.then(|| format!("{base}/aggregate{query}")),
                },
            });
            match connectors.iter_mut().find(|connector| connector["connector_key"] == *source.key) {
                Some(connector) => connector["streams"].as_array_mut().expect("a list").push(entry),
                None => connectors.push(json!({
                    "object": "connector", "source": {"kind": "connector", "id": source.uri},
                    "connector_key": source.key, "connector_id": source.key, "streams": [entry],
                })),
            }
        }
        for connector in &mut connectors {
            connector["stream_count"] = json!(connector["streams"].as_array().map_or(0, Vec::len));
        }
        Answer::json(json!({"object": "list", "data": connectors}))
    }
}

fn flag(declared: bool, granted: bool) -> Value {
    let mut flag = json!({"declared": declared, "usable": declared && granted});
    if declared && !granted {
        flag["reason"] = json!("field_not_granted");
    }
    flag
}

fn capability(scope: &Scope<'_>, field: &Field) -> Value {
    let granted = scope.grants(field.name);
    let stream = scope.stream;
    let operators =
        stream.ranges.iter().find(|(name, _)| *name == field.name).map(|(_, operators)| operators);
    let mut range = flag(operators.is_some(), granted);
    if let Some(operators) = operators {
        range["operators"] = json!(operators);
    }
    let kinds = ["count_distinct", "group_by", "group_by_time", "max", "min", "sum"];
    let aggregation: Map<String, Value> = kinds
        .iter()
        .map(|kind| ((*kind).to_owned(), flag(stream.aggregated(kind).contains(&field.name), granted)))
        .collect();
    // No search route answers yet, so what is declared for it is not usable.
    let mut lexical = flag(stream.lexical.contains(&field.name), granted);
    lexical["usable"] = json!(false);
    let mut capability = json!({
        "schema": field.schema, "granted": granted, "exact_filter": flag(field.kind != Kind::Json, granted),
        "range_filter": range, "lexical_search": lexical, "semantic_search": flag(false, granted),
        "aggregation": aggregation,
    });
    for (member, declared) in [("type", "x_pdpp_type"), ("role", "x_pdpp_role")] {
        if let Some(word) = field.schema.get(declared) {
            capability[member] = word.clone();
        }
    }
    capability
}

/// The time limit all connections share.
fn shared_limit(parts: &[Part<'_>]) -> Option<Value> {
    let limit = |part: &Part<'_>| {
        let limit = part.entry?.time.as_ref()?;
        let bound = |text: Option<&str>| text.map(|text| micros(text).expect("bounds are instants"));
        Some((limit.field, bound(limit.since), bound(limit.until)))
    };
    let first = limit(parts.first()?)?;
    if parts.iter().any(|part| limit(part) != Some(first)) {
        return None;
    }
    let mut shared = json!({"field": first.0});
    for (member, bound) in [("since", first.1), ("until", first.2)] {
        if let Some(at) = bound {
            shared[member] = json!(print(at));
        }
    }
    Some(shared)
}

/// Lifts the most common set of connections, and keeps of each stream what the compact view keeps.
fn make_compact(connector: &mut Value) {
    let streams = connector["streams"].as_array().expect("a list").clone();
    let sets: Vec<&Value> = streams.iter().map(|stream| &stream["granted_connections"]).collect();
    let how_often = |set: &Value| sets.iter().filter(|other| **other == set).count();
    let most = sets.iter().map(|set| how_often(set)).max().unwrap_or(0);
    let lifted = (*sets.iter().find(|set| how_often(set) == most).expect("a stream")).clone();
    connector["streams"] = streams.iter().map(|stream| compact_stream(stream, &lifted)).collect();
    connector["granted_connections"] = lifted;
}

fn compact_stream(stream: &Value, lifted: &Value) -> Value {
    let mut kept = Map::new();
    for name in ["name", "primary_key", "cursor_field", "time_constraint"] {
        if let Some(value) = stream.get(name) {
            kept.insert(name.to_owned(), value.clone());
        }
    }
    if stream["granted_connections"] != *lifted {
        kept.insert("granted_connections".to_owned(), stream["granted_connections"].clone());
    }
    let fields = stream["field_capabilities"].as_object().expect("fields");
    let flags = fields.iter().map(|(name, capability)| (name.clone(), json!(flags(capability))));
    kept.insert("field_capabilities".to_owned(), Value::Object(flags.collect()));
    let relations = stream["expand_capabilities"].as_array().expect("relations").iter().cloned();
    let relations = relations.map(|mut relation| {
        relation.as_object_mut().expect("a relation").remove("child_parent_key_field");
        relation
    });
    kept.insert("expand_capabilities".to_owned(), relations.collect());
    Value::Object(kept)
}

/// The flag string of one field.
fn flags(capability: &Value) -> String {
    let mut tokens = Vec::new();
    let json_type = match &capability["schema"]["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        one => one.as_str().unwrap_or_default().to_owned(),
    };
    let shown = capability.get("type").and_then(Value::as_str).map_or(json_type, str::to_owned);
    tokens.push(format!("t={shown}"));
    if let Some(role) = capability.get("role").and_then(Value::as_str) {
        tokens.push(format!("role={role}"));
    }
    if capability["granted"] == false {
        tokens.push("g=false".to_owned());
    }
    for (member, word) in [("exact_filter", "eq"), ("range_filter", "r"), ("lexical_search", "lex")] {
        let flag = &capability[member];
        if flag["declared"] == false {
            continue;
        }
        let operators = flag["operators"]
            .as_array()
            .map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>());
        tokens.push(match (flag["usable"] == true, flag["reason"].as_str(), operators) {
            (true, _, Some(operators)) => format!("{word}={}", operators.join("|")),
            (true, _, None) => word.to_owned(),
            (false, Some(reason), _) => format!("{word}=unusable:{reason}"),
            (false, None, _) => format!("{word}=unusable"),
        });
    }
    let kinds = ["count_distinct", "group_by", "group_by_time", "max", "min", "sum"];
    let usable = |kind: &&str| capability["aggregation"][*kind]["usable"] == true;
    let kinds: Vec<&str> = kinds.into_iter().filter(usable).collect();
    if !kinds.is_empty() {
        tokens.push(format!("a={}", kinds.join("|")));
    }
    tokens.join(",")
}
