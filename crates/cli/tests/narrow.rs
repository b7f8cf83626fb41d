//! Tables on a terminal 20 columns wide, and on one that is wide enough.

use serde_json::json;

use crate::support::Pdpp;

fn shown(pdpp: &Pdpp, args: &[&str], columns: &str) -> String {
    let output = pdpp.command(args).env("COLUMNS", columns).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The sample with a grant, and a read and a refusal under it.
fn busy() -> Pdpp {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    let words = ["winter", "storage", "contract", "of", "the", "harbour", "master"].join("+");
    assert_eq!(client.get(&format!("/v1/search?q={words}&limit=1")).status, 200);
    assert_eq!(client.get("/v1/streams/channels/records").body["error"]["type"], json!("permission_error"));
    pdpp
}

#[test]
fn twenty_columns_are_enough_for_every_list() {
    let pdpp = busy();
    for args in [
        &["streams"] as &[&str],
        &["connections", "list"],
        &["grant", "list"],
        &["audit"],
        &["events", "list"],
    ] {
        let shown = shown(&pdpp, args, "20");
        for line in shown.lines() {
            assert!(line.chars().count() <= 20, "{args:?}: '{line}' is too wide\n{shown}");
        }
    }
}

/// What people copy is never cut; what was asked for may be.
#[test]
fn a_usual_terminal_keeps_ids_whole() {
    let pdpp = busy();
    let ledger = shown(&pdpp, &["audit"], "120");
    assert!(ledger.contains('…') && ledger.lines().all(|line| line.chars().count() <= 120), "{ledger}");
    assert!(ledger.contains("refused: grant_stream_not_allowed"), "{ledger}");
    let grants = shown(&pdpp, &["grant", "list"], "80");
    assert!(!grants.contains('…') && grants.contains("local-assistant"), "{grants}");
}
