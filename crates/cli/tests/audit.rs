//! `pdpp audit`.

use serde_json::{Value, json};

use crate::support::{Pdpp, text};

fn entries(pdpp: &Pdpp, args: &[&str]) -> Vec<Value> {
    let all = [&["audit", "--json"], args].concat();
    pdpp.ok(&all).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_read_and_refusal_is_entered_without_content() {
    let pdpp = Pdpp::with_sample();
    let (token, id) = pdpp.grant(&["--stream", "messages:text"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    let page = client.get("/v1/streams/messages/records?limit=2&filter[text]=secret+words");
    let window = client
        .get("/v1/streams/messages/records/m_0132/field-window?field=text&offset_chars=10&limit_chars=20");
    let refused = client.get("/v1/streams/messages/records?fields=author");
    assert_eq!((page.status, window.status, refused.status), (200, 200, 403));
    let entries = entries(&pdpp, &["--grant", &id]);
    let by_id = |request_id: &str| entries.iter().find(|entry| entry["request_id"] == request_id).unwrap();
    assert_eq!(by_id(&page.request_id)["filter_fields"], json!(["text"]));
    let entry = by_id(&window.request_id);
    assert_eq!((&entry["char_range"], &entry["record_keys"]), (&json!([10, 30]), &json!(["m_0132"])));
    assert_eq!(by_id(&refused.request_id)["refused"], json!("field_not_granted"));
    for entry in &entries {
        assert!(!entry.to_string().contains("secret words"), "operands are not entered");
        assert_eq!(text(&entry["client_id"]), "local-assistant");
    }
}

#[test]
fn the_ledger_can_be_narrowed() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    server.client(&token).get("/v1/streams/messages/records?limit=1");
    server.client(&token).get("/v1/streams/channels/records");
    assert_eq!(entries(&pdpp, &["--refused"]).len(), 1);
    assert_eq!(entries(&pdpp, &["--client", "somebody-else"]).len(), 0);
    assert_eq!(entries(&pdpp, &["--client", "assistant"]).len(), 2);
    assert_eq!(entries(&pdpp, &["--client", "local-assistant"]).len(), 2);
    assert_eq!(entries(&pdpp, &["--until", "1d"]).len(), 0);
    assert_eq!(entries(&pdpp, &["--limit", "1"]).len(), 1);
    let table = pdpp.ok(&["audit"]);
    assert!(table.contains("refused: grant_stream_not_allowed"), "{table}");
}
