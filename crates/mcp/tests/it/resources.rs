//! Resource templates and reads: the same content as the tools, for hosts that follow URIs.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::field_window::windows_of;
use crate::support::{Fake, Host, Reply, Seen};

async fn read(host: &mut Host, uri: &str) -> Value {
    host.request("resources/read", json!({"uri": uri})).await
}

#[tokio::test]
async fn four_templates_are_listed_and_no_resources() {
    let fake = Fake::always(json!({})).await;
    let mut host = Host::connect(&fake).await;
    let list = host.request("resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"], json!([]));
    let templates = host.request("resources/templates/list", json!({})).await;
    let uris: Vec<&str> = templates["result"]["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| template["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "pdpp://stream/{name}",
            "pdpp://record/{handle}",
            "pdpp://field-window/{handle}",
            "pdpp://blob/{handle}"
        ]
    );
}

/// S0-R2-S2, S0-R4-S1: the hidden URI of a window reads the same text through the same request as the tool, and an
/// ungranted field is refused the same way.
#[tokio::test]
async fn a_window_means_the_same_as_a_resource_and_as_a_tool_call() {
    let fake = Fake::start(windows_of(&"word ".repeat(3_000))).await;
    let mut host = Host::connect(&fake).await;
    let arguments =
        json!({"id": "cin_s/messages:m1", "field_path": "text", "offset_chars": 100, "limit_chars": 50});
    let tool = host.call("read_record_field", arguments.clone()).await;
    let asked = fake.last();
    let uri = tool.raw["_meta"]["dev.pdpp/resources"]["field_window"].as_str().unwrap().to_owned();
    assert_eq!(tool.raw["_meta"].get("resource"), None);
    let resource = read(&mut host, &uri).await;
    assert_eq!(resource["result"]["contents"][0]["text"], tool.text);
    assert_eq!(resource["result"]["contents"][0]["mimeType"], "text/plain");
    assert_eq!(fake.last(), asked);
    fake.rescript(|_| Reply::error(403, "field_not_granted", "The field is outside the grant."));
    assert_eq!(host.call("read_record_field", arguments).await.code(), "field_not_granted");
    let refused = read(&mut host, &uri).await;
    assert_eq!(refused["error"]["data"]["error"]["code"], "field_not_granted");
    assert_eq!(refused["error"]["code"], -32603);
}

