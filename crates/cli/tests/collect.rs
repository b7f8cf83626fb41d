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
