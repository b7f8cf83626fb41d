//! What different hosts let their model see of a result, and how it finds its way from there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::archive::Adapter;

/// One kind of host.
pub(crate) trait Eyes {
    /// Whether a word is visible.
    fn sees(&self, result: &Value, word: &str) -> bool;
    /// The first stream of a schema.
    fn stream(&self, result: &Value) -> String;
    /// The read call that the first piece of evidence offers.
    fn evidence(&self, result: &Value) -> Value;
    /// The first hit's handle.
    fn id(&self, result: &Value) -> String;
    /// The text of a field window.
    fn window(&self, result: &Value) -> String;
    /// The call that reads on.
    fn next(&self, result: &Value) -> Option<Value>;
    /// The call that reads a record's blob.
    fn blob(&self, result: &Value) -> Value;
    /// The bytes behind that call.
    fn picture(&self, adapter: &mut Adapter, call: &Value) -> Vec<u8> {
        let result = adapter.call("fetch_blob", call.clone());
        let block = result["content"].as_array().unwrap().iter().find(|block| block["type"] == "image");
        STANDARD.decode(block.expect("a picture")["data"].as_str().unwrap()).unwrap()
    }
}

/// Sees the text blocks and nothing else.
pub(crate) struct ContentOnly;

fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The JSON object that follows a marker.
fn object_after(text: &str, marker: &str) -> Option<Value> {
    let rest = &text[text.find(marker)? + marker.len()..];
    serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()
}

impl Eyes for ContentOnly {
    fn sees(&self, result: &Value, word: &str) -> bool {
        text(result).contains(word)
    }

    fn stream(&self, result: &Value) -> String {
        let text = text(result);
        let rest = text.split("stream name=\"").nth(1).unwrap_or_else(|| panic!("no stream in {text}"));
        rest.split('"').next().unwrap().to_owned()
    }

    fn evidence(&self, result: &Value) -> Value {
        let text = text(result);
        object_after(&text, "read=read_record_field args=").unwrap_or_else(|| panic!("no evidence in {text}"))
    }

    fn id(&self, result: &Value) -> String {
        let text = text(result);
        let rest = text.split("first_fetch_id=").nth(1).unwrap_or_else(|| panic!("no id in {text}"));
        rest.split_whitespace().next().unwrap().to_owned()
    }

    fn window(&self, result: &Value) -> String {
        let text = text(result);
        let begin = text.find("--- field text ").expect("the text is delimited");
        let tag = text[begin + 15..].split(' ').next().unwrap();
        let start = begin + text[begin..].find('\n').unwrap() + 1;
        text[start..text.rfind(&format!("\n--- field text {tag} ends")).unwrap()].to_owned()
    }

    fn next(&self, result: &Value) -> Option<Value> {
        object_after(&text(result), "\nnext read_record_field args=")
    }

    fn blob(&self, result: &Value) -> Value {
        let document: Value = serde_json::from_str(&text(result)).expect("the text is the document");
        let calls = document["metadata"]["continuations"].as_array().expect("continuations").clone();
        calls.into_iter().find(|call| call["tool"] == "fetch_blob").expect("a blob to fetch")["args"].clone()
    }
}

/// Sees `structuredContent` and nothing else.
pub(crate) struct StructuredOnly;

impl Eyes for StructuredOnly {
    fn sees(&self, result: &Value, word: &str) -> bool {
        result["structuredContent"].to_string().contains(word)
    }

    fn stream(&self, result: &Value) -> String {
        let data = &result["structuredContent"]["data"];
        let name = &data["connectors"][0]["streams"][0]["name"];
        name.as_str().unwrap_or_else(|| panic!("no stream in {data}")).to_owned()
    }

    fn evidence(&self, result: &Value) -> Value {
        let entry = &result["structuredContent"]["content_ladder"]["records"][0];
        let read = &entry["evidence_excerpts"][0]["read"];
        assert_eq!(read["tool"], "read_record_field", "{entry}");
        read["args"].clone()
    }

    fn id(&self, result: &Value) -> String {
        result["structuredContent"]["results"][0]["id"].as_str().unwrap().to_owned()
    }

