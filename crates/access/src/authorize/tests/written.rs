//! How the cases are written: a small world, grants and requests as one line of text, and plans as another.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ClientId, Instant, SubjectId};
use serde_json::{Value, json};

use crate::{
    ActiveGrant, Authorizer, Catalogue, ClientPrincipal, Connection, ConnectionStatus, Denial, FilterTerm,
    GrantStanding, OwnerPrincipal, Principal, ReadPlan, RecordsRead, RecordsRequest, Sealer, Source, Target,
};

pub(super) fn chat(key: &str) -> Manifest {
    let document = json!({"connector_key": key, "streams": [
        {"name": "messages", "primary_key": ["id"], "cursor_field": "sent_at", "consent_time_field": "sent_at",
         "schema": {"required": ["id"], "properties": {
            "id": {"type": "string"}, "author": {"type": "string"}, "text": {"type": "string"},
            "stars": {"type": "integer"}, "meta": {"type": "object"},
            "sent_at": {"type": "string", "format": "date-time"}}},
         "views": [{"id": "head", "fields": ["id", "author"]}],
         "relationships": [{"name": "files", "stream": "files", "foreign_key": "message_id", "cardinality": "has_many"},
            {"name": "pin", "stream": "files", "foreign_key": "message_id", "cardinality": "has_one"},
            {"name": "lost", "stream": "nowhere", "foreign_key": "x", "cardinality": "has_many"}],
         "query": {"range_filters": {"sent_at": ["gte", "lt"], "stars": ["gte"]},
            "search": {"lexical_fields": ["text"]},
            "expand": [{"name": "files", "default_limit": 3, "max_limit": 9}, {"name": "pin"}, {"name": "lost"}],
            "aggregations": {"count": true, "sum": ["stars"], "max": ["sent_at"], "group_by": ["author"],
                "group_by_time": ["sent_at"], "count_distinct": ["author"]}}},
        {"name": "files", "primary_key": ["id"],
         "schema": {"properties": {"id": {"type": "string"}, "message_id": {"type": "string"}, "name": {"type": "string"}}}}
    ]});
    Manifest::from_document(document).unwrap()
}

pub(super) fn source(key: &str, connections: &[(&str, ConnectionStatus)]) -> Arc<Source> {
    let connection = |(id, status): &(&str, ConnectionStatus)| Connection {
        connection_id: id.parse().unwrap(),
        display_name: None,
        status: *status,
    };
    Arc::new(Source {
        manifest: Arc::new(chat(key)),
        declaration_version: "sha256:1".into(),
        connections: connections.iter().map(connection).collect(),
    })
}

pub(super) fn subject() -> SubjectId {
    SubjectId::parse("owner_local").unwrap()
}

pub(super) fn one_source() -> Catalogue {
    let connections =
        [("a", ConnectionStatus::Active), ("b", ConnectionStatus::Active), ("d", ConnectionStatus::Draft)];
    Catalogue { subject_id: subject(), sources: vec![source("chat", &connections)] }
}

pub(super) fn two_sources() -> Catalogue {
    let mut catalogue = one_source();
    catalogue.sources.push(source("mail", &[("m", ConnectionStatus::Active)]));
    catalogue
}

/// A client whose grants are written as `source stream@connection,connection: field,field [since T]`.
pub(super) fn client(grants: &[&str]) -> Principal {
    let grants = grants.iter().enumerate().map(|(index, text)| grant(index, text)).collect();
    Principal::Client(
        ClientPrincipal::try_new(subject(), ClientId::parse("app").unwrap(), None, grants).unwrap(),
    )
}

