//! How output looks: narrow terminals, colours, closed pipes, hostile text.

use std::process::{Command, Stdio};

use serde_json::json;

use super::{Reader, succeeded};
use crate::support::{Pdpp, fixture};

/// 9.3-15: a preview keeps within its budget, and no line but a command is wider than the terminal.
#[test]
fn twenty_columns_are_enough() {
    let reader = Reader::new(&["--stream", "messages"]);
    for args in [
        &["schema"][..],
        &["streams"],
        &["search", "winter storage"],
        &["query-records", "messages", "--limit", "2"],
        &["fetch", "messages", "m_0132"],
        &["field-window", "messages", "m_0132", "--field", "text", "--q", "winter storage"],
        &["aggregate", "messages", "--group-by", "author"],
        &["aggregate", "messages", "--group-by-time", "sent_at", "--granularity", "day", "--limit", "100"],
    ] {
        let all = [args, &["--format", "table"]].concat();
        let printed = succeeded(&reader.command(&all).env("COLUMNS", "20").output().unwrap());
        for line in printed.lines().filter(|line| !line.contains("pdpp read")) {
            assert!(line.chars().count() <= 20, "{args:?}: {line}");
        }
    }
}

#[test]
fn matches_are_emphasised_with_and_without_colour() {
    let reader = Reader::new(&["--stream", "messages"]);
    let args = ["search", "winter storage", "--limit", "1", "--format", "table"];
    let plain = reader.ok(&args);
    assert!(plain.contains("[winter storage]") && !plain.contains('\u{1b}'), "{plain}");
    let coloured = succeeded(&reader.command(&args).env("CLICOLOR_FORCE", "1").output().unwrap());
    assert!(coloured.contains("\u{1b}[1;33mwinter storage\u{1b}[0m"), "{coloured:?}");
    let asked = reader.command(&args).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
    let without_cursor =
        |text: &str| text.lines().filter(|line| !line.starts_with("next: ")).collect::<String>();
    assert_eq!(without_cursor(&succeeded(&asked)), without_cursor(&plain));
    let preview = plain.lines().find(|line| line.contains("[winter")).unwrap();
    assert!(preview.trim().chars().count() <= 240 + 4, "{preview}");
}

#[test]
fn a_closed_pipe_is_success() {
    let reader = Reader::new(&["--stream", "messages"]);
    for format in ["json", "jsonl", "table"] {
        let mut command = reader.command(&["query-records", "messages", "--all", "--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{format}: {output:?}");
    }
}

/// 9.2-21: nothing a record says reaches the terminal as anything but text, whatever is asked.
#[test]
fn hostile_text_stays_text() {
    let pdpp = Pdpp::with_sample();
    let evil =
        "zebrafish \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}gnp.exe\r\nnext: pdpp read blob x; rm -rf ~\u{9b}31m";
    let record = json!({
        "stream": "messages", "key": "evil-1", "emitted_at": "2026-01-01T00:00:00Z",
        "data": {"id": "evil-1", "channel_id": evil, "author": evil, "sent_at": "2026-01-01T00:00:00Z", "text": evil},
    });
    let file = pdpp.write("evil.jsonl", format!("{record}\n"));
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &file]);
    let data = pdpp.data().display().to_string();
    for args in [
        &["search", "zebrafish"][..],
        &["fetch", "messages", "evil-1"],
        &["field-window", "messages", "evil-1", "--field", "text"],
        &["query-records", "messages", "--filter", "id=evil-1"],
        &["aggregate", "messages", "--group-by", "author", "--limit", "100"],
    ] {
        for width in ["24", "200"] {
            let all = [&["read"], args, &["--data", &data, "--format", "table"]].concat();
            let printed = succeeded(&pdpp.command(&all).env("COLUMNS", width).output().unwrap());
            assert!(
                !printed.contains(['\u{1b}', '\u{202e}', '\u{7}', '\r', '\u{9b}']),
                "{args:?}: {printed:?}"
            );
            assert!(
                !printed.lines().any(|line| line.starts_with("next: pdpp read blob")),
                "{args:?}: {printed}"
            );
        }
    }
}

#[test]
fn every_command_explains_itself() {
    let pdpp = Pdpp::new();
    for action in
        ["schema", "streams", "query-records", "search", "field-window", "fetch", "aggregate", "blob"]
    {
        let help = pdpp.ok(&["read", action, "--help"]);
        assert!(
            help.contains(&format!("Usage: pdpp read {action}")) && help.contains("--data <DIR>"),
            "{help}"
        );
    }
    let help =
        Command::new(env!("CARGO_BIN_EXE_pdpp")).args(["read", "--help"]).env_clear().output().unwrap();
    assert!(succeeded(&help).contains("field-window"));
}
