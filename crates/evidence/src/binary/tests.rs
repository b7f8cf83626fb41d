//! Cases for `binary`: short inputs, whole expected outputs.

use expect_test::{Expect, expect};

use super::*;
use crate::random::Random;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encode(bytes: &[u8], alphabet: &[u8; 64], pad: bool) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for position in 0..4 {
            if position <= chunk.len() {
                out.push(char::from(alphabet[(word >> (18 - 6 * position) & 63) as usize]));
            } else if pad {
                out.push('=');
            }
        }
    }
    out
}

fn bytes(prefix: &[u8], length: usize) -> Vec<u8> {
    let mut random = Random::new(length as u64);
    let mut bytes = prefix.to_vec();
    bytes.extend((prefix.len()..length).map(|_| u8::try_from(random.below(256)).unwrap()));
    bytes
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    check_value(&Value::from(text), expected);
}

#[track_caller]
fn check_value(value: &Value, expected: Expect) {
    expected.assert_eq(&match classify(value) {
        Content::Base64 { media_type, decoded_bytes } => {
            format!("base64 {} {decoded_bytes}", media_type.as_deref().unwrap_or("?"))
        }
        other => format!("{other:?}"),
    });
}

#[test]
fn long_base64_is_recognised_in_every_spelling() {
    let data = bytes(b"\x89PNG\r\n\x1a\n", 400);
    check(&encode(&data, STANDARD, true), expect!["base64 image/png 400"]);
    check(&encode(&data, STANDARD, false), expect!["base64 image/png 400"]);
    check(&encode(&data, URL_SAFE, true), expect!["base64 image/png 400"]);
    check(&encode(&data, URL_SAFE, false), expect!["base64 image/png 400"]);
    check(&format!("\n{}\n", encode(&data, STANDARD, true)), expect!["base64 image/png 400"]);
}

#[test]
fn broken_lines_are_recognised_when_they_are_even() {
    let encoded = encode(&bytes(b"%PDF-1.7", 401), STANDARD, true);
    for (width, separator) in [(76, "\r\n"), (64, "\n")] {
        let lines: Vec<&str> =
            encoded.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
        check(&lines.join(separator), expect!["base64 application/pdf 401"]);
        check(&(lines.join(separator) + separator), expect!["base64 application/pdf 401"]);
    }
    let words = "Alpha1\nBeta22\nGammaRay\n".repeat(20);
    check(&words, expect!["Text"]);
}

#[test]
fn common_files_are_named_by_their_first_bytes() {
    let sniffed = |prefix: &[u8]| match classify(&Value::from(encode(&bytes(prefix, 300), STANDARD, true))) {
        Content::Base64 { media_type, .. } => media_type.unwrap_or_default(),
        other => format!("{other:?}"),
    };
    assert_eq!(sniffed(b"\xff\xd8\xff\xe0"), "image/jpeg");
    assert_eq!(sniffed(b"GIF89a"), "image/gif");
    assert_eq!(sniffed(b"RIFF\0\0\0\0WEBP"), "image/webp");
    assert_eq!(sniffed(b"PK\x03\x04"), "application/zip");
    assert_eq!(sniffed(b"nothing known"), "");
}

#[test]
fn data_urls_of_any_length_are_recognised() {
    check("data:image/png;base64,iVBORw0KGgo=", expect!["base64 image/png 8"]);
    check("DATA:Image/GIF;BASE64,R0lGODlh", expect!["base64 image/gif 6"]);
    check("data:text/plain;charset=utf-8;base64,SGVsbG8", expect!["base64 text/plain 5"]);
    check("data:;base64,R0lGODlhAAAA", expect!["base64 image/gif 9"]);
    check("data:application/pdf;base64,", expect!["base64 application/pdf 0"]);
    check("data:image/png;base64,iVBORw0KGgo%3D", expect!["base64 image/png 8"]);
    check("data:image/png;base64,iVBOR", expect!["base64 image/png 3"]);
}

