//! The owner's spellings and what they select, over the sample archive.

use expect_test::{Expect, expect};
use pdpp_testkit::sample;

use super::*;

fn args(streams: &[String]) -> SelectionArgs<'_> {
    SelectionArgs {
        streams,
        connection: None,
        since: None,
        until: None,
        purpose_code: DEFAULT_PURPOSE,
        purpose_description: None,
        access_mode: AccessMode::Continuous,
    }
}

fn describe(catalogue: &Catalogue, args: &SelectionArgs<'_>) -> String {
    let requests = match parse_selections(catalogue, args) {
        Err(denial) => return format!("{}: {}", denial.code, denial.message),
        Ok(requests) => requests,
    };
    let stream = |entry: &pdpp_wire::StreamSelection| {
        let ids: Vec<_> = entry.instance_ids.iter().flatten().map(ToString::to_string).collect();
        let fields = entry.fields.as_ref().map_or("*".to_owned(), |fields| fields.join(","));
        format!("{} [{}] {fields}", entry.name, ids.join(" "))
    };
    let request = |request: &SelectionRequest| {
        let streams: Vec<_> = request.streams.iter().map(stream).collect();
        format!("{} ⇒ {}", request.source.id, streams.join("; "))
    };
    requests.iter().map(request).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(streams: &[&str], expected: Expect) {
    let streams: Vec<_> = streams.iter().map(|typed| (*typed).to_owned()).collect();
    expected.assert_eq(&describe(&sample::catalogue(), &args(&streams)));
}

#[test]
fn a_stream_that_one_connection_has_needs_no_more_words() {
    check(&["notes"], expect!["urn:pdpp:source:notes ⇒ notes [cin_notes] *"]);
    check(&["notes:id, title,id"], expect!["urn:pdpp:source:notes ⇒ notes [cin_notes] id,title"]);
}

#[test]
fn a_connection_is_called_by_id_name_or_connector() {
    check(&["cin_work/messages"], expect!["urn:pdpp:source:chat ⇒ messages [cin_work] *"]);
    check(&["Work/messages:text"], expect!["urn:pdpp:source:chat ⇒ messages [cin_work] text"]);
    check(&["notes/notes"], expect!["urn:pdpp:source:notes ⇒ notes [cin_notes] *"]);
    check(&["notes/*"], expect!["urn:pdpp:source:notes ⇒ * [cin_notes] *"]);
}

#[test]
fn streams_of_one_source_share_a_grant() {
    check(
        &["Home/messages:text", "notes", "Home/channels", "Work/messages:text"],
        expect![[r"
            urn:pdpp:source:chat ⇒ messages [cin_home cin_work] text; channels [cin_home] *
            urn:pdpp:source:notes ⇒ notes [cin_notes] *"]],
    );
}

#[test]
fn other_fields_under_another_connection_need_a_grant_of_their_own() {
    check(
        &["Home/messages:text", "Work/messages:author"],
        expect![[r"
            urn:pdpp:source:chat ⇒ messages [cin_home] text
            urn:pdpp:source:chat ⇒ messages [cin_work] author"]],
    );
}

#[test]
fn what_could_mean_two_things_is_refused_with_the_choices() {
    check(
        &["messages"],
        expect![
            "invalid_authorization_details: Several connections have the stream 'messages'. Write one of: Home/messages (chat), Work/messages (chat)."
        ],
    );
    check(
        &["chat/messages"],
        expect![
            "invalid_authorization_details: Several connections have the stream 'messages'. Write one of: Home/messages (chat), Work/messages (chat)."
        ],
    );
    check(
        &["*"],
        expect![
            "invalid_authorization_details: Several connections have the stream '*'. Write one of: Home/* (chat), Work/* (chat), Notebook/* (notes)."
        ],
    );
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    check(
        &["mail"],
        expect![
            "invalid_authorization_details: No stream is called 'mail'. There are: channels, messages, attachments, pins, notes, days."
        ],
    );
    check(
        &["Office/messages"],
        expect![
            "invalid_authorization_details: No connection is called 'Office'. There are: Home, Work, Notebook."
        ],
    );
    check(&["notes:"], expect!["invalid_authorization_details: 'notes:' names an empty field."]);
    check(&[], expect!["invalid_authorization_details: Name at least one stream."]);
}

#[test]
fn a_stream_is_named_once_for_each_connection() {
    check(
        &["notes:id", "Notebook/notes:title"],
        expect!["invalid_authorization_details: The stream 'notes' is named twice for one connection."],
    );
    check(
        &["notes/*", "notes:title"],
        expect!["invalid_authorization_details: The stream 'notes' is named twice for one connection."],
    );
}

#[test]
fn names_with_separators_still_work() {
    let mut catalogue = sample::catalogue();
    let notes =
        sample::source(sample::notes::manifest(), &[("cin_a", "Notes: old/new"), ("cin_b", "Notes: old")]);
    catalogue.sources = vec![Arc::new(notes)];
    let streams = ["Notes: old/new/notes:id".to_owned(), "Notes: old/days".to_owned()];
    expect!["urn:pdpp:source:notes ⇒ notes [cin_a] id; days [cin_b] *"]
        .assert_eq(&describe(&catalogue, &args(&streams)));
}

#[test]
fn one_connection_can_be_named_for_all_streams_at_once() {
    let streams = ["messages".to_owned(), "channels".to_owned(), "notes/notes".to_owned()];
    let args = SelectionArgs { connection: Some("Work"), ..args(&streams) };
    expect![[r"
        urn:pdpp:source:chat ⇒ messages [cin_work] *; channels [cin_work] *
        urn:pdpp:source:notes ⇒ notes [cin_notes] *"]]
    .assert_eq(&describe(&sample::catalogue(), &args));
}

#[test]
fn times_must_be_times() {
    let streams = ["notes".to_owned()];
    let catalogue = sample::catalogue();
    let bad = SelectionArgs { since: Some("yesterday"), ..args(&streams) };
    assert_eq!(parse_selections(&catalogue, &bad).unwrap_err().param.as_deref(), Some("since"));
    let good = SelectionArgs { since: Some("2026-01-01"), ..args(&streams) };
    let range = parse_selections(&catalogue, &good).unwrap()[0].streams[0].time_range.clone();
    assert_eq!(range.unwrap().since.as_deref(), Some("2026-01-01"));
}
