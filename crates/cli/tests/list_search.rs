//! Search fields that lead through lists: each element is found, named by its place, and under its field's grant.

use serde_json::json;

use crate::support::{Pdpp, text};

const MANIFEST: &str = r#"{
  "protocol_version": "0.1.0", "connector_key": "diary", "display_name": "Diary",
  "streams": [
    {"name": "meetings", "semantics": "mutable_state", "primary_key": ["id"],
     "schema": {"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string"}, "title": {"type": "string"},
        "attendees": {"type": "array", "items": {"type": "object"}}}},
     "selection": {"fields": true, "resources": true},
     "query": {"search": {"lexical_fields": ["title", "attendees.name", "attendees.notes"]}}}
  ]}"#;

#[test]
fn an_element_of_a_list_is_found_and_can_be_read() {
    let pdpp = Pdpp::new();
    let manifest = pdpp.write("diary.json", MANIFEST);
    let lines = [
        json!({"stream": "meetings", "key": "m1", "data": {"id": "m1", "title": "Winter storage", "attendees": [
            {"name": "Ada Quill"}, {"name": "Bo Lindqvist", "notes": ["brings the ropes", "leaves early"]}]}}),
        json!({"stream": "meetings", "key": "m2", "data": {"id": "m2", "title": "Ropes", "attendees": []}}),
    ];
    let lines = pdpp.write("diary.jsonl", lines.map(|line| line.to_string()).join("\n"));
    pdpp.ok(&["import", "--manifest", &manifest, &lines]);
    let server = pdpp.serve();
    let owner = server.client(&pdpp.owner_token());
    let hit = owner.get("/v1/search?q=lindqvist").body["data"][0].clone();
    assert_eq!((&hit["record_key"], &hit["evidence"]), (&json!("m1"), &json!("lexical_match")), "{hit}");
    assert_eq!(hit["matched_fields"], json!(["attendees.1.name"]));
    let excerpt = &hit["evidence_excerpts"][0];
    assert_eq!(excerpt["preview_text"], "Bo <mark>Lindqvist</mark>");
    let read = &excerpt["read"];
    let window = owner.get(&format!("{}?field={}", text(&read["route"]), text(&read["field"]))).body;
    assert_eq!(window["window"]["text"], "Bo Lindqvist", "{window}");
    let inner = owner.get("/v1/search?q=leaves+early").body["data"][0].clone();
    assert_eq!(inner["matched_fields"], json!(["attendees.1.notes.1"]), "{inner}");
    // No phrase crosses from one element to the next: it is looked for word by word, and that is said.
    let across = owner.get("/v1/search?q=%22quill+bo%22").body;
    assert_eq!(across["meta"]["corrected"][0]["typed"], "\"quill bo\"", "{across}");
    let within = owner.get("/v1/search?q=%22bo+lindqvist%22").body;
    assert_eq!(within["meta"].get("corrected"), None, "{within}");
    let (with, _) = pdpp.grant(&["--stream", "meetings:id,attendees"]);
    let (without, _) = pdpp.grant(&["--stream", "meetings:id,title"]);
    let keys = |token: &str, q: &str| -> Vec<String> {
        let body = server.client(token).get(&format!("/v1/search?q={q}")).body;
        body["data"].as_array().unwrap().iter().map(|hit| text(&hit["record_key"])).collect()
    };
    assert_eq!(keys(&with, "lindqvist"), ["m1"]);
    assert_eq!(keys(&with, "ropes"), ["m1"]);
    assert!(keys(&without, "lindqvist").is_empty());
    assert_eq!(keys(&without, "ropes"), ["m2"]);
}
