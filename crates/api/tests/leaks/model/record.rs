//! Records as they are shown, one by one, with their children; and blobs.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::page::{after, tuple};
use super::scope::{Part, Scope, Seen};
use super::{Answer, Faults, Model};
use crate::blobs;
use crate::moment::print;
use crate::question::{OWNER, Question};
use crate::world::{Relation, Stream};

/// Children to attach.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    relation: &'a Relation,
    child: &'a Stream,
    parts: Vec<Part<'a>>,
    limit: usize,
}

impl<'a> Model<'a> {
    pub(super) fn record(&self, question: &Question, stream: &str, key: &str, mut faults: Faults) -> Answer {
        let scope = match self.scope(question, stream, &mut faults) {
            Ok(scope) => scope,
            Err(answer) => return answer,
        };
        let shown = self.projection(question, &scope, &mut faults);
        let expand = self.expansions(question, &scope, &mut faults);
        if faults.any() {
            return faults.answer();
        }
        let found: Vec<Seen<'_>> =
            self.all_seen(&scope).into_iter().filter(|seen| seen.row.key == key).collect();
        let seen = match self.only(&found) {
            Ok(seen) => seen,
            Err(answer) => return answer,
        };
        let mut body = self.shown(&scope.stream.name, seen, shown.as_ref(), &expand);
        body["connector_key"] = json!(self.source(scope.source).uri);
        body["record_json_bytes"] = json!(body["data"].to_string().len());
        body["links"] = Self::links(question);
        body["meta"] = Self::meta(question);
        Answer::json(body)
    }

    /// The one record found; none is hidden or missing, several must be chosen from.
    pub(super) fn only<'s>(&self, found: &'s [Seen<'a>]) -> Result<&'s Seen<'a>, Answer> {
        match found {
            [] => Err(Answer::fault("not_found")),
            [one] => Ok(one),
            many => {
                let offers = many.iter().map(|seen| self.offered(seen.part.connection)).collect();
                Err(Answer::Fault(BTreeSet::from(["ambiguous_connection"]), Some(Value::Array(offers))))
            }
        }
    }

    /// `fields` or `view`: exactly these names, each declared and granted.
    pub(super) fn projection(
        &self,
        question: &Question,
        scope: &Scope<'a>,
        faults: &mut Faults,
    ) -> Option<BTreeSet<String>> {
        let fields = question.fields();
        let view = question.text("view");
        faults.add_if(fields.is_some() && view.is_some(), "invalid_request");
        let names = match (fields, view) {
            (Some(fields), _) => fields,
            (None, Some(id)) => {
                let Some((_, fields)) = scope.stream.views.iter().find(|(known, _)| known == id) else {
                    faults.add("invalid_request");
                    return None;
                };
                fields.clone()
            }
            (None, None) => return None,
        };
        for name in &names {
            scope.check_field(name, faults);
        }
        Some(names.into_iter().map(str::to_owned).collect())
    }

    /// One record in its envelope.
    pub(super) fn shown(
        &self,
        stream: &str,
        seen: &Seen<'a>,
        fields: Option<&BTreeSet<String>>,
        expand: &[Expansion<'a>],
    ) -> Value {
        let mut data: Map<String, Value> = seen.data().clone();
        data.retain(|name, _| seen.part.grants(name) && fields.is_none_or(|fields| fields.contains(name)));
        if let Some(Value::Object(reference)) = data.get_mut("blob_ref") {
            let url = format!("/v1/blobs/{}", reference["blob_id"].as_str().expect("an id"));
            reference.insert("fetch_url".to_owned(), json!(url));
        }
        let mut record = self.envelope(stream, &seen.row.key, seen.part.connection);
        record["data"] = Value::Object(data);
        record["emitted_at"] = json!(print(seen.emitted_at()));
        if !expand.is_empty() {
            let children = expand.iter().map(|expansion| {
                (
                    expansion.relation.name.to_owned(),
                    self.children(expansion, seen.part.connection, &seen.row.key),
                )
            });
            record["expanded"] = Value::Object(children.collect());
        }
        record
    }

    pub(super) fn envelope(&self, stream: &str, key: &str, connection: usize) -> Value {
        let id = self.id(connection);
        let mut record = json!({
            "object": "record", "id": key, "stream": stream, "connection_id": id, "connector_instance_id": id,
            "result_id": pdpp_wire::RecordRef {
                connection_id: id.parse().expect("an id"), stream: stream.parse().expect("a name"),
                record_id: key.parse().expect("a key"),
            }.result_id(),
        });
        if let Some(label) = self.label(connection) {
            record["display_name"] = json!(label);
        }
        record
    }

    fn children(&self, expansion: &Expansion<'a>, connection: usize, key: &str) -> Value {
        let Expansion { relation, child, parts, limit } = expansion;
        let part = parts.iter().find(|part| part.connection == connection).expect("every parent is covered");
        let order = child.cursor_field.filter(|field| part.grants(field));
        let mut found = self.seen(*part, &child.name);
        found.retain(|seen| seen.data().get(relation.foreign_key) == Some(&json!(key)));
        found.sort_by(|a, b| after(&tuple(self, a, order), &tuple(self, b, order), true));
        let records = found.iter().take(*limit).map(|seen| self.shown(&child.name, seen, None, &[]));
        let records: Vec<Value> = records.collect();
        match relation.many {
            true => json!({"object": "list", "has_more": found.len() > *limit, "data": records}),
            false => records.into_iter().next().unwrap_or(Value::Null),
        }
    }

    pub(super) fn expansions(
        &self,
        question: &Question,
        scope: &Scope<'a>,
        faults: &mut Faults,
    ) -> Vec<Expansion<'a>> {
        let names = question.expand();
        let limits = question.expand_limits();
        for (relation, _) in &limits {
            faults.add_if(!names.contains(relation), "invalid_expand");
        }
        let mut expansions: Vec<Expansion<'a>> = Vec::new();
        for name in names {
            let declared = scope.stream.relations.iter().find(|relation| relation.name == name);
            let Some((relation, (default, max))) =
                declared.and_then(|relation| Some((relation, relation.expand?)))
            else {
                faults.add("invalid_expand");
                continue;
            };
            let asked = limits.iter().find(|(known, _)| *known == name).map(|(_, limit)| *limit);
            let limit = match asked {
                None if relation.many => default,
                None => 1,
                Some(text) => {
                    let limit = text.parse().unwrap_or(0);
                    faults.add_if(!relation.many || limit < 1 || limit > max, "invalid_expand");
                    limit
                }
            };
            let limit = usize::try_from(limit).expect("a small limit");
            match self.children_scope(question.who, scope, relation) {
                Ok((child, parts)) => {
                    if expansions.iter().all(|known| known.relation.name != name) {
                        expansions.push(Expansion { relation, child, parts, limit });
                    }
                }
                Err(code) => faults.add(code),
            }
        }
        expansions
    }

