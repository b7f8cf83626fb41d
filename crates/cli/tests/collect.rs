//! `pdpp collect`, with connectors that are small shell scripts.

use serde_json::{Value, json};

use crate::support::{Pdpp, text};

const MANIFEST: &str = r#"{
  "protocol_version": "0.1.0", "connector_key": "bank", "display_name": "Bank",
  "streams": [
    {"name": "payments", "semantics": "mutable_state", "primary_key": ["id"],
     "schema": {"type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "amount": {"type": "number"}}},
     "selection": {"fields": true, "resources": true}},
    {"name": "accounts", "semantics": "mutable_state", "primary_key": ["id"],
     "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
     "selection": {"fields": true, "resources": true}}
  ]}"#;

const RECORD: &str = r#"echo '{"type":"RECORD","stream":"payments","key":"p1","data":{"id":"p1","amount":12.5},"emitted_at":"2026-01-01T00:00:00Z"}'"#;
const STATE: &str = r#"echo '{"type":"STATE","stream":"payments","cursor":{"after":"p1"}}'"#;
const DONE: &str = r#"echo '{"type":"DONE","status":"succeeded","records_emitted":1}'"#;

/// Runs a script as a connector. The first line it reads is kept in `start.json`.
fn collect(pdpp: &Pdpp, extra: &[&str], script: &[&str]) -> (bool, Value, String) {
    let manifest = pdpp.write("bank.json", MANIFEST);
    let start = pdpp.path("start.json");
    let body = format!("read line; printf '%s' \"$line\" > {}\n{}", start.display(), script.join("\n"));
    let script = pdpp.write("connector.sh", body);
    let args = [&["collect", "--manifest", &manifest, "--json"], extra, &["--", "/bin/sh", &script]].concat();
    let output = pdpp.run(&args);
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.success(), serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
}

fn start(pdpp: &Pdpp) -> Value {
    serde_json::from_slice(&std::fs::read(pdpp.path("start.json")).unwrap()).unwrap()
}

#[test]
fn records_are_kept_and_the_next_run_goes_on_where_this_one_ended() {
    let pdpp = Pdpp::new();
    let (succeeded, receipt, said) = collect(&pdpp, &[], &[RECORD, STATE, DONE]);
    assert!(succeeded, "{said}");
    assert_eq!(receipt["streams"][0]["added"], json!(1), "{receipt}");
    let first = start(&pdpp);
    assert_eq!((&first["type"], &first["collection_mode"]), (&json!("START"), &json!("full_refresh")));
    assert_eq!(first["state"], Value::Null);
    assert_eq!(first["scope"]["streams"], json!([{"name": "payments"}, {"name": "accounts"}]));
    assert!(text(&first["run_id"]).starts_with("run_"));
    collect(&pdpp, &[], &[DONE]);
    let second = start(&pdpp);
    assert_eq!(second["collection_mode"], "incremental");
    assert_eq!(second["state"], json!({"payments": {"after": "p1"}}));
    collect(&pdpp, &["--full"], &[DONE]);
    assert_eq!(start(&pdpp)["state"], Value::Null);
}

#[test]
fn a_run_that_fails_keeps_its_records_and_not_its_place() {
    let failed = r#"echo '{"type":"DONE","status":"failed","error":{"message":"the bank is closed","retryable":true}}'"#;
    for (ending, said_so) in [
        (failed, "the bank is closed"),
        ("exit 0", "without saying DONE"),
        ("echo nonsense; exit 3", "without saying DONE"),
    ] {
        let pdpp = Pdpp::new();
        let (succeeded, receipt, said) = collect(&pdpp, &[], &[RECORD, STATE, ending]);
        assert!(!succeeded && said.contains(said_so), "{said}");
        assert_eq!(receipt["streams"][0]["added"], json!(1), "{receipt}");
        collect(&pdpp, &[], &[DONE]);
        assert_eq!(start(&pdpp)["state"], Value::Null, "{ending}");
    }
    let pdpp = Pdpp::new();
    let (succeeded, _, said) = collect(&pdpp, &[], &[RECORD, STATE, DONE, "exit 4"]);
    assert!(!succeeded && said.contains("and then failed"), "{said}");
    let (succeeded, _, said) = collect(&pdpp, &[], &[DONE, RECORD]);
    assert!(!succeeded && said.contains("after DONE"), "{said}");
}

