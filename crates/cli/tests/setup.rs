//! `pdpp setup`, in a clean home as a new user has one.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Pdpp, Terminal, text};

const STREAM: [&str; 2] = ["--stream", "messages:author,text,sent_at"];

struct Home {
    pdpp: Pdpp,
}

impl Home {
    fn new() -> Self {
        Self { pdpp: Pdpp::with_sample() }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.pdpp.run(&[&["setup"], args].concat())
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        self.pdpp.ok(&[&["setup"], args].concat())
    }

    #[track_caller]
    fn fails(&self, args: &[&str]) -> (i32, String) {
        self.pdpp.fails(&[&["setup"], args].concat())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.pdpp.path(name)
    }

    fn put(&self, name: &str, content: &str) {
        let file = self.file(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
}

fn content(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Where each host looks, on this platform.
const HOSTS: [(&str, &str); 5] = [
    ("claude-code", ".claude.json"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ("codex", ".codex/config.toml"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json"),
];

/// The change is shown, written, proven by starting the adapter, and undone without a trace.
#[test]
fn every_host_is_set_up_and_undone() {
    for (host, file) in HOSTS {
        let home = Home::new();
        let output = home.run(&[&[host, "--yes"], &STREAM[..]].concat());
        let (printed, said) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{host}: {said}");
        assert!(printed.contains("it answered with 15 tools"), "{printed}");
        assert!(printed.contains('+') && printed.contains(env!("CARGO_BIN_EXE_pdpp")), "{host}: {printed}");
        assert!(
            said.contains("commands under your account"),
            "the owner is told what grants do not do: {said}"
        );
        let written = content(&home.file(file));
        assert!(written.contains("--grant") && written.contains("grt_"), "{written}");
        assert!(written.contains(&home.pdpp.data().display().to_string()), "{written}");
        assert_eq!(home.pdpp.json(&["grant", "list", "--json"]).as_array().unwrap().len(), 1);
        let again = home.ok(&[host, "--yes"]);
        assert!(again.contains("already set up"), "the grant it has is picked again: {again}");
        let removed = home.ok(&[host, "--remove", "--yes"]);
        assert!(removed.contains("pdpp grant revoke grt_"), "{removed}");
        assert!(!home.file(file).exists(), "there was no file before");
        assert!(home.ok(&[host, "--remove", "--yes"]).contains("has no entry"));
    }
}

/// Whatever else stands in the file stays there byte for byte, and comes back exactly.
#[test]
fn other_settings_are_left_alone() {
    let home = Home::new();
    let before = "{\n\t\"theme\": \"dark\", \"big\": 123456789012345678901234567890,\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" }\n\t}\n}";
    home.put(".claude.json", before);
    let (_, grant) = home.pdpp.grant(&STREAM);
    home.ok(&["claude-code", "--yes", "--grant", &grant, "--name", "my-data"]);
    let after = content(&home.file(".claude.json"));
    assert!(
        after.starts_with("{\n\t\"theme\": \"dark\", \"big\": 123456789012345678901234567890,"),
        "{after}"
    );
    assert!(after.contains("\"other\": { \"command\": \"x\" },\n\t\t\"my-data\": {"), "{after}");
    let value: Value = serde_json::from_str(&after).unwrap();
    assert_eq!(value["mcpServers"]["my-data"]["args"][4], json!(grant));
    assert_eq!(content(&home.file(".claude.json.pdpp-backup")), before);
    home.ok(&["claude-code", "--remove", "--yes", "--name", "my-data"]);
    assert_eq!(content(&home.file(".claude.json")), before);
    assert!(!home.file(".claude.json.pdpp-backup").exists());
}

/// Somebody changed the file in between: only the entry goes.
#[test]
fn later_changes_survive_the_removal() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "{\"mcpServers\": {}}\n");
    home.ok(&[&["cursor", "--yes"], &STREAM[..]].concat());
    let file = home.file(".cursor/mcp.json");
    let edited = content(&file).replacen('{', "{\"later\": true, ", 1);
    std::fs::write(&file, edited).unwrap();
    home.ok(&["cursor", "--remove", "--yes"]);
    let value: Value = serde_json::from_str(&content(&file)).unwrap();
    assert_eq!(value, json!({"later": true, "mcpServers": {}}));
}