    /// The related stream under the parent's own connections: each must be covered, key included.
    pub(super) fn children_scope(
        &self,
        who: usize,
        scope: &Scope<'a>,
        relation: &Relation,
    ) -> Result<(&'a Stream, Vec<Part<'a>>), &'static str> {
        let streams = &self.source(scope.source).streams;
        let Some(child) = streams.iter().find(|stream| stream.name == relation.stream) else {
            return Err("invalid_expand");
        };
        let mut parts = Vec::new();
        for part in &scope.parts {
            if who == OWNER {
                parts.push(Part { connection: part.connection, entry: None });
                continue;
            }
            let entries = self.grants(who).into_iter().filter(|grant| grant.source == scope.source);
            let entry = entries.flat_map(|grant| &grant.streams).find(|entry| {
                entry.name == child.name
                    && entry.connections.contains(&part.connection)
                    && entry.fields.contains(relation.foreign_key)
            });
            parts.push(Part { connection: part.connection, entry: Some(entry.ok_or("insufficient_scope")?) });
        }
        Ok((child, parts))
    }

    pub(super) fn blob(&self, question: &Question, id: &str, mut faults: Faults) -> Answer {
        let named = Self::named(question, &mut faults);
        let mut source = None;
        if question.who == OWNER {
            match self.owner_source(question.text("connector_id"), named) {
                Ok((found, _)) => source = question.text("connector_id").map(|_| found),
                Err(Answer::Fault(codes, _)) => faults.0.extend(codes),
                Err(_) => unreachable!("choosing a source gives a source or a fault"),
            }
        }
        if faults.any() {
            return faults.answer();
        }
        let mut holding: BTreeSet<(&str, usize)> = BTreeSet::new();
        for (stream, part) in self.everything(question.who) {
            let connection = part.connection;
            let wanted = named.is_none_or(|named| self.id(connection) == named)
                && source.is_none_or(|source| self.world.connections[connection].source == source);
            let declares =
                self.world.stream(connection, stream).is_some_and(|s| s.field("blob_ref").is_some());
            if !wanted || !declares || !part.grants("blob_ref") {
                continue;
            }
            let refers = |seen: &Seen<'_>| {
                seen.data().get("blob_ref").is_some_and(|reference| reference["blob_id"] == id)
                    && blobs::is_uploaded(connection, stream, &seen.row.key, id)
            };
            if self.seen(part, stream).iter().any(refers) {
                holding.insert((self.id(connection), connection));
            }
        }
        match holding.len() {
            0 => Answer::fault("blob_not_found"),
            _ if !self.world.uploads => Answer::fault("blob_not_found"),
            1 => bytes(question, id),
            _ => {
                let offers = holding.iter().map(|(_, connection)| self.offered(*connection)).collect();
                Answer::Fault(BTreeSet::from(["ambiguous_connection"]), Some(Value::Array(offers)))
            }
        }
    }

    /// Every stream of every connection a caller may read.
    pub(super) fn everything(&self, who: usize) -> Vec<(&'a str, Part<'a>)> {
        if who == OWNER {
            let connections = self.own_connections().filter(|index| self.archive.active.contains(index));
            let streams = connections.flat_map(|connection| {
                let streams = &self.source(self.world.connections[connection].source).streams;
                streams.iter().map(move |stream| (stream.name.as_str(), Part { connection, entry: None }))
            });
            return streams.collect();
        }
        let entries = self.grants(who).into_iter().flat_map(|grant| &grant.streams);
        let parts = entries.flat_map(|entry| {
            let parts = entry
                .connections
                .iter()
                .map(move |connection| Part { connection: *connection, entry: Some(entry) });
            parts.map(|part| (entry.name.as_str(), part))
        });
        parts.collect()
    }
}

fn bytes(question: &Question, id: &str) -> Answer {
    let content = blobs::content(id).expect("records refer to known blobs").as_bytes();
    match question.range {
        None => Answer::Bytes { status: 200, bytes: content.to_vec() },
        Some("bytes=2-4") if content.len() > 2 => {
            Answer::Bytes { status: 206, bytes: content[2..content.len().min(5)].to_vec() }
        }
        // Nothing has no range to give.
        Some(_) if content.is_empty() => Answer::Bytes { status: 200, bytes: Vec::new() },
        Some(_) => Answer::fault("invalid_range"),
    }
}
