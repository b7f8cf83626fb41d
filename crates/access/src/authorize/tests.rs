//! A hundred short cases behind one `check`: who asks, what for, and what comes of it.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ClientId, Instant, SubjectId};
use serde_json::{Value, json};

use crate::{
    ActiveGrant, AggregateRequest, Authorizer, BlobRequest, Catalogue, ClientPrincipal, Connection,
    ConnectionStatus, Denial, FilterTerm, GrantStanding, OwnerPrincipal, Principal, ReadPlan, RecordRequest,
    RecordsRead, RecordsRequest, Sealer, Source, StreamsRequest, Target, WindowRequest,
};

fn chat(key: &str) -> Manifest {
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
            "expand": [{"name": "files", "default_limit": 3, "max_limit": 9}, {"name": "pin"}, {"name": "lost"}],
            "aggregations": {"count": true, "sum": ["stars"], "max": ["sent_at"], "group_by": ["author"],
                "group_by_time": ["sent_at"], "count_distinct": ["author"]}}},
        {"name": "files", "primary_key": ["id"],
         "schema": {"properties": {"id": {"type": "string"}, "message_id": {"type": "string"}, "name": {"type": "string"}}}}
    ]});
    Manifest::from_document(document).unwrap()
}

fn source(key: &str, connections: &[(&str, ConnectionStatus)]) -> Arc<Source> {
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

fn subject() -> SubjectId {
    SubjectId::parse("owner_local").unwrap()
}

fn one_source() -> Catalogue {
    let connections =
        [("a", ConnectionStatus::Active), ("b", ConnectionStatus::Active), ("d", ConnectionStatus::Draft)];
    Catalogue { subject_id: subject(), sources: vec![source("chat", &connections)] }
}

fn two_sources() -> Catalogue {
    let mut catalogue = one_source();
    catalogue.sources.push(source("mail", &[("m", ConnectionStatus::Active)]));
    catalogue
}

/// A client whose grants are written as `source stream@connection,connection: field,field [since T]`.
fn client(grants: &[&str]) -> Principal {
    let grants = grants.iter().enumerate().map(|(index, text)| grant(index, text)).collect();
    Principal::Client(
        ClientPrincipal::try_new(subject(), ClientId::parse("app").unwrap(), None, grants).unwrap(),
    )
}

fn grant(index: usize, text: &str) -> ActiveGrant {
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

fn owner() -> Principal {
    Principal::Owner(OwnerPrincipal { subject_id: subject(), token_id: None })
}

/// A request written as `stream key=value …`.
fn pairs(text: &str) -> (String, Vec<(String, String)>) {
    let mut words = text.split(' ');
    let stream = words.next().unwrap().to_owned();
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    (stream, words.map(pair).collect())
}

fn records_request(text: &str) -> RecordsRequest {
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

fn shown(read: &ReadPlan) -> String {
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

fn denied(denial: &Denial) -> String {
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
fn check(principal: &Principal, catalogue: &Catalogue, request: &str, expected: Expect) {
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

const WHOLE: &str = "chat messages@a,b: id,author,text,stars,meta,sent_at; files@a,b: id,message_id,name";
const NARROW: &str = "chat messages@a: id,text";

#[test]
fn a_grant_decides_streams_connections_and_fields() {
    let (narrow, catalogue) = (client(&[NARROW]), one_source());
    check(&narrow, &catalogue, "messages", expect!["chat/messages a(id,text) by Key Descending"]);
    check(&narrow, &catalogue, "messages fields=text", expect!["chat/messages a(text) by Key Descending"]);
    check(
        &narrow,
        &catalogue,
        "messages connection=a",
        expect!["chat/messages a(id,text) by Key Descending"],
    );
    check(
        &narrow,
        &catalogue,
        "messages connector=mail",
        expect!["chat/messages a(id,text) by Key Descending"],
    );
    check(&narrow, &catalogue, "files", expect!["denied: grant_stream_not_allowed"]);
    check(&narrow, &catalogue, "nowhere", expect!["denied: grant_stream_not_allowed"]);
    check(
        &narrow,
        &catalogue,
        "messages connection=b",
        expect!["denied: connection_not_found at connection_id"],
    );
    check(
        &narrow,
        &catalogue,
        "messages connection=zzz",
        expect!["denied: connection_not_found at connection_id"],
    );
    check(&narrow, &catalogue, "messages fields=author", expect!["denied: field_not_granted at fields"]);
    check(&narrow, &catalogue, "messages fields=text,nope", expect!["denied: unknown_field at fields"]);
    check(&narrow, &catalogue, "messages fields=", expect!["denied: invalid_request at fields"]);
    check(&narrow, &catalogue, "messages view=head", expect!["denied: field_not_granted at view"]);
    check(&narrow, &catalogue, "messages view=nope", expect!["denied: invalid_request at view"]);
    check(&narrow, &catalogue, "messages view=head fields=id", expect!["denied: invalid_request at view"]);
}

#[test]
fn an_ungranted_field_cannot_be_asked_about() {
    let (narrow, catalogue) = (client(&[NARROW]), one_source());
    check(&narrow, &catalogue, "messages filter.author=Ana", expect!["denied: field_not_granted at filter"]);
    check(
        &narrow,
        &catalogue,
        "messages filter.sent_at.gte=2026-01-01",
        expect!["denied: field_not_granted at filter"],
    );
    check(&narrow, &catalogue, "messages sort=sent_at", expect!["denied: field_not_granted at sort"]);
    check(&narrow, &catalogue, "messages expand=files", expect!["denied: insufficient_scope at expand"]);
    check(&narrow, &catalogue, "messages filter.nope=1", expect!["denied: unknown_field at filter"]);
}

#[test]
fn filters_are_typed_by_the_declaration() {
    let (whole, catalogue) = (client(&[WHOLE]), one_source());
    let messages = |rest: &str| format!("messages connection=a fields=id {rest}");
    check(
        &whole,
        &catalogue,
        &messages("filter.stars=3"),
        expect![[r#"chat/messages a(id) by Field("sent_at") Descending where stars Equals(Integer(3))"#]],
    );
    check(
        &whole,
        &catalogue,
        &messages("filter.stars=null"),
        expect![[r#"chat/messages a(id) by Field("sent_at") Descending where stars Missing"#]],
    );
    check(
        &whole,
        &catalogue,
        &messages("filter.author=null"),
        expect![[r#"chat/messages a(id) by Field("sent_at") Descending where author Equals(Text("null"))"#]],
    );
    check(
        &whole,
        &catalogue,
        &messages("filter.sent_at.gte=1970-01-01"),
        expect![[
            r#"chat/messages a(id) by Field("sent_at") Descending where sent_at Range(Gte, Instant(Instant(0)))"#
        ]],
    );
    check(&whole, &catalogue, &messages("filter.stars=three"), expect!["denied: invalid_request at filter"]);
    check(&whole, &catalogue, &messages("filter.stars.lt=3"), expect!["denied: invalid_request at filter"]);
    check(&whole, &catalogue, &messages("filter.stars.like=3"), expect!["denied: invalid_request at filter"]);
    check(&whole, &catalogue, &messages("filter.meta=x"), expect!["denied: invalid_request at filter"]);
    check(
        &whole,
        &catalogue,
        &messages("filter.sent_at.gte=soon"),
        expect!["denied: invalid_request at filter"],
    );
}

#[test]
fn only_the_cursor_field_sorts() {
    let (whole, catalogue) = (client(&[WHOLE]), one_source());
    let messages = |rest: &str| format!("messages connection=a fields=id {rest}");
    check(
        &whole,
        &catalogue,
        &messages("sort=sent_at"),
        expect![[r#"chat/messages a(id) by Field("sent_at") Ascending"#]],
    );
    check(
        &whole,
        &catalogue,
        &messages("sort=-sent_at"),
        expect![[r#"chat/messages a(id) by Field("sent_at") Descending"#]],
    );
    check(
        &whole,
        &catalogue,
        &messages("order=asc"),
        expect![[r#"chat/messages a(id) by Field("sent_at") Ascending"#]],
    );
    check(&whole, &catalogue, &messages("sort=stars"), expect!["denied: invalid_sort at sort"]);
    check(&whole, &catalogue, &messages("sort=-"), expect!["denied: invalid_sort at sort"]);
    check(&whole, &catalogue, &messages("sort=-sent_at order=asc"), expect!["denied: invalid_sort at sort"]);
    check(&whole, &catalogue, &messages("order=up"), expect!["denied: invalid_request at order"]);
    check(&whole, &catalogue, "files connection=a fields=id", expect!["chat/files a(id) by Key Descending"]);
}

#[test]
fn expansion_stays_in_the_grant_and_its_limits() {
    let (whole, catalogue) = (client(&[WHOLE]), one_source());
    let messages = |rest: &str| format!("messages connection=a fields=id {rest}");
    check(
        &whole,
        &catalogue,
        &messages("expand=files"),
        expect![[
            r#"chat/messages a(id) by Field("sent_at") Descending + 3 of chat/files a(id,message_id,name)"#
        ]],
    );
    check(
        &whole,
        &catalogue,
        &messages("expand=files expand=files expand_limit.files=9"),
        expect![[
            r#"chat/messages a(id) by Field("sent_at") Descending + 9 of chat/files a(id,message_id,name)"#
        ]],
    );
    check(
        &whole,
        &catalogue,
        &messages("expand=files expand_limit.files=10"),
        expect!["denied: invalid_expand at expand_limit"],
    );
    check(
        &whole,
        &catalogue,
        &messages("expand=files expand_limit.files=0"),
        expect!["denied: invalid_expand at expand_limit"],
    );
    check(
        &whole,
        &catalogue,
        &messages("expand_limit.files=1"),
        expect!["denied: invalid_expand at expand_limit"],
    );
    check(
        &whole,
        &catalogue,
        &messages("expand=pin expand_limit.pin=1"),
        expect!["denied: invalid_expand at expand_limit"],
    );
    check(&whole, &catalogue, &messages("expand=files.name"), expect!["denied: invalid_expand at expand"]);
    check(&whole, &catalogue, &messages("expand=lost"), expect!["denied: invalid_expand at expand"]);
    let keyless = client(&["chat messages@a: id; files@a: id,name"]);
    check(&keyless, &catalogue, "messages expand=files", expect!["denied: insufficient_scope at expand"]);
    let elsewhere = client(&["chat messages@a: id; files@b: id,message_id"]);
    check(&elsewhere, &catalogue, "messages expand=files", expect!["denied: insufficient_scope at expand"]);
}

#[test]
fn several_grants_are_read_each_under_its_own() {
    let catalogue = two_sources();
    let both = client(&["chat messages@a: id,text", "chat messages@b: id,author", "mail messages@m: id"]);
    check(&both, &catalogue, "messages", expect!["denied: ambiguous_connection a b m"]);
    check(&both, &catalogue, "messages connection=m", expect!["mail/messages m(id) by Key Descending"]);
    let chats = client(&["chat messages@a: id,text", "chat messages@b: id,author"]);
    check(&chats, &catalogue, "messages", expect!["chat/messages a(id,text) b(author,id) by Key Descending"]);
    check(&chats, &catalogue, "messages fields=text", expect!["denied: field_not_granted at fields"]);
    check(
        &chats,
        &catalogue,
        "messages connection=a fields=text",
        expect!["chat/messages a(text) by Key Descending"],
    );
}

#[test]
fn an_owner_reads_everything_but_must_say_of_which_connector() {
    let (owner, one, two) = (owner(), one_source(), two_sources());
    check(&owner, &one, "messages", expect![[r#"chat/messages a(*) b(*) by Field("sent_at") Descending"#]]);
    check(&owner, &two, "messages", expect!["denied: invalid_request at connector_id"]);
    check(
        &owner,
        &two,
        "messages connector=mail",
        expect![[r#"mail/messages m(*) by Field("sent_at") Descending"#]],
    );
    check(
        &owner,
        &two,
        "messages connector=urn:pdpp:source:mail",
        expect![[r#"mail/messages m(*) by Field("sent_at") Descending"#]],
    );
    check(
        &owner,
        &two,
        "messages connection=b",
        expect![[r#"chat/messages b(*) by Field("sent_at") Descending"#]],
    );
    check(
        &owner,
        &two,
        "messages connection=b connector=mail",
        expect!["denied: connector_instance_connector_mismatch at connection_id"],
    );
    check(
        &owner,
        &two,
        "messages connection=zzz",
        expect!["denied: connector_instance_not_found at connection_id"],
    );
    check(
        &owner,
        &two,
        "messages connection=d",
        expect!["denied: connector_instance_inactive at connection_id"],
    );
    check(&owner, &two, "messages connector=zzz", expect!["denied: not_found at connector_id"]);
    check(&owner, &one, "nowhere", expect!["denied: not_found"]);
}

#[test]
fn changes_take_no_other_question_along() {
    let (whole, catalogue) = (client(&[WHOLE]), one_source());
    check(
        &whole,
        &catalogue,
        "messages connection=a fields=id changes_since=beginning",
        expect!["changes chat/messages a(id)"],
    );
    check(
        &whole,
        &catalogue,
        "messages changes_since=forged",
        expect!["denied: invalid_cursor at changes_since"],
    );
    check(
        &whole,
        &catalogue,
        "messages changes_since=beginning order=asc",
        expect!["denied: invalid_request at order"],
    );
    check(
        &whole,
        &catalogue,
        "messages changes_since=beginning count=exact",
        expect!["denied: invalid_request at count"],
    );
    check(
        &whole,
        &catalogue,
        "messages changes_since=beginning filter.stars=1",
        expect!["denied: invalid_request at filter"],
    );
    check(
        &whole,
        &catalogue,
        "messages changes_since=beginning expand=files",
        expect!["denied: invalid_expand at expand"],
    );
    check(&whole, &catalogue, "messages cursor=forged", expect!["denied: invalid_cursor at cursor"]);
}

#[track_caller]
fn check_window(principal: &Principal, field: &str, expected: Expect) {
    let request = WindowRequest {
        target: Target { stream: "messages".into(), ..Target::default() },
        key: "m_1".into(),
        field: field.into(),
    };
    let outcome = Authorizer::new(principal, &one_source()).window(&request);
    expected.assert_eq(&outcome.map_or_else(|denial| denied(&denial), |plan| shown(plan.record().read())));
}

#[test]
fn a_path_is_granted_with_its_top_level_field() {
    let narrow = client(&["chat messages@a: id,meta"]);
    check_window(&narrow, "meta", expect!["chat/messages a(meta)"]);
    check_window(&narrow, "meta.deep.0.x", expect!["chat/messages a(meta)"]);
    check_window(&narrow, "text", expect!["denied: field_not_granted at field"]);
    check_window(&narrow, "text.meta", expect!["denied: field_not_granted at field"]);
    check_window(&narrow, "nope", expect!["denied: field_not_granted at field"]);
    let some = client(&["chat messages@a: id,meta", "chat messages@b: id,text"]);
    check_window(&some, "text", expect!["chat/messages b(text)"]);
}

#[track_caller]
fn check_aggregate(principal: &Principal, request: &str, expected: Expect) {
    let (stream, pairs) = pairs(request);
    let mut request =
        AggregateRequest { target: Target { stream, ..Target::default() }, ..Default::default() };
    for (name, value) in pairs {
        *match name.as_str() {
            "metric" => &mut request.metric,
            "field" => &mut request.field,
            "group_by" => &mut request.group_by,
            "group_by_time" => &mut request.group_by_time,
            "granularity" => &mut request.granularity,
            "time_zone" => &mut request.time_zone,
            _ => &mut request.limit,
        } = Some(value);
    }
    let outcome = Authorizer::new(principal, &one_source()).aggregate(&request);
    expected.assert_eq(&outcome.map_or_else(
        |denial| denied(&denial),
        |plan| format!("{:?} {} over {}", plan.metric(), plan.limit(), shown(plan.read())),
    ));
}

#[test]
fn aggregates_need_declared_and_granted_fields() {
    let whole = client(&["chat messages@a: id,author,stars,sent_at"]);
    check_aggregate(
        &whole,
        "messages metric=count",
        expect!["Count 10 over chat/messages a(author,id,sent_at,stars)"],
    );
    check_aggregate(
        &whole,
        "messages metric=count group_by=author limit=3",
        expect!["Count 3 over chat/messages a(author,id,sent_at,stars)"],
    );
    check_aggregate(
        &whole,
        "messages metric=sum field=stars",
        expect![[r#"Sum("stars") 10 over chat/messages a(author,id,sent_at,stars)"#]],
    );
    check_aggregate(&whole, "messages", expect!["denied: invalid_request at metric"]);
    check_aggregate(&whole, "messages metric=median", expect!["denied: invalid_request at metric"]);
    check_aggregate(&whole, "messages metric=count field=stars", expect!["denied: invalid_request at field"]);
    check_aggregate(&whole, "messages metric=sum", expect!["denied: invalid_request at field"]);
    check_aggregate(&whole, "messages metric=sum field=author", expect!["denied: invalid_request at field"]);
    check_aggregate(&whole, "messages metric=sum field=nope", expect!["denied: unknown_field at field"]);
    check_aggregate(
        &whole,
        "messages metric=sum field=stars group_by=author",
        expect!["denied: invalid_request at group_by"],
    );
    check_aggregate(&whole, "messages metric=count limit=3", expect!["denied: invalid_request at limit"]);
    check_aggregate(
        &whole,
        "messages metric=count group_by=author limit=101",
        expect!["denied: invalid_request at limit"],
    );
    check_aggregate(
        &whole,
        "messages metric=count group_by=author group_by_time=sent_at",
        expect!["denied: invalid_request at group_by_time"],
    );
    check_aggregate(
        &whole,
        "messages metric=count group_by_time=sent_at",
        expect!["denied: invalid_request at granularity"],
    );
    check_aggregate(
        &whole,
        "messages metric=count group_by_time=sent_at granularity=eon",
        expect!["denied: invalid_request at granularity"],
    );
    check_aggregate(
        &whole,
        "messages metric=count group_by_time=sent_at granularity=day time_zone=Mars/Olympus",
        expect!["denied: invalid_request at time_zone"],
    );
    check_aggregate(
        &whole,
        "messages metric=count granularity=day",
        expect!["denied: invalid_request at granularity"],
    );
    check_aggregate(&whole, "files metric=count", expect!["denied: grant_stream_not_allowed"]);
    let narrow = client(&[NARROW]);
    check_aggregate(
        &narrow,
        "messages metric=count group_by=author",
        expect!["denied: field_not_granted at group_by"],
    );
    check_aggregate(
        &narrow,
        "messages metric=max field=sent_at",
        expect!["denied: field_not_granted at field"],
    );
}

#[test]
fn a_client_sees_its_streams_in_the_order_of_its_grants() {
    let list = |principal: &Principal, connection: Option<&str>| {
        let request = StreamsRequest { connection_id: connection.map(str::to_owned), connector_id: None };
        let plans = Authorizer::new(principal, &two_sources()).streams(&request);
        plans.map_or_else(
            |denial| denied(&denial),
            |plans| plans.iter().map(shown).collect::<Vec<_>>().join("; "),
        )
    };
    let app = client(&["chat files@a: id; messages@a: id", "mail messages@m: id", "chat messages@b: author"]);
    expect!["chat/files a(id); chat/messages a(id) b(author); mail/messages m(id)"]
        .assert_eq(&list(&app, None));
    expect!["chat/messages b(author)"].assert_eq(&list(&app, Some("b")));
    expect!["denied: connection_not_found at connection_id"].assert_eq(&list(&app, Some("zzz")));
    expect!["chat/messages a(*) b(*); chat/files a(*) b(*); mail/messages m(*); mail/files m(*)"]
        .assert_eq(&list(&owner(), None));
}

#[test]
fn a_stream_that_is_gone_and_a_key_that_is_none_look_like_what_they_are() {
    let gone = client(&["chat archive@a: id"]);
    check(&gone, &one_source(), "archive", expect!["denied: stream_not_declared"]);
    let request = RecordRequest {
        target: Target { stream: "messages".into(), ..Target::default() },
        key: "a\0b".into(),
        ..Default::default()
    };
    let catalogue = one_source();
    let narrow = client(&[NARROW]);
    let outcome = Authorizer::new(&narrow, &catalogue).record(&request).unwrap_err();
    assert_eq!(denied(&outcome), "denied: not_found");
    let blob = BlobRequest { blob_id: "../../etc/passwd".into(), ..Default::default() };
    let outcome = Authorizer::new(&narrow, &catalogue).blob(&blob).unwrap_err();
    assert_eq!(denied(&outcome), "denied: blob_not_found");
}