#[test]
fn when_some_streams_fail_the_others_keep_their_place() {
    let pdpp = Pdpp::new();
    let skip =
        r#"echo '{"type":"SKIP_RESULT","stream":"accounts","reason":"upstream","message":"no answer"}'"#;
    let other = r#"echo '{"type":"STATE","stream":"accounts","cursor":9}'"#;
    let failed = r#"echo '{"type":"DONE","status":"failed","error":{"message":"accounts failed","retryable":true,"code":"stream_collection_failed"}}'"#;
    let (succeeded, receipt, _) = collect(&pdpp, &[], &[RECORD, STATE, other, skip, failed]);
    assert!(!succeeded);
    assert_eq!(receipt["complaints"][0]["where"], "accounts");
    collect(&pdpp, &[], &[DONE]);
    assert_eq!(start(&pdpp)["state"], json!({"payments": {"after": "p1"}}));
}

#[test]
fn what_was_not_asked_for_is_dropped_and_bad_lines_are_told() {
    let pdpp = Pdpp::new();
    let account = r#"echo '{"type":"RECORD","stream":"accounts","key":"a1","data":{"id":"a1"}}'"#;
    let unknown = r#"echo '{"type":"RECORD","stream":"secrets","key":"s1","data":{"id":"s1"}}'"#;
    let wrong =
        r#"echo '{"type":"RECORD","stream":"payments","key":"p2","data":{"id":"p2","amount":"much"}}'"#;
    let (succeeded, receipt, _) =
        collect(&pdpp, &["--stream", "payments"], &[account, unknown, wrong, "echo not json", RECORD, DONE]);
    assert!(succeeded);
    let codes: Vec<String> =
        receipt["complaints"].as_array().unwrap().iter().map(|complaint| text(&complaint["code"])).collect();
    assert_eq!(
        codes,
        ["grant_stream_not_allowed", "grant_stream_not_allowed", "schema_violation", "malformed_ndjson"]
    );
    assert_eq!(
        receipt["streams"],
        json!([{"name": "payments", "added": 1, "updated": 0, "unchanged": 0, "rejected": 0}])
    );
}