#[test]
fn comments_in_settings_stay() {
    let home = Home::new();
    home.put(".codex/config.toml", "# mine\nmodel = \"x\" # why\n");
    home.ok(&[&["codex", "--yes"], &STREAM[..]].concat());
    let toml = content(&home.file(".codex/config.toml"));
    assert!(
        toml.starts_with("# mine\nmodel = \"x\" # why\n") && toml.contains("[mcp_servers.pdpp]"),
        "{toml}"
    );
    home.put(".config/Code/User/mcp.json", "{\n  // mine\n  \"servers\": {\n  },\n}\n");
    home.ok(&["vscode", "--yes", "--grant", &first_grant(&home)]);
    let jsonc = content(&home.file(".config/Code/User/mcp.json"));
    assert!(jsonc.contains("// mine") && jsonc.contains("\"type\": \"stdio\""), "{jsonc}");
    home.ok(&["vscode", "--remove", "--yes"]);
    assert_eq!(
        content(&home.file(".config/Code/User/mcp.json")),
        "{\n  // mine\n  \"servers\": {\n  },\n}\n"
    );
}

fn first_grant(home: &Home) -> String {
    text(&home.pdpp.json(&["grant", "list", "--json"])[0]["grant_id"])
}

#[test]
fn nothing_is_written_without_consent_or_with_mistakes() {
    let home = Home::new();
    let (code, said) = home.fails(&[&["cursor"], &STREAM[..]].concat());
    assert!(code == 64 && said.contains("nothing was changed") && said.contains("--yes"), "{said}");
    assert!(!home.file(".cursor/mcp.json").exists());
    let grants = home.pdpp.json(&["grant", "list", "--json"]);
    assert_eq!(grants[0]["state"], json!("revoked"), "a grant nobody will use does not live: {grants}");
    let check = |args: &[&str], code: i32, expected: &str| {
        let (got, said) = home.fails(args);
        assert!(got == code && said.contains(expected), "{args:?}: {got} {said}");
    };
    check(&[], 64, "HOST");
    check(&["emacs"], 64, "emacs");
    check(&["cursor", "--yes"], 64, "--stream");
    check(&["cursor", "--yes", "--grant", "grt_0000000000000000"], 64, "there is no grant");
    check(&["cursor", "--yes", "--stream", "nonsense"], 1, "nonsense");
    check(&["cursor", "--yes", "--name", "a b", "--stream", "messages"], 64, "--name");
    home.put(".cursor/mcp.json", "{ broken");
    check(&["cursor", "--yes", "--stream", "messages"], 1, "cannot be changed safely");
    assert_eq!(content(&home.file(".cursor/mcp.json")), "{ broken");
}

/// An adapter that does not start is not left in the configuration.
#[test]
fn an_entry_that_does_not_work_is_undone() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "{}");
    let (code, said) = home.fails(&["cursor", "--yes", "--provider-url", "http://127.0.0.1:1"]);
    assert!(code == 1 && said.contains("not_connected") && said.contains("undone"), "{said}");
    assert_eq!(content(&home.file(".cursor/mcp.json")), "{}");
}

/// The shortest way there is: one command, a few answers, one yes.
#[test]
fn what_is_not_said_is_asked_on_a_terminal() {
    let home = Home::new();
    let mut terminal = Terminal::start(home.pdpp.command(&["setup", "claude-code"]), 100);
    let line = terminal.line_with("/messages");
    terminal.answer("Which may it read?", line.split_whitespace().next().unwrap());
    terminal.answer("Which? Numbers", "headline");
    terminal.answer("Only records since?", "");
    terminal.answer("When does it end?", "7d");
    terminal.wait_for("This opens 132 records");
    terminal.answer("Write this to", "y");
    let (code, shown) = terminal.end();
    assert!(code == 0 && shown.contains("it answered with 15 tools"), "{code} {shown}");
    assert!(content(&home.file(".claude.json")).contains("grt_"));
}

#[test]
fn a_no_leaves_no_grant_behind() {
    let home = Home::new();
    let mut terminal = Terminal::start(home.pdpp.command(&["setup", "cursor", "--stream", "messages"]), 100);
    terminal.answer("Write this to", "n");
    let (code, shown) = terminal.end();
    assert!(code == 64 && shown.contains("nothing was changed"), "{code} {shown}");
    assert_eq!(home.pdpp.json(&["grant", "list", "--json"])[0]["state"], json!("revoked"));
    assert!(!home.file(".cursor/mcp.json").exists());
}
