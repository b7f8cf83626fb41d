//! Every form of handle, accepted and refused.

use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(text: &str, expected: Expect) {
    let shown = match RecordHandle::parse(text) {
        Ok(handle) => {
            let connection = handle.connection_id.as_deref().unwrap_or("-");
            format!("{connection} {} {} = {}", handle.stream, handle.record_id, handle.id())
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

fn payload(json: &str) -> String {
    format!("pdpp://record/{}", URL_SAFE_NO_PAD.encode(json))
}

#[test]
fn plain_forms() {
    check("orders:o1", expect!["- orders o1 = orders:o1"]);
    check("cin_a/orders:o1", expect!["cin_a orders o1 = cin_a/orders:o1"]);
    check("cin_s/messages:C08:17.139", expect!["cin_s messages C08:17.139 = cin_s/messages:C08:17.139"]);
    check("orders:o 1", expect!["- orders o 1 = orders:o 1"]);
}

/// A connection with a colon is read, but a handle made from it is the URI, which says the same.
#[test]
fn a_colon_in_a_connection_needs_the_uri() {
    let handle = RecordHandle::parse("a:b/orders:o1").unwrap();
    assert_eq!(handle.connection_id.as_deref(), Some("a:b"));
    assert!(handle.id().starts_with(RECORD));
    assert_eq!(RecordHandle::parse(&handle.id()), Ok(handle));
}

#[test]
fn uris() {
    check("pdpp://record/cin_s%2Fmessages%3Am1", expect!["cin_s messages m1 = cin_s/messages:m1"]);
    check("pdpp://record/orders%3Ao1", expect!["- orders o1 = orders:o1"]);
    let canonical = "pdpp://record/eyJ2IjoxLCJraW5kIjoicmVjb3JkIiwiY29ubmVjdGlvbl9pZCI6ImNpbl9hMSIsInN0cmVhbSI6Im5vdGVzIiwicmVjb3JkX2lkIjoibjQyIn0";
    check(canonical, expect!["cin_a1 notes n42 = cin_a1/notes:n42"]);
    assert_eq!(RecordHandle::parse(canonical).unwrap().uri(), canonical);
}

#[test]
fn a_key_with_a_separator_travels_in_the_uri_only() {
    let handle = RecordHandle {
        connection_id: Some("cin_g".to_owned()),
        stream: "repos".to_owned(),
        record_id: "octo/hello".to_owned(),
    };
    assert!(handle.id().starts_with(RECORD));
    assert_eq!(RecordHandle::parse(&handle.id()), Ok(handle));
}

#[test]
fn other_texts_are_refused() {
    for text in ["noseparator", "orders:", ":o1", "cin_a/orders", "pdpp://record/%E0%A4%A"] {
        check(
            text,
            expect![
                "the id is malformed; pass `connection_id/stream:record_id` or `stream:record_id` exactly as a result printed it"
            ],
        );
    }
    check("", expect!["id is required"]);
    check("cin_a/", expect!["id is required"]);
    check("/orders:o1", expect!["connection_id is required"]);
    check("pdpp://record/", expect!["id is required"]);
    for text in [
        "cin_a/extra/orders:o1",
        "cin_a/orders:../../etc/passwd",
        "orders:..",
        "orders:a..b",
        "orders:a\\b",
        "https://shop.test/o2",
    ] {
        check(text, expect!["id contains invalid characters"]);
    }
    check("orders:../../etc/passwd", expect!["connection_id contains invalid characters"]);
    check("../cin_a/orders:o1", expect!["connection_id contains invalid characters"]);
    check("orders:.", expect!["record_id contains invalid characters"]);
    check(".:o1", expect!["stream contains invalid characters"]);
}

#[test]
fn payloads_are_read_strictly() {
    let sound = r#"{"v":1,"kind":"record","connection_id":"c","stream":"s","record_id":"r"}"#;
    assert!(RecordHandle::parse(&payload(sound)).is_ok());
    for (from, to) in [
        (r#""v":1"#, r#""v":2"#),
        (r#""kind":"record""#, r#""kind":"field-window""#),
        (r#""connection_id":"c""#, r#""connection_id":null"#),
        (r#""record_id":"r""#, r#""record_id":"a/../b""#),
        (r#""record_id":"r""#, r#""record_id":"""#),
    ] {
        assert!(RecordHandle::parse(&payload(&sound.replace(from, to))).is_err(), "{to}");
    }
    assert!(RecordHandle::parse(&format!("{}!", payload(sound))).is_err());
}

#[test]
fn windows_and_blobs_have_uris() {
    let window = "pdpp://field-window/eyJ2IjoxLCJraW5kIjoiZmllbGQtd2luZG93IiwiY29ubmVjdGlvbl9pZCI6ImNpbl9hMSIsInN0cmVhbSI6Im5vdGVzIiwicmVjb3JkX2lkIjoibjQyIiwiZmllbGRfcGF0aCI6ImJvZHkiLCJvZmZzZXRfY2hhcnMiOjAsImxpbWl0X2NoYXJzIjo0MDk2fQ";
    let handle = FieldWindowHandle::parse(window).unwrap().unwrap();
    assert_eq!((handle.field_path.as_str(), handle.limit_chars), ("body", Some(4096)));
    assert_eq!(handle.uri(), window);
    let blob = "pdpp://blob/eyJ2IjoxLCJraW5kIjoiYmxvYiIsImJsb2JfaWQiOiJibG9iXzciLCJjb25uZWN0aW9uX2lkIjoiY2luX2ExIiwicmFuZ2UiOiJieXRlcz0wLTEwMjMifQ";
    let handle = BlobHandle::parse(blob).unwrap().unwrap();
    assert_eq!(handle.blob_id, "blob_7");
    assert_eq!(handle.uri(), blob);
    assert_eq!(
        FieldWindowHandle::parse("pdpp://field-window/not-base64url-json"),
        Some(Err(HandleError::Malformed))
    );
    assert_eq!(BlobHandle::parse("pdpp://field-window/x"), None);
}

/// What our own server mints is read back, whatever the key.
#[test]
fn minted_handles_are_read_back() {
    for key in ["m_104:2", "a/b", "a..b", "ä", r#"["u","2026"]"#, "with space", &"k".repeat(129)] {
        let minted = pdpp_wire::RecordRef {
            connection_id: "cin_a1".parse().unwrap(),
            stream: "messages".parse().unwrap(),
            record_id: key.parse().unwrap(),
        };
        let read = RecordHandle::parse(&minted.result_id()).unwrap();
        assert_eq!((read.connection_id.as_deref(), read.record_id.as_str()), (Some("cin_a1"), key));
        assert_eq!(RecordHandle::parse(&read.id()), Ok(read));
    }
}