/// S0-R5-S3, S3-R2, S3-R2-S1: both encodings of a record URI, a stream and a blob read as resources; each has a
/// tool call with the same data.
#[tokio::test]
async fn records_streams_and_blobs_are_readable() {
    let fake = Fake::start(|seen| match seen.path.as_str() {
        path if path.starts_with("/v1/blobs/") => Reply::bytes(200, "image/png", [1, 2, 3]),
        _ => Reply::json(&json!({"object": "record", "id": "m1", "data": {"text": "hi"}})),
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let canonical = URL_SAFE_NO_PAD
        .encode(r#"{"v":1,"kind":"record","connection_id":"cin_s","stream":"messages","record_id":"m1"}"#);
    for uri in ["pdpp://record/cin_s%2Fmessages%3Am1".to_owned(), format!("pdpp://record/{canonical}")] {
        let answer = read(&mut host, &uri).await;
        let body: Value =
            serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(body["data"]["text"], "hi");
        let seen = fake.last();
        assert_eq!(
            (seen.path.as_str(), seen.param("connection_id")),
            ("/v1/streams/messages/records/m1", Some("cin_s"))
        );
    }
    read(&mut host, "pdpp://stream/messages").await;
    assert_eq!(fake.last().path, "/v1/streams/messages");
    let blob = URL_SAFE_NO_PAD.encode(
        r#"{"v":1,"kind":"blob","blob_id":"blob_7","connection_id":"cin_a1","range":"bytes=0-1023"}"#,
    );
    let answer = read(&mut host, &format!("pdpp://blob/{blob}")).await;
    assert_eq!(answer["result"]["contents"][0]["blob"], STANDARD.encode([1, 2, 3]));
    assert_eq!(answer["result"]["contents"][0]["mimeType"], "image/png");
    assert_eq!(fake.last().range.as_deref(), Some("bytes=0-1023"));
    let tool = host.call("fetch_blob", json!({"blob_id": "blob_7"})).await;
    assert_eq!(tool.raw["content"][1]["data"], STANDARD.encode([1, 2, 3]));
}

#[tokio::test]
async fn bad_uris_are_protocol_errors_without_a_request() {
    let fake = Fake::always(json!({})).await;
    let mut host = Host::connect(&fake).await;
    for (uri, word) in [
        ("pdpp://stream/..%2Fx", "invalid characters"),
        ("pdpp://stream/../x", "invalid characters"),
        ("pdpp://field-window/not-base64url-json", "malformed"),
        ("pdpp://record/", "malformed"),
        ("pdpp://record/noseparator", "malformed"),
        ("pdpp://blob/zzz", "malformed"),
        ("https://shop.test/o2", "no such resource"),
    ] {
        let answer = read(&mut host, uri).await;
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{uri}: {answer}"));
        assert!(message.contains(word), "{uri}: {message}");
    }
    assert_eq!(fake.seen(), []);
}

#[tokio::test]
async fn a_missing_resource_is_not_content() {
    let fake = Fake::start(|_| Reply::error(404, "not_found", "No such record.")).await;
    let mut host = Host::connect(&fake).await;
    let answer = read(&mut host, "pdpp://record/orders%3Ao1").await;
    assert_eq!(answer["error"]["code"], -32002);
    assert_eq!(answer["error"]["data"]["error"]["code"], "not_found");
}

/// A record of any size is read as a bounded document that lists its cuts and the calls that read on.
#[tokio::test]
async fn a_huge_record_is_bounded_and_says_how_to_read_on() {
    let text = crate::samples::PROSE.repeat(20_000);
    let body = json!({"object": "record", "id": "m1", "stream": "messages", "data": {"text": text, "after": "seen"}});
    let fake = Fake::always(body).await;
    let mut host = Host::connect(&fake).await;
    let answer = read(&mut host, "pdpp://record/cin_s%2Fmessages%3Am1").await;
    let document = answer["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(crate::budget::tokens(document) <= 9_000, "{}", document.len());
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["data"]["after"], "seen");
    let cut = &document["truncated_fields"][0];
    assert_eq!((&cut["field_path"], &cut["total_chars"]), (&json!("text"), &json!(text.len())));
    assert_eq!(cut["read"]["tool"], "read_record_field");
    assert_eq!(cut["read"]["args"]["id"], "cin_s/messages:m1");
}

/// A blob of so many bytes, each different from its neighbours, on a server that serves ranges or one that ignores them.
fn blob_of(length: usize, ranges: bool) -> impl Fn(&Seen) -> Reply + Send + Sync + 'static {
    let bytes: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect();
    move |seen| {
        let span = seen.range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
        let (true, Some((start, end))) = (ranges, span) else {
            return Reply::bytes(200, "application/pdf", bytes.clone());
        };
        let (start, end) = (start.parse::<usize>().unwrap(), (end.parse::<usize>().unwrap() + 1).min(length));
        Reply::bytes(206, "application/pdf", &bytes[start..end])
            .header("content-range", &format!("bytes {start}-{}/{length}", end - 1))
    }
}

/// The bytes of a read, by their own URI, and what is said of where they lie.
async fn part(host: &mut Host, uri: &str) -> (Vec<u8>, Value) {
    let answer = read(host, uri).await;
    let contents = &answer["result"]["contents"][0];
    let bytes = contents["blob"].as_str().unwrap_or_else(|| panic!("{uri}: {answer}"));
    (STANDARD.decode(bytes).unwrap(), contents["_meta"]["dev.pdpp/range"].clone())
}

/// S1-R4-S1: a blob that does not fit is no content that looks whole; the calls it names read it in parts.
#[tokio::test]
async fn a_blob_larger_than_a_read_is_refused_and_read_in_parts() {
    let length = 5 * 1024 * 1024;
    let fake = Fake::start(blob_of(length, true)).await;
    let mut host = Host::connect(&fake).await;
    let handle =
        URL_SAFE_NO_PAD.encode(r#"{"v":1,"kind":"blob","blob_id":"blob_7","connection_id":"cin_a1"}"#);
    let refused = read(&mut host, &format!("pdpp://blob/{handle}")).await;
    let error = &refused["error"]["data"]["error"];
    assert_eq!(
        (&error["code"], &error["total_bytes"]),
        (&json!("response_too_large"), &json!(length)),
        "{refused}"
    );
    let (bytes, place) = part(&mut host, error["first_part"].as_str().unwrap()).await;
    assert_eq!(bytes.len(), 4 * 1024 * 1024);
    assert_eq!(place, json!({"start": 0, "end": 4 * 1024 * 1024, "total_bytes": length}));
    let message = error["message"].as_str().unwrap();
    let arguments: Value = serde_json::from_str(message.split_once("fetch_blob args=").unwrap().1).unwrap();
    let tool = host.call("fetch_blob", arguments).await;
    assert_eq!((&tool.structured["total_bytes"], tool.is_error), (&json!(length), false));
    assert_eq!(fake.last().param("connection_id"), Some("cin_a1"));
    let settings = pdpp_mcp::Settings { tools: pdpp_mcp::ToolSet::Read, ..Default::default() };
    let mut host = Host::with_settings(&fake, settings).await;
    let refused = read(&mut host, &format!("pdpp://blob/{handle}")).await;
    assert!(
        !refused.to_string().contains("fetch_blob"),
        "no text names a tool that is not listed: {refused}"
    );
}

#[tokio::test]
async fn a_part_of_a_blob_is_the_part_that_was_asked_for() {
    let uri = |range: &str| {
        let handle = json!({"v": 1, "kind": "blob", "blob_id": "blob_7", "range": range});
        format!("pdpp://blob/{}", URL_SAFE_NO_PAD.encode(handle.to_string()))
    };
    for ranges in [true, false] {
        let fake = Fake::start(blob_of(1_000, ranges)).await;
        let mut host = Host::connect(&fake).await;
        let (bytes, place) = part(&mut host, &uri("bytes=100-149")).await;
        assert_eq!(bytes, (100..150).collect::<Vec<u8>>(), "ranges are served: {ranges}");
        assert_eq!(place, json!({"start": 100, "end": 150, "total_bytes": 1_000}));
        let (bytes, place) = part(&mut host, &uri("bytes=990-2000")).await;
        assert_eq!((bytes.len(), &place["end"]), (10, &json!(1_000)));
    }
    let fake = Fake::start(blob_of(1_000, false)).await;
    let beyond = read(&mut Host::connect(&fake).await, &uri("bytes=1000-1009")).await;
    assert_eq!(beyond["error"]["data"]["error"]["code"], "invalid_range", "{beyond}");
    let whole =
        format!("pdpp://blob/{}", URL_SAFE_NO_PAD.encode(r#"{"v":1,"kind":"blob","blob_id":"blob_7"}"#));
    let (bytes, place) = part(&mut Host::connect(&fake).await, &whole).await;
    assert_eq!((bytes.len(), place), (1_000, Value::Null));
}
