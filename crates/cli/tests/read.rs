//! `pdpp read`.

mod blobs;
mod lists;
mod numbers;
mod owner;
mod shapes;

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Pdpp, Server, text};

/// A server, a grant, and commands that read through it.
struct Reader {
    pdpp: Pdpp,
    server: Server,
    token: String,
    grant_id: String,
}

impl Reader {
    fn new(grant: &[&str]) -> Self {
        let pdpp = Pdpp::with_sample();
        let (token, grant_id) = pdpp.grant(grant);
        let server = pdpp.serve();
        Self { pdpp, server, token, grant_id }
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.pdpp.command(&[&["read"], args].concat());
        command.env("PDPP_CLIENT_TOKEN", &self.token).env("PDPP_PROVIDER_URL", self.url());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        succeeded(&self.run(args))
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// Runs a printed line as a shell would.
    #[track_caller]
    fn shell(&self, line: &str) -> String {
        let mut command = Command::new("sh");
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_pdpp")).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", binary.display());
        command.args(["-c", line]).env_clear().env("PATH", path).env("HOME", self.pdpp.path("home"));
        succeeded(&command.env("PDPP_CLIENT_TOKEN", &self.token).output().unwrap())
    }

    /// What kinds of read the ledger has, oldest first.
    fn actions(&self) -> Vec<String> {
        let ledger = self.pdpp.ok(&["audit", "--json", "--grant", &self.grant_id]);
        let entries = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut actions: Vec<String> = entries.map(|entry| text(&entry["action"])).collect();
        actions.reverse();
        actions
    }
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn failed(output: &Output) -> (i32, String) {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr.clone()).unwrap())
}

/// S1-R5, S1-R5-S2: search shows a proven piece and prints the command that reads the window; no record is read whole.
#[test]
fn search_prints_the_command_that_reads_on() {
    let reader = Reader::new(&["--stream", "messages"]);
    let printed = reader.ok(&["search", "winter storage", "--limit", "3", "--format", "table"]);
    let command = printed.lines().find(|line| line.trim().starts_with("pdpp read field-window")).unwrap();
    assert!(printed.contains("messages:m_0132"), "{printed}");
    assert!(printed.contains("preview_status=truncated"), "{printed}");
    assert!(printed.to_lowercase().contains("winter storage") && !printed.contains("<mark>"), "{printed}");
    assert!(command.contains(&format!(" {} messages ", reader.url())), "{command}");
    let window: Value = serde_json::from_str(&reader.shell(command.trim())).unwrap();
    assert_eq!(window["object"], json!("field_window"));
    let shown = text(&window["window"]["text"]).to_lowercase();
    assert!(shown.contains("storage"), "{shown}");
    assert_eq!(reader.actions(), ["search", "field_window"]);
}

/// S1-R5-S2: programs get the same command as arguments, and the descriptor is not stripped.
#[test]
fn json_search_keeps_the_descriptor_and_adds_the_arguments() {
    let reader = Reader::new(&["--stream", "messages"]);
    let answer = reader.json(&["search", "winter storage"]);
    let excerpt = &answer["data"][0]["evidence_excerpts"][0];
    assert_eq!(excerpt["read"]["object"], json!("field_window_read"));
    let command: Vec<String> = excerpt["command"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(command[..3], ["pdpp", "read", "field-window"]);
    let args: Vec<&str> = command[1..].iter().map(String::as_str).collect();
    let output = reader.pdpp.command(&args).env("PDPP_CLIENT_TOKEN", &reader.token).output().unwrap();
    let window: Value = serde_json::from_str(&succeeded(&output)).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    assert!(number(&window["window"]["start_chars"]) <= number(&excerpt["match"][0]["start_chars"]));
    assert!(number(&window["window"]["end_chars"]) >= number(&excerpt["match"][0]["end_chars"]));
    let lines = reader.ok(&["search", "winter storage", "--format", "jsonl"]);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["object"], json!("search_result"));
    assert_eq!(lines.lines().count(), answer["data"].as_array().unwrap().len());
}

/// S1-R5-S2: windows lead to the next one, each command as printed, until the field ends.
#[test]
fn windows_join_to_the_whole_field() {
    let reader = Reader::new(&["--stream", "messages"]);
    let whole = reader.json(&["fetch", "messages", "m_0132"]);
    let whole = text(&whole["data"]["text"]);
    let first = [
        "field-window",
        "messages",
        "m_0132",
        "--field",
        "text",
        "--limit-chars",
        "5000",
        "--format",
        "table",
    ];
    let mut printed = reader.ok(&first);
    assert!(printed.contains("chars 0–5,000 of 12,742 · preview_status=truncated"), "{printed}");
    let mut read = String::new();
    let mut windows = 0;
    loop {
        windows += 1;
        let lines: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("│ ")).collect();
        read.push_str(&lines.join("\n"));
        let Some(next) = printed.lines().find_map(|line| line.strip_prefix("next: ")) else { break };
        printed = reader.shell(&format!("{next} --format table"));
        assert!(printed.contains("previous: pdpp read field-window"), "{printed}");
    }
    assert_eq!(read, whole);
    assert_eq!(windows, 3);
}

