//! What is not said is asked on a terminal; how long it lasts is said to the owner and kept to.

use serde_json::{Value, json};

use super::{CHAT, Town};
use crate::support::{Terminal, back, query, text};

impl Town {
    fn terminal(&self) -> Terminal {
        let mut command = self.command(&["connect", &self.url(), "--no-browser"]);
        command.env("NO_COLOR", "1");
        Terminal::start(command, 100)
    }

    /// What the owner is shown, once it is asked.
    fn asked(&self, terminal: &Terminal) -> (String, Value) {
        let consent = query(&self.desk.follow(&terminal.line_with("/oauth/authorize?")));
        let review = self.desk.review(&consent)["approval_review"].clone();
        (consent, review)
    }

    fn kept(&self) -> Value {
        let clients = self.asker.path(".config/pdpp/clients");
        let file = std::fs::read_dir(clients).unwrap().next().unwrap().unwrap().path();
        serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
    }
}

#[test]
fn a_stranger_names_what_they_want() {
    let town = Town::new();
    let mut terminal = town.terminal();
    terminal.answer("Which source do you ask for?", "the chat");
    terminal.answer("no spaces", "harbour-chat");
    terminal.answer("Which streams?", "messages:");
    terminal.answer("names no stream", "messages:author,text channels");
    terminal.answer("Only records since?", "");
    terminal.answer("When should it end?", "yesterday");
    terminal.answer("no time", "2099-01-01");
    let (consent, review) = town.asked(&terminal);
    let source = &review["sources"][0];
    assert_eq!(source["source"]["id"], json!("urn:pdpp:source:harbour-chat"), "{review}");
    let names: Vec<String> =
        source["streams"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
    assert_eq!(names, ["messages", "channels"]);
    let said = text(&source["purpose_description"]);
    assert!(said.contains("until 2099-01-01"), "the owner is told: {said}");
    town.desk.open(&back(&town.desk.approve(&consent, None)));
    terminal.wait_for("it is not used here after 2099-01-01");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(town.kept()["credential"]["ends_at"], json!("2099-01-01T00:00:00.000Z"));
}

#[test]
fn the_choice_can_be_left_to_the_owner() {
    let town = Town::new();
    let mut terminal = town.terminal();
    terminal.answer("Which source do you ask for?", "");
    terminal.wait_for("The owner will choose on the server's page");
    terminal.answer("When should it end?", "");
    let (consent, review) = town.asked(&terminal);
    assert_eq!(review["sources"], json!([]), "{review}");
    assert!(review["picker"]["sources"].is_array(), "{review}");
    town.desk.open(&back(&town.desk.deny(&consent)));
    let (code, shown) = terminal.end();
    assert!(code == 69 && shown.contains("approval_denied"), "{code} {shown}");
}

#[test]
fn whoever_was_let_in_before_chooses_from_a_list() {
    let town = Town::new();
    town.connected(&["--source", "harbour-chat", "--stream", "messages:author,text", "--stream", "channels"]);
    let mut terminal = town.terminal();
    terminal.wait_for("harbour-chat/messages");
    let line = terminal.line_with("harbour-chat/messages");
    terminal.answer("Which do you ask for?", "9");
    terminal.answer("no number from 1 to 2", line.split_whitespace().next().unwrap());
    let author = terminal.line_with("  author");
    terminal.answer("Which? Numbers", author.split_whitespace().next().unwrap());
    terminal.answer("Only records since?", "2025-10-01");
    terminal.answer("When should it end?", "");
    let (consent, review) = town.asked(&terminal);
    let streams = review["sources"][0]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 1, "{review}");
    let stream = streams[0].to_string();
    assert!(stream.contains("author") && stream.contains("2025-10-01"), "{stream}");
    town.desk.open(&back(&town.desk.approve(&consent, None)));
    let (code, shown) = terminal.end();
    assert!(code == 0 && shown.contains("messages: author, id"), "{code} {shown}");
}

/// The server would go on giving tokens; whoever connected did not want more of them.
#[test]
fn what_was_asked_to_end_is_not_renewed() {
    let town = Town::new();
    let printed = town.connected(&[&CHAT[..], &["--expires", "30d"]].concat());
    assert!(printed["renewable"] == json!(true) && printed["used_until"].is_string(), "{printed}");
    town.ok(&["read", "streams"]);
    let path = text(&printed["path"]);
    let mut kept = town.kept();
    kept["credential"]["ends_at"] = json!("2020-01-01T00:00:00Z");
    std::fs::write(&path, kept.to_string()).unwrap();
    let (code, said) = town.fails(&["read", "streams", &town.url()]);
    assert!(code == 2 && said.contains("credential_expired") && said.contains("2020-01-01"), "{said}");
    assert_eq!(town.fails(&["token", &town.url()]).0, 69);
    assert!(town.ok(&["disconnect"]).contains("Disconnected"), "it is still given back");
}