#[test]
fn text_about_data_urls_is_text() {
    check("data:text/plain,hello", expect!["Text"]);
    check("data:image/png;base64, is how such a URL starts", expect!["Text"]);
    check("data: see below, thanks", expect!["Text"]);
    check("data:é;base64,AAAA", expect!["base64 ? 3"]);
    check("data:", expect!["Text"]);
    check("datä", expect!["Text"]);
}

#[test]
fn text_is_not_taken_for_base64() {
    check("", expect!["Text"]);
    check("Hello world", expect!["Text"]);
    check(&"Some prose with 3 numbers. ".repeat(40), expect!["Text"]);
    check(&"0123456789abcdef".repeat(40), expect!["Text"]);
    check(&"0123456789ABCDEF".repeat(40), expect!["Text"]);
    check(&"ACGT".repeat(200), expect!["Text"]);
    check(&"a".repeat(1_000), expect!["Text"]);
    check(&"漢字".repeat(400), expect!["Text"]);
    check(&format!("https://example.org/{}", "a1B/".repeat(100)), expect!["Text"]);
    check(&"Users/Anna/Notes2024/".repeat(20), expect!["Text"]);
    check(&"A-long-Slug-of-2024-words-".repeat(20), expect!["Text"]);
    check(&"snake_Case_Name_1_".repeat(24), expect!["Text"]);
}

#[test]
fn short_base64_is_text() {
    check(&encode(&bytes(b"", 150), STANDARD, true), expect!["Text"]);
    check("dGhpcyBpcyBub3QgbG9uZw==", expect!["Text"]);
}

#[test]
fn a_web_token_is_text() {
    let part = encode(&bytes(b"", 200), URL_SAFE, false);
    check(&format!("eyJhbGciOiJIUzI1NiJ9.{part}.{part}"), expect!["Text"]);
}

#[test]
fn unsound_base64_is_text() {
    let encoded = encode(&bytes(b"", 300), STANDARD, true);
    check(&format!("{encoded}="), expect!["Text"]);
    check(&format!("{encoded}A"), expect!["Text"]);
    check(&format!("==={encoded}"), expect!["Text"]);
    check(&format!("{encoded}-_-+"), expect!["Text"]);
    check(&encoded.replacen(|c: char| c.is_ascii_digit(), " ", 1), expect!["Text"]);
    check(&format!("{encoded}%"), expect!["Text"]);
}