#[test]
fn a_connector_gets_none_of_our_settings_and_a_question_without_a_terminal_is_cancelled() {
    let pdpp = Pdpp::new();
    let environment = pdpp.path("environment");
    let keep = format!("env > {}", environment.display());
    let ask = r#"echo '{"type":"INTERACTION","request_id":"q1","kind":"otp","message":"code?"}'; read answer; echo "$answer" >&2"#;
    let (succeeded, _, said) = collect(&pdpp, &[], &[&keep, ask, RECORD, DONE]);
    assert!(succeeded, "{said}");
    assert!(said.contains(r#""status":"cancelled""#) && said.contains("q1"), "{said}");
    assert!(said.contains("no terminal to answer on") && said.contains("code?"), "{said}");
    assert!(!std::fs::read_to_string(environment).unwrap().contains("PDPP_"));
}

#[test]
fn a_connector_that_cannot_be_started_is_said() {
    let pdpp = Pdpp::new();
    let manifest = pdpp.write("bank.json", MANIFEST);
    let (_, said) = pdpp.fails(&["collect", "--manifest", &manifest, "--", "/nowhere/connector"]);
    assert!(said.contains("cannot start /nowhere/connector"), "{said}");
    let (code, said) = pdpp.fails(&["collect", "--manifest", &manifest, "--stream", "x", "--", "true"]);
    assert!(code == 64 && said.contains("no stream 'x'"), "{said}");
}

/// What somebody sees and types at a terminal on which a connector runs: the `script` program makes the terminal.
#[cfg(target_os = "linux")]
mod at_a_terminal {
    use std::io::{Read as _, Write as _};
    use std::process::{Child, ChildStdin, Stdio};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A person at a terminal.
    struct Person {
        child: Child,
        keyboard: Option<ChildStdin>,
        screen: mpsc::Receiver<Vec<u8>>,
        seen: String,
    }

    impl Person {
        fn runs(pdpp: &Pdpp, script: &[&str]) -> Self {
            let manifest = pdpp.write("bank.json", MANIFEST);
            let connector = pdpp.write("connector.sh", format!("read start\n{}", script.join("\n")));
            let ready = pdpp.command(&["collect", "--manifest", &manifest, "--", "/bin/sh", &connector]);
            let words = std::iter::once(ready.get_program()).chain(ready.get_args());
            let line: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
            let mut command = std::process::Command::new("script");
            command
                .args(["-q", "-e", "-c", &line.join(" "), "/dev/null"])
                .env_clear()
                .env("SHELL", "/bin/sh");
            command.envs(ready.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let keyboard = child.stdin.take();
            let mut output = child.stdout.take().unwrap();
            let (sender, screen) = mpsc::channel();
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = output.read(&mut buffer) {
                    if sender.send(buffer[..count].to_vec()).is_err() {
                        break;
                    }
                }
            });
            Self { child, keyboard, screen, seen: String::new() }
        }

        /// Waits until something stands on the screen.
        #[track_caller]
        fn sees(&mut self, words: &str) {
            while !self.seen.contains(words) {
                let more = self.screen.recv_timeout(Duration::from_mins(1));
                let more = more.unwrap_or_else(|_| panic!("no {words:?} in {:?}", self.seen));
                self.seen.push_str(&String::from_utf8_lossy(&more));
            }
        }

        fn types(&mut self, keys: &str) {
            let keyboard = self.keyboard.as_mut().unwrap();
            keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush()).unwrap();
        }

        /// Everything that was on the screen, and whether the run succeeded.
        fn ends(mut self) -> (bool, String) {
            while let Ok(more) = self.screen.recv_timeout(Duration::from_mins(1)) {
                self.seen.push_str(&String::from_utf8_lossy(&more));
            }
            (self.child.wait().unwrap().success(), self.seen)
        }
    }

    /// A connector's question; its answer is kept in a file of the test.
    fn question(pdpp: &Pdpp, kind: &str, more: &str) -> String {
        let kept = pdpp.path("answer.json");
        format!(
            "echo '{{\"type\":\"INTERACTION\",\"request_id\":\"q1\",\"kind\":\"{kind}\",\"message\":\"Please help\"{more}}}'\nread -r answer; printf '%s' \"$answer\" > {}",
            kept.display()
        )
    }

    fn answer(pdpp: &Pdpp) -> Value {
        serde_json::from_slice(&std::fs::read(pdpp.path("answer.json")).unwrap()).unwrap()
    }

    const CREDENTIALS: &str =
        r#","schema":{"properties":{"username":{"type":"string"},"password":{"type":"string"}}}"#;

    #[test]
    fn credentials_are_typed_unseen_and_kept_nowhere() {
        let pdpp = Pdpp::new();
        let ask = question(&pdpp, "credentials", CREDENTIALS);
        let mut person = Person::runs(&pdpp, &[&ask, RECORD, DONE]);
        person.sees("Please help");
        person.sees("username: ");
        person.types("ana\n");
        person.sees("password: ");
        person.types("hunter-twelve\n");
        let (succeeded, seen) = person.ends();
        assert!(succeeded, "{seen}");
        assert!(seen.contains("ana") && !seen.contains("hunter"), "{seen}");
        let given = answer(&pdpp);
        assert_eq!((&given["request_id"], &given["status"]), (&json!("q1"), &json!("success")));
        assert_eq!(given["data"], json!({"username": "ana", "password": "hunter-twelve"}));
        let mut pending = vec![pdpp.data()];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let bytes = std::fs::read(&path).unwrap();
                    let is_kept = bytes.windows(6).any(|part| part == b"hunter");
                    assert!(!is_kept, "{} keeps the password", path.display());
                }
            }
        }
    }

    #[test]
    fn a_code_and_a_thing_to_do_are_asked_for() {
        let pdpp = Pdpp::new();
        let mut person = Person::runs(&pdpp, &[&question(&pdpp, "otp", ""), DONE]);
        person.sees("code: ");
        person.types("123456\n");
        assert!(person.ends().0);
        assert_eq!(answer(&pdpp)["data"], json!({"code": "123456"}));
        for (typed, status) in [("y\n", "success"), ("\n", "cancelled")] {
            let mut person = Person::runs(&pdpp, &[&question(&pdpp, "manual_action", ""), DONE]);
            person.sees("Done? [y/N] ");
            person.types(typed);
            person.ends();
            assert_eq!(answer(&pdpp)["status"], status);
        }
    }

    #[test]
    fn somebody_can_give_up_and_the_terminal_is_as_it_was() {
        let pdpp = Pdpp::new();
        let ask = question(&pdpp, "credentials", "");
        let again = ask.replace("answer.json", "second.json").replace("credentials", "otp");
        let mut person = Person::runs(&pdpp, &[&ask, &again, DONE]);
        person.sees("value: ");
        person.types("half\u{3}");
        person.sees("code: ");
        person.types("visible\n");
        let (_, seen) = person.ends();
        assert_eq!(answer(&pdpp)["status"], "cancelled");
        assert!(seen.contains("visible") && !seen.contains("half"), "{seen}");
    }

    #[test]
    fn a_question_that_nobody_answers_in_time_is_over() {
        let pdpp = Pdpp::new();
        let ask = question(&pdpp, "credentials", r#","timeout_seconds":0.3"#);
        let person = Person::runs(&pdpp, &[&ask, DONE]);
        let (_, seen) = person.ends();
        assert!(seen.contains("No answer came in time"), "{seen}");
        let given = answer(&pdpp);
        assert_eq!((&given["status"], given.get("data")), (&json!("timeout"), None));
    }
}
