//! `pdpp import`.

use std::thread;
use std::time::Duration;

use expect_test::expect;
use serde_json::json;

use crate::support::{Fed, Pdpp, fixture};

#[test]
fn the_same_export_again_adds_nothing() {
    let pdpp = Pdpp::new();
    let args = ["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl"), "--json"];
    let first = pdpp.json(&args);
    let second = pdpp.json(&args);
    assert_eq!(first["connection_id"], second["connection_id"]);
    let counts = |receipt: &serde_json::Value| {
        let streams = receipt["streams"].as_array().unwrap();
        streams
            .iter()
            .map(|s| format!("{} +{} ={}", s["name"], s["added"], s["unchanged"]))
            .collect::<Vec<_>>()
            .join("\n")
    };
    expect![[r#"
        "attachments" +20 =0
        "channels" +4 =0
        "messages" +132 =0"#]]
    .assert_eq(&counts(&first));
    expect![[r#"
        "attachments" +0 =20
        "channels" +0 =4
        "messages" +0 =132"#]]
    .assert_eq(&counts(&second));
}

#[test]
fn bad_lines_are_reported_with_their_place_and_the_rest_is_loaded() {
    let pdpp = Pdpp::new();
    let lines = [
        r#"{"stream":"channels","key":"c1","data":{"id":"c1","name":"one"}}"#,
        r#"{"stream":"channels","key":"c2","data":{"id":"other"}}"#,
        r#"{"stream":"channels","key":"c3","data":{"id":"c3","archived":"yes"}}"#,
        r#"{"stream":"nowhere","key":"c4","data":{"id":"c4"}}"#,
        r#"{"stream":"channels","key":"c5","key":"c6","data":{"id":"c5"}}"#,
        "not json",
        "",
        r#"{"stream":"channels","key":"c7","data":{"id":"c7"}}"#,
    ];
    let file = pdpp.write("mixed.jsonl", lines.join("\n"));
    let receipt = pdpp.json(&["import", "--manifest", &fixture("manifest.json"), &file, "--json"]);
    assert_eq!(receipt["streams"][0]["added"], json!(2));
    let complaints: Vec<String> = receipt["complaints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|complaint| format!("{} {}", complaint["where"], complaint["code"]))
        .collect();
    expect![[r#"
        "line 2" "invalid_record_identity"
        "line 3" "schema_violation"
        "line 4" "not_found"
        "line 5" "malformed_ndjson"
        "line 6" "malformed_ndjson""#]]
    .assert_eq(&complaints.join("\n"));
}

#[test]
fn nothing_loaded_is_a_failure_and_leaves_no_connection() {
    let pdpp = Pdpp::new();
    let file = pdpp.write("junk.jsonl", "junk\n");
    let args = ["import", "--manifest", &fixture("manifest.json"), &file, "--connection", "Laptop"];
    let output = pdpp.run(&args);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("jsonl: nothing could be loaded") && !said.contains("connection"), "{said}");
    let receipt = pdpp.run(&[&args[..], &["--json"]].concat()).stdout;
    let receipt: serde_json::Value = serde_json::from_slice(&receipt).unwrap();
    assert_eq!(receipt["connection_id"], json!(null));
    assert_eq!(pdpp.json(&["connections", "list", "--json"]), json!([]));
}

#[test]
fn imports_at_the_same_time_share_a_new_connection() {
    let pdpp = Pdpp::with_sample();
    let line = r#"{"stream":"channels","key":"c1","data":{"id":"c1","name":"one"}}"#;
    let rounds = 4;
    for round in 0..rounds {
        let label = format!("Round {round}");
        let mut imports = [0, 1].map(|_| Fed::start(&pdpp, &["--connection", &label, "--json"]));
        for import in &mut imports {
            import.feed(line);
        }
        // Both end before either is waited for, so that they store at the same time.
        for import in &mut imports {
            import.end();
        }
        let [one, other] = imports.map(Fed::receipt);
        assert_eq!(one["connection_id"], other["connection_id"]);
        let added = |receipt: &serde_json::Value| receipt["streams"][0]["added"].as_u64().unwrap();
        assert_eq!(added(&one) + added(&other), 1);
    }
    assert_eq!(pdpp.json(&["connections", "list", "--json"]).as_array().unwrap().len(), 1 + rounds);
}

#[test]
fn large_records_are_stored_before_a_batch_is_full() {
    let pdpp = Pdpp::new();
    let large = "x".repeat(1 << 20);
    let mut import = Fed::start(&pdpp, &[]);
    for number in 0..9 {
        import.feed(&format!(
            r#"{{"stream":"channels","key":"c{number}","data":{{"id":"c{number}","name":"{large}"}}}}"#
        ));
    }
    // Nine lines are far from a full batch, and more could follow.
    let stored = || {
        let streams = pdpp.run(&["streams", "--json"]).stdout;
        let streams: serde_json::Value = serde_json::from_slice(&streams).unwrap_or_default();
        streams[0]["record_count"].as_u64().unwrap_or_default()
    };
    assert!((0..500).any(|_| {
        thread::sleep(Duration::from_millis(20));
        stored() >= 8
    }));
    import.kill();
    assert!(stored() >= 8);
}

#[test]
fn a_failed_import_ends_though_its_file_does_not() {
    let pdpp = Pdpp::with_sample();
    let sample = ["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")];
    pdpp.ok(&[&sample[..], &["--connection", "Work"]].concat());
    let mut import = Fed::start(&pdpp, &[]);
    for number in 0..1_000 {
        import.feed(&format!(r#"{{"stream":"channels","key":"c{number}","op":"delete"}}"#));
    }
    assert_eq!(import.wait(Duration::from_secs(20)), Some(64));
}

#[test]
fn a_second_account_is_a_second_connection() {
    let pdpp = Pdpp::with_sample();
    let args = ["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")];
    pdpp.ok(&[&args[..], &["--connection", "Work"]].concat());
    let (code, said) = pdpp.fails(&args);
    assert_eq!(code, 64);
    assert!(said.contains("choose one with --connection"), "{said}");
    assert_eq!(pdpp.json(&["connections", "list", "--json"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_changed_manifest_needs_a_word() {
    let pdpp = Pdpp::with_sample();
    let text =
        std::fs::read_to_string(fixture("manifest.json")).unwrap().replace("Harbour chat", "Harbour talk");
    let manifest = pdpp.write("changed.json", text);
    let (code, said) = pdpp.fails(&["import", "--manifest", &manifest, &fixture("records.jsonl")]);
    assert_eq!(code, 1);
    assert!(said.contains("--replace"), "{said}");
    pdpp.ok(&["import", "--replace", "--manifest", &manifest, &fixture("records.jsonl")]);
}

#[test]
fn usage_faults_say_what_to_do() {
    let pdpp = Pdpp::new();
    let check = |args: &[&str], code: i32, said: &str| {
        let (got, line) = pdpp.fails(args);
        assert!(got == code && line.contains(said), "{args:?}: {got} {line}");
    };
    check(&["import", "x.jsonl"], 74, "cannot open x.jsonl");
    let manifest = fixture("manifest.json");
    check(
        &["import", "--manifest", &manifest, "--format", "csv", "x.csv"],
        64,
        "leave --format out, or say jsonl",
    );
    check(&["import", "--manifest", &fixture("manifest.json"), "x.jsonl"], 74, "cannot open x.jsonl");
    check(&["import", "--manifest", &fixture("records.jsonl"), "x.jsonl"], 1, "cannot be used");
    check(&["import"], 64, "PATH");
    assert!(!pdpp.data().exists(), "a refused import makes nothing");
}
