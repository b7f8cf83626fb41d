//! A hundred short cases behind one `check`: who asks, what for, and what comes of it.

mod search;
mod written;

use expect_test::{Expect, expect};

use self::written::{check, client, denied, one_source, owner, pairs, shown, two_sources};
use crate::{
    AggregateRequest, Authorizer, BlobRequest, Principal, RecordRequest, StreamsRequest, Target,
    WindowRequest,
};

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