pub(super) fn grant(index: usize, text: &str) -> ActiveGrant {
    let (source, streams) = text.split_once(' ').unwrap();
    let streams: Vec<Value> = streams
        .split("; ")
        .map(|stream| {
            let (head, fields) = stream.split_once(": ").unwrap();
            let (name, connections) = head.split_once('@').unwrap();
            let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
            json!({"name": name, "instance_ids": list(connections), "fields": list(fields)})
        })
        .collect();
    let document = json!({
        "version": "0.1.0", "grant_id": format!("grt_{index}"), "issued_at": "2026-01-01", "subject": {"id": "owner_local"},
        "client": {"client_id": "app"}, "source": {"kind": "connector", "id": format!("urn:pdpp:source:{source}")},
        "source_declaration": {"version": "sha256:1"}, "purpose_code": "urn:x", "access_mode": "continuous",
        "streams": streams,
    });
    let standing = GrantStanding { document: document.to_string(), revoked_at: None };
    ActiveGrant::try_new(&standing, Instant::from_micros(0)).unwrap()
}

pub(super) fn owner() -> Principal {
    Principal::Owner(OwnerPrincipal { subject_id: subject(), token_id: None })
}

/// A request written as `stream key=value …`.
pub(super) fn pairs(text: &str) -> (String, Vec<(String, String)>) {
    let mut words = text.split(' ');
    let stream = words.next().unwrap().to_owned();
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    (stream, words.map(pair).collect())
}

pub(super) fn records_request(text: &str) -> RecordsRequest {
    let (stream, pairs) = pairs(text);
    let mut request =
        RecordsRequest { target: Target { stream, ..Target::default() }, limit: 25, ..Default::default() };
    for (name, value) in pairs {
        let filter = name.strip_prefix("filter.").map(str::to_owned);
        match name.as_str() {
            "connection" => request.target.connection_id = Some(value),
            "connector" => request.target.connector_id = Some(value),
            "fields" => {
                request.fields =
                    Some(value.split(',').filter(|f| !f.is_empty()).map(str::to_owned).collect());
            }
            "view" => request.view = Some(value),
            "order" => request.order = Some(value),
            "sort" => request.sort = Some(value),
            "expand" => request.expand.push(value),
            "expand_limit.files" => request.expand_limit.push(("files".into(), value)),
            "expand_limit.pin" => request.expand_limit.push(("pin".into(), value)),
            "changes_since" => request.changes_since = Some(value),
            "cursor" => request.cursor = Some(value),
            "count" => request.count = true,
            _ => {
                let filter = filter.unwrap_or_else(|| panic!("{name}"));
                let (field, operator) = match filter.split_once('.') {
                    Some((field, operator)) => (field.to_owned(), Some(operator.to_owned())),
                    None => (filter, None),
                };
                request.filter.push(FilterTerm { field, operator, operand: value });
            }
        }
    }
    request
}

pub(super) fn shown(read: &ReadPlan) -> String {
    let mut text = format!("{}/{}", read.source().key(), read.stream());
    for part in read.parts() {
        let fields = part
            .shown()
            .names()
            .map_or("*".to_owned(), |names| names.iter().map(String::as_str).collect::<Vec<_>>().join(","));
        let _ = write!(text, " {}({fields})", part.connection_id());
    }
    text
}

pub(super) fn denied(denial: &Denial) -> String {
    let mut text = format!("denied: {}", denial.code);
    if let Some(param) = &denial.param {
        let _ = write!(text, " at {param}");
    }
    for connection in &denial.available_connections {
        let _ = write!(text, " {}", connection.connection_id);
    }
    text
}

#[track_caller]
pub(super) fn check(principal: &Principal, catalogue: &Catalogue, request: &str, expected: Expect) {
    let sealer = Sealer::new(&[1; 32]);
    let outcome = Authorizer::new(principal, catalogue).records(&records_request(request), &sealer);
    expected.assert_eq(&match outcome {
        Err(denial) => denied(&denial),
        Ok(RecordsRead::Changes(plan)) => format!("changes {}", shown(plan.read())),
        Ok(RecordsRead::Page(plan)) => {
            let mut text =
                format!("{} by {:?} {:?}", shown(plan.read()), plan.order().by, plan.order().direction);
            for predicate in plan.filter() {
                let _ = write!(text, " where {} {:?}", predicate.field(), predicate.test());
            }
            for expand in plan.expand() {
                let _ = write!(text, " + {} of {}", expand.limit(), shown(expand.child()));
            }
            text
        }
    });
}
