//! One meaning at every door: the questions of `docs/reference/parity.md`, put through REST, MCP over standard streams, MCP
//! over HTTP, and the command line. Evidence, handles, totals, truncation and codes must be equal.

mod doors;
mod table;

use serde_json::{Value, json};

use self::doors::{Answer, Doors};
use self::table::{Question, not_asked, questions};
use crate::support::{Pdpp, fixture, text};

/// Asks every question of a section, and compares.
#[track_caller]
fn ask_all(section: &str, doors: &mut Doors) {
    let questions = questions(section);
    assert!(!questions.is_empty(), "{section}");
    let complaints: Vec<String> = questions.iter().flat_map(|question| ask(question, doors)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// What is wrong with the answers to one question.
fn ask(question: &Question, doors: &mut Doors) -> Vec<String> {
    let rest = doors.rest(&question.rest);
    let mut answers = Vec::new();
    if let Some((tool, arguments)) = &question.call {
        answers.push(("MCP over standard streams", doors.mcp_stdio(tool, arguments)));
        answers.push(("MCP over HTTP", doors.mcp_http(tool, arguments)));
    }
    answers.push(("the command line", doors.cli(&question.command)));
    let differ = |(door, answer): &(&str, Answer)| {
        let problem = match (&rest, answer) {
            (Answer::Refused(_), Answer::Refused(code)) if Some(code) == question.code.as_ref() => None,
            (Answer::Given(body), Answer::Given(given)) => {
                let (wanted, given) = (facts(&question.kind, body), facts(&question.kind, given));
                (wanted != given).then(|| format!("REST has {wanted}\nthis has {given}"))
            }
            (Answer::Given(record), Answer::Document(document)) => left_out(record, document),
            _ => Some(format!("gave {answer:?}")),
        };
        problem.map(|problem| format!("{}: {door}: {problem}", question.name))
    };
    let mut complaints: Vec<String> = answers.iter().filter_map(differ).collect();
    match (&rest, &question.code) {
        (Answer::Refused(code), Some(wanted)) if code == wanted => {}
        (Answer::Given(body), None) => doors.remember(body),
        _ => complaints.push(format!("{}: REST gave {rest:?}", question.name)),
    }
    complaints
}

/// What a document of a record lacks of the record.
fn left_out(record: &Value, document: &Value) -> Option<String> {
    if document["id"] != record["result_id"] {
        return Some(format!("the handle is {}", document["id"]));
    }
    let said = document.to_string();
    let members = record["data"].as_object().into_iter().flatten();
    let mut texts = members.filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts.find(|(_, value)| !said.contains(value)).map(|(name, _)| format!("{name} is left out"))
}

/// What must be equal: everything but what is sealed anew for each call, and addresses.
fn facts(kind: &str, body: &Value) -> Value {
    if kind == "window" {
        let window = &body["window"];
        let members = [
            "text",
            "total_chars",
            "start_chars",
            "end_chars",
            "limit_chars",
            "complete",
            "has_more",
            "match_start_chars",
            "match_end_chars",
            "next_offset_chars",
            "previous_offset_chars",
        ];
        return members.iter().map(|name| json!([name, window[name]])).collect();
    }
    masked(body)
}

fn masked(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| {
                !matches!(name.as_str(), "links" | "url" | "command" | "field_capability_legend")
                    && !name.ends_with("_command")
            })
            .map(|(name, value)| match name.as_str() {
                // Sealed with fresh randomness each time; that there is one must be equal.
                "next_cursor" | "next_changes_since" => (name.clone(), json!(value.is_string())),
                _ => (name.clone(), masked(value)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(masked).collect(),
        value => value.clone(),
    }
}

#[test]
fn a_wide_grant_reads_the_same_at_every_door() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "*"]);
    ask_all("Under a wide grant", &mut Doors::open(pdpp, &token));
}

#[test]
fn a_narrow_grant_refuses_the_same_at_every_door() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages:text,sent_at", "--since", "2025-10-01"]);
    ask_all("Under a narrow grant", &mut Doors::open(pdpp, &token));
}

#[test]
fn two_connections_are_told_apart_at_every_door() {
    let pdpp = Pdpp::with_sample();
    let (manifest, records) = (fixture("manifest.json"), fixture("records.jsonl"));
    pdpp.ok(&["import", "--manifest", &manifest, &records, "--connection", "Second"]);
    let connections = pdpp.json(&["connections", "list", "--json"]);
    let ids: Vec<String> =
        connections.as_array().unwrap().iter().map(|one| text(&one["connection_id"])).collect();
    assert_eq!(ids.len(), 2, "{connections}");
    let streams =
        ids.iter().flat_map(|id| ["--stream".to_owned(), format!("{id}/messages")]).collect::<Vec<_>>();
    let args: Vec<&str> = streams.iter().map(String::as_str).collect();
    let issued =
        pdpp.json(&[&["grant", "create", "--client", "assistant", "--json"], args.as_slice()].concat());
    let token = text(&issued["access_token"]);
    ask_all("With two connections of one source", &mut Doors::open(pdpp, &token));
}

#[test]
fn an_ended_grant_is_refused_the_same_at_every_door() {
    let pdpp = Pdpp::with_sample();
    let (token, grant) = pdpp.grant(&["--stream", "messages"]);
    let mut doors = Doors::open(pdpp, &token);
    doors.pdpp().ok(&["grant", "revoke", &grant]);
    ask_all("After the grant has ended", &mut doors);
}

#[test]
fn an_emptied_stream_starts_again_at_every_door() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "channels"]);
    let owner = pdpp.owner_token();
    let mut doors = Doors::open(pdpp, &token);
    let before = doors.rest("/v1/streams/channels/records?changes_since=beginning");
    let Answer::Given(before) = before else { panic!("{before:?}") };
    doors.remember(&before);
    doors.empty("channels", &owner);
    ask_all("After everything was deleted", &mut doors);
}

#[test]
fn a_stranger_is_turned_away_at_every_door() {
    let pdpp = Pdpp::with_sample();
    ask_all("With a token nobody knows", &mut Doors::open(pdpp, "nobody-knows-this"));
}

/// A code is asked for in the table, or the page says why not.
#[test]
fn every_code_is_accounted_for() {
    let asked = table::asked_codes();
    let named = not_asked();
    let both: Vec<&String> = asked.iter().filter(|code| named.contains(code)).collect();
    assert!(both.is_empty(), "asked after all: {both:?}");
    let missing: Vec<String> = pdpp_wire::Code::ALL
        .iter()
        .filter(|code| code.status() != 0)
        .map(ToString::to_string)
        .filter(|code| !asked.contains(code) && !named.contains(code))
        .collect();
    assert!(missing.is_empty(), "neither asked nor explained: {missing:?}");
}