    fn window(&self, result: &Value) -> String {
        result["structuredContent"]["window"]["text"].as_str().unwrap().to_owned()
    }

    fn next(&self, result: &Value) -> Option<Value> {
        result["structuredContent"]["next"].get("args").cloned()
    }

    fn blob(&self, result: &Value) -> Value {
        let ladder = &result["structuredContent"]["content_ladder"];
        let read = &ladder["binary_fields"][0]["read"];
        assert_eq!(read["tool"], "fetch_blob", "{ladder}");
        read["args"].clone()
    }

    /// The picture itself is a block of its own; the structure says what it is and how large.
    fn picture(&self, adapter: &mut Adapter, call: &Value) -> Vec<u8> {
        let result = adapter.call("fetch_blob", call.clone());
        let structured = &result["structuredContent"];
        assert_eq!((&structured["mime_type"], &structured["complete"]), (&json!("image/gif"), &json!(true)));
        STANDARD.decode(result["content"][1]["data"].as_str().unwrap()).unwrap()
    }
}

/// Sees text, and follows the URIs that hosts find in hidden metadata.
pub(crate) struct ResourceAware;

fn read_uri(adapter: &mut Adapter, uri: &Value) -> Value {
    let answer = adapter.request("resources/read", &json!({"uri": uri}));
    answer["result"]["contents"][0].clone()
}

impl Eyes for ResourceAware {
    fn sees(&self, result: &Value, word: &str) -> bool {
        ContentOnly.sees(result, word)
    }

    fn stream(&self, result: &Value) -> String {
        ContentOnly.stream(result)
    }

    fn evidence(&self, result: &Value) -> Value {
        ContentOnly.evidence(result)
    }

    fn id(&self, result: &Value) -> String {
        ContentOnly.id(result)
    }

    fn window(&self, result: &Value) -> String {
        ContentOnly.window(result)
    }

    fn next(&self, result: &Value) -> Option<Value> {
        assert!(
            result["_meta"]["dev.pdpp/resources"]["field_window"].is_string(),
            "a window has a URI: {result}"
        );
        ContentOnly.next(result)
    }

    fn blob(&self, result: &Value) -> Value {
        ContentOnly.blob(result)
    }

    fn picture(&self, adapter: &mut Adapter, call: &Value) -> Vec<u8> {
        let result = adapter.call("fetch_blob", call.clone());
        let contents = read_uri(adapter, &result["_meta"]["dev.pdpp/resources"]["blob"]);
        assert_eq!(contents["mimeType"], "image/gif");
        STANDARD.decode(contents["blob"].as_str().unwrap()).unwrap()
    }
}

/// Sees text, but of anything longer than 10 KB only the two ends.
pub(crate) struct DropsTheMiddle;

fn ends(result: &Value) -> Value {
    const KEPT: usize = 5_000;
    let mut seen = result.clone();
    for block in seen["content"].as_array_mut().unwrap() {
        let Some(text) = block["text"].as_str() else { continue };
        if text.len() > 2 * KEPT {
            let characters: Vec<char> = text.chars().collect();
            let (head, tail) = (&characters[..KEPT], &characters[characters.len() - KEPT..]);
            let shown: String = head.iter().chain(['…'].iter()).chain(tail).collect();
            block["text"] = shown.into();
        }
    }
    seen
}

impl Eyes for DropsTheMiddle {
    fn sees(&self, result: &Value, word: &str) -> bool {
        ContentOnly.sees(&ends(result), word)
    }

    fn stream(&self, result: &Value) -> String {
        ContentOnly.stream(&ends(result))
    }

    fn evidence(&self, result: &Value) -> Value {
        ContentOnly.evidence(&ends(result))
    }

    fn id(&self, result: &Value) -> String {
        ContentOnly.id(&ends(result))
    }

    fn window(&self, result: &Value) -> String {
        ContentOnly.window(&ends(result))
    }

    fn next(&self, result: &Value) -> Option<Value> {
        ContentOnly.next(&ends(result))
    }

    fn blob(&self, result: &Value) -> Value {
        ContentOnly.blob(&ends(result))
    }
}
