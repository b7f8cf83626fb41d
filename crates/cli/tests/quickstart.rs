//! The quick start, done as it is written: the actions are counted, and those on this machine are typed.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{McpHost, Pdpp, Terminal, copy_export, text};

const LOCAL: &str = "## On this machine: four actions";
const HOSTED: &str = "## An assistant in the cloud: six actions";

/// The actions below a heading, each with the command that stands in it, if one does.
fn actions(heading: &str) -> Vec<Option<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/quickstart.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, below) = page.split_once(heading).unwrap_or_else(|| panic!("there is no '{heading}'"));
    let section = below.split("\n## ").next().unwrap();
    let mut actions: Vec<Option<String>> = Vec::new();
    let mut lines = section.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with(&format!("{}. ", actions.len() + 1)) {
            actions.push(None);
        } else if line == "   ```sh" {
            let command = lines.next().unwrap().trim().to_owned();
            assert_eq!(lines.next(), Some("   ```"), "an action is one command: {command}");
            let last = actions.last_mut().unwrap();
            assert_eq!(last.replace(command), None, "an action is one command");
        }
    }
    actions
}

fn words(command: &str) -> Vec<&str> {
    command.strip_prefix("pdpp ").unwrap().split(' ').collect()
}

#[test]
fn a_local_assistant_quotes_mail_after_four_actions() {
    let actions = actions(LOCAL);
    let [Some(build), Some(load), Some(offer), None] = actions.as_slice() else { panic!("{actions:?}") };
    assert_eq!(build, "cargo install --path crates/cli", "what the tests run was built so");
    let home = Pdpp::new();
    let command = |args: &[&str]| {
        let mut command = home.command(args);
        command.env_remove("PDPP_DATA");
        command
    };
    // Any export will do; what it is is told from its contents.
    let [_, export] = words(load)[..] else { panic!("{load}") };
    let export = home.path(export.strip_prefix("~/").unwrap());
    copy_export("mail", &export);
    let loaded = command(&["import", &export.display().to_string()]).output().unwrap();
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));

    let mut terminal = Terminal::start(command(&words(offer)), 100);
    let line = terminal.line_with("/messages");
    terminal.answer("Which may it read?", line.split_whitespace().next().unwrap());
    terminal.answer("Which? Numbers", "");
    terminal.answer("Only records since?", "");
    terminal.answer("When does it end?", "");
    terminal.answer("Write this to", "y");
    let (code, shown) = terminal.end();
    assert!(code == 0 && shown.contains("it answered with"), "{code} {shown}");

    let written: Value = serde_json::from_slice(&std::fs::read(home.path(".claude.json")).unwrap()).unwrap();
    let entry = &written["mcpServers"]["pdpp"];
    let mut host = std::process::Command::new(text(&entry["command"]));
    host.env_clear().args(entry["args"].as_array().unwrap().iter().map(text));
    let found = McpHost::start(host).call("search", &json!({"q": "berth"}));
    assert!(found.to_string().contains("berth"), "{found}");
}

#[test]
fn a_hosted_assistant_takes_six_actions() {
    let actions = actions(HOSTED);
    assert_eq!(actions.len(), 6, "{actions:?}");
    let typed: Vec<&str> = actions.iter().flatten().map(String::as_str).collect();
    assert_eq!(typed.len(), 4, "the last two happen elsewhere: {typed:?}");
}

/// The page for newcomers says the same.
#[test]
fn the_readme_has_the_same_actions() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for command in actions(LOCAL).iter().flatten() {
        assert!(readme.contains(command), "{command}");
    }
}