/// S3-R3: what is cut, how large it is and how to go on comes from the same crate as on the other surfaces.
#[test]
fn a_fetched_record_describes_what_it_does_not_show() {
    let reader = Reader::new(&["--stream", "messages"]);
    let printed = reader.ok(&["fetch", "messages", "m_0132", "--format", "table"]);
    let record = reader.json(&["fetch", "messages", "m_0132"]);
    let whole = text(&record["data"]["text"]);
    let (shown, extent) = pdpp_evidence::Extent::head(&whole, 480);
    assert!(extent.truncated);
    let size = extent.total_chars.unwrap();
    let expected = format!("text: preview_status=truncated chars=0-{} size_chars={size}", extent.shown_chars);
    assert!(printed.contains(&expected), "{printed}");
    assert!(printed.contains(shown.lines().next().unwrap()), "{printed}");
    let command = printed.lines().find(|line| line.trim().starts_with("pdpp read field-window")).unwrap();
    let window: Value = serde_json::from_str(&reader.shell(command.trim())).unwrap();
    let window = &window["window"];
    assert_eq!((&window["start_chars"], &window["total_chars"]), (&json!(0), &json!(size)));
}

#[test]
fn a_handle_stands_for_stream_and_record() {
    let reader = Reader::new(&["--stream", "messages"]);
    let answer = reader.json(&["search", "winter storage", "--limit", "1"]);
    let handle = text(&answer["data"][0]["result_id"]);
    let url = reader.url();
    let record = reader.json(&["fetch", &handle]);
    assert_eq!(record["id"], answer["data"][0]["record_key"]);
    assert_eq!(reader.json(&["fetch", &url, &handle])["id"], record["id"]);
    assert_eq!(reader.json(&["fetch", "--url", &url, &handle, "--fields", "author"])["id"], record["id"]);
    let window = reader.json(&["field-window", &handle, "--field", "text", "--q", "storage"]);
    assert_eq!(window["record_id"], record["id"]);
    let (code, said) = failed(&reader.run(&["fetch", &handle, "--connection-id", "cin_other"]));
    assert!(code == 2 && said.contains("--connection-id"), "{said}");
}

/// The credential is the one the exit codes of a script depend on.
#[test]
fn every_ending_has_its_code() {
    let reader = Reader::new(&["--stream", "messages:text"]);
    let check = |args: &[&str], code: i32, said: &str| {
        let (got, line) = failed(&reader.run(args));
        assert!(got == code && line.contains(said), "{args:?}: {got} {line}");
        assert!(!line.contains(&reader.token));
    };
    check(&["search"], 2, "QUERY");
    check(&["search", "winter", "storage"], 2, "in quotes");
    check(&["fetch", "m_0132"], 2, "names no record");
    check(&["field-window", "messages", "m_0132"], 2, "--field");
    check(&["fetch", "ftp://x", "messages", "m_0132"], 2, "URL");
    check(&["no-such-command"], 2, "no-such-command");
    check(&["fetch", "channels", "c_garden"], 4, "grant_stream_not_allowed");
    check(&["fetch", "messages", "m_0132", "--fields", "author"], 4, "field_not_granted");
    check(&["fetch", "messages", "nobody"], 5, "not_found");
    check(&["field-window", "messages", "m_0132", "--field", "nothing"], 4, "field_not_granted");
    check(&["search", "x", "--mode", "semantic"], 5, "");
    check(&["search", "x", "--limit", "0"], 1, "limit");
    check(&["search", "--url", "http://127.0.0.1:1", "x"], 69, "cannot be reached");
    let strange = reader.command(&["search", "x"]).env("PDPP_CLIENT_TOKEN", "strange").output().unwrap();
    assert_eq!(failed(&strange).0, 3);
    let nobody = reader.command(&["search", "x"]).env_remove("PDPP_CLIENT_TOKEN").output().unwrap();
    let (code, said) = failed(&nobody);
    assert!(
        code == 2 && said.contains("No scoped PDPP credential") && said.contains("pdpp connect"),
        "{said}"
    );
    reader.pdpp.ok(&["grant", "revoke", &reader.grant_id]);
    check(&["search", "x"], 4, "grant_revoked");
}

#[test]
fn record_text_cannot_control_the_terminal() {
    let pdpp = Pdpp::with_sample();
    let key = "evil-1";
    let record = json!({
        "stream": "messages", "key": key, "emitted_at": "2026-01-01T00:00:00Z",
        "data": {
            "id": key, "channel_id": "c_garden", "author": "Mallory", "sent_at": "2026-01-01T00:00:00Z",
            "text": "zebrafish \u{1b}[2J\u{202e}gnp.exe\u{7}",
        },
    });
    let file = pdpp.write("evil.jsonl", format!("{record}\n"));
    pdpp.ok(&["import", "--manifest", &crate::support::fixture("manifest.json"), &file]);
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let url = format!("http://{}", server.address());
    for args in [
        &["read", "search", &url, "zebrafish", "--format", "table"][..],
        &["read", "fetch", &url, "messages", key, "--format", "table"],
        &["read", "field-window", &url, "messages", key, "--field", "text", "--format", "table"],
    ] {
        let output = pdpp.command(args).env("PDPP_CLIENT_TOKEN", &token).output().unwrap();
        let printed = succeeded(&output);
        assert!(printed.contains("zebrafish"), "{printed}");
        assert!(!printed.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{printed:?}");
    }
}