#[test]
fn blob_references_need_an_id_and_a_description() {
    check_value(
        &json!({"blob_id": "b1", "mime_type": "image/png", "size_bytes": 12}),
        expect![[r#"BlobRef { blob_id: "b1", mime_type: Some("image/png"), size_bytes: Some(12) }"#]],
    );
    check_value(
        &json!({"blob_id": "b1", "sha256": "9f86"}),
        expect![[r#"BlobRef { blob_id: "b1", mime_type: None, size_bytes: None }"#]],
    );
    check_value(&json!({"blob_id": "b1"}), expect!["Json"]);
    check_value(&json!({"blob_id": "", "sha256": "9f86"}), expect!["Json"]);
    check_value(&json!({"blob_id": 7, "sha256": "9f86"}), expect!["Json"]);
    check_value(
        &json!({"id": "u1", "url": "https://example.org", "mime_type": "text/html"}),
        expect!["Json"],
    );
}

#[test]
fn other_values_are_what_they_are() {
    check_value(&json!(null), expect!["Scalar"]);
    check_value(&json!(1.5), expect!["Scalar"]);
    check_value(&json!(true), expect!["Scalar"]);
    check_value(&json!([]), expect!["Json"]);
    check_value(&json!({}), expect!["Json"]);
}

#[test]
fn bodies_are_replaced_at_every_depth() {
    let body = encode(&bytes(b"GIF89a", 300), STANDARD, true);
    let value =
        json!({"title": "Holiday", "a": {"b": [1, body, "text"]}, "icon": "data:image/png;base64,AAAA"});
    let (shown, paths) = redact(&value);
    expect![[r#"{"title":"Holiday","a":{"b":[1,{"binary_field":true,"preview_status":"binary-only","encoding":"base64","size_bytes":300,"size_chars":400,"mime_type":"image/gif"},"text"]},"icon":{"binary_field":true,"preview_status":"binary-only","encoding":"base64","size_bytes":3,"size_chars":26,"mime_type":"image/png"}}"#]]
    .assert_eq(&shown.to_string());
    assert_eq!(paths, ["a.b.1", "icon"]);
}

#[test]
fn a_bare_body_has_the_empty_path() {
    let (shown, paths) = redact(&Value::from("data:image/png;base64,AAAA"));
    assert!(shown.is_object());
    assert_eq!(paths, [""]);
}

#[test]
fn a_blob_reference_stays_and_loses_only_bytes() {
    let plain = json!({"blob_ref": {"blob_id": "b1", "mime_type": "image/png", "sha256": "9f".repeat(32)}});
    assert_eq!(redact(&plain), (plain.clone(), vec![]));
    let body = encode(&bytes(b"", 300), STANDARD, true);
    let (shown, paths) = redact(&json!({"blob_ref": {"blob_id": "b1", "size_bytes": 3, "data": body}}));
    assert_eq!(paths, ["blob_ref.data"]);
    assert_eq!(shown["blob_ref"]["blob_id"], "b1");
}

#[test]
fn values_without_binary_are_unchanged() {
    for value in
        [json!(null), json!("text"), json!({"id": 1, "url": "https://example.org", "list": [[], {}]})]
    {
        assert_eq!(redact(&value), (value.clone(), vec![]));
    }
}

#[test]
fn deep_nesting_is_withheld() {
    let deep = (0..100).fold(json!("data:image/png;base64,AAAA"), |inner, _| json!([inner]));
    let (shown, paths) = redact(&deep);
    assert_eq!(paths.len(), 1);
    assert!(shown.to_string().contains("too_deep") && !shown.to_string().contains("base64"));
}

#[test]
fn long_names_are_cut_in_paths() {
    let (_, paths) = redact(&json!({"é".repeat(500): "data:;base64,AAAA"}));
    assert_eq!(paths[0].chars().count(), 65);
}

#[test]
fn redaction_never_leaves_base64() {
    let mut random = Random::new(11);
    for _ in 0..500 {
        let value = arbitrary(&mut random, 4);
        let (shown, paths) = redact(&value);
        assert_no_base64(&shown);
        assert_eq!(paths.is_empty(), shown == value);
        assert_eq!(redact(&shown), (shown.clone(), vec![]));
    }
}

fn arbitrary(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => random.below(1_000).into(),
        1 => random.text(20).into(),
        2 => {
            let length = 192 + random.below(500);
            let alphabet = if random.below(2) == 0 { STANDARD } else { URL_SAFE };
            encode(&bytes(b"", length), alphabet, random.below(2) == 0).into()
        }
        3 => {
            format!("data:image/png;base64,{}", encode(&bytes(b"", random.below(50)), STANDARD, true)).into()
        }
        4 => (0..random.below(4)).map(|_| arbitrary(random, depth - 1)).collect(),
        _ => (0..random.below(4))
            .map(|index| (format!("f{index}"), arbitrary(random, depth - 1)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

fn assert_no_base64(value: &Value) {
    assert!(!matches!(classify(value), Content::Base64 { .. }), "{value}");
    match value {
        Value::Array(items) => items.iter().for_each(assert_no_base64),
        Value::Object(members) => members.values().for_each(assert_no_base64),
        Value::String(text) => {
            let longest =
                text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/-_=".contains(c)).map(str::len).max();
            assert!(longest.unwrap_or(0) < 256, "{text}");
        }
        _ => {}
    }
}
