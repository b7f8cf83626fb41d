//! `fetch_blob`: metadata always, content as far as a model can use it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::{Fake, Host, Reply, Seen};

/// A server that holds one blob and honours ranges.
fn blob(media_type: &'static str, bytes: Vec<u8>) -> impl Fn(&Seen) -> Reply + Send + Sync + 'static {
    move |seen: &Seen| {
        let range = seen.range.as_deref().and_then(|range| range.strip_prefix("bytes="));
        let (start, end) =
            range.and_then(|range| range.split_once('-')).expect("the adapter asks for a range");
        let start: usize = start.parse().unwrap();
        if start >= bytes.len() {
            return Reply::error(416, "invalid_range", "The range lies outside the blob.");
        }
        let end = end.parse::<usize>().unwrap().min(bytes.len() - 1);
        let total = bytes.len();
        Reply::bytes(206, media_type, &bytes[start..=end])
            .header("content-range", &format!("bytes {start}-{end}/{total}"))
    }
}

/// S3-R3-S2: the stored blob of a field is read through the blob route alone.
#[tokio::test]
async fn a_picture_is_shown_as_a_picture() {
    let fake = Fake::start(blob("image/png", vec![7; 3])).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("fetch_blob", json!({"blob_id": "blob_7", "connection_id": "cin_a"})).await;
    assert!(result.text.starts_with("Fetched 3 bytes (image/png)."), "{}", result.text);
    assert_eq!(
        result.raw["content"][1],
        json!({"type": "image", "data": STANDARD.encode([7; 3]), "mimeType": "image/png"})
    );
    assert_eq!(result.structured["total_bytes"], 3);
    assert!(!result.visible().contains("/v1/blobs/"));
    let seen = fake.last();
    assert_eq!((seen.path.as_str(), seen.param("connection_id")), ("/v1/blobs/blob_7", Some("cin_a")));
}

#[tokio::test]
async fn text_is_read_window_by_window() {
    let text = "Zürich, 漢字, 😀. ".repeat(2_000);
    let fake = Fake::start(blob("text/plain", text.clone().into_bytes())).await;
    let mut host = Host::connect(&fake).await;
    let bpe = tiktoken_rs::o200k_base_singleton();
    let mut arguments = json!({"blob_id": "blob_7"});
    let mut collected = String::new();
    for _ in 0..200 {
        let result = host.call("fetch_blob", arguments).await;
        assert!(bpe.encode_ordinary(&result.text).len() <= 2_500);
        assert!(bpe.encode_ordinary(&result.visible()).len() <= 9_000);
        collected.push_str(result.structured["text"].as_str().unwrap());
        let Some(line) = result.text.lines().find_map(|line| line.strip_prefix("next fetch_blob args="))
        else {
            break;
        };
        arguments = serde_json::from_str(line).unwrap();
        assert_eq!(result.structured["next"]["args"], arguments);
    }
    assert!(collected == text, "{} of {} bytes", collected.len(), text.len());
}

#[tokio::test]
async fn other_bytes_come_a_few_kilobytes_at_a_time() {
    let bytes: Vec<u8> = (0..100_000u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let fake = Fake::start(blob("application/zip", bytes.clone())).await;
    let mut host = Host::connect(&fake).await;
    let bpe = tiktoken_rs::o200k_base_singleton();
    for arguments in [json!({"blob_id": "b"}), json!({"blob_id": "b", "range": "bytes=5000-"})] {
        let result = host.call("fetch_blob", arguments).await;
        assert!(bpe.encode_ordinary(&result.visible()).len() <= 9_000);
        let shown = STANDARD.decode(result.structured["bytes_base64"].as_str().unwrap()).unwrap();
        assert!(shown.len() <= 4_096);
        let start = usize::try_from(result.structured["range"]["start"].as_u64().unwrap()).unwrap();
        assert_eq!(shown, bytes[start..start + shown.len()]);
        assert!(result.text.contains("complete=false"), "{}", result.text);
    }
}

#[tokio::test]
async fn bad_ranges_and_ids_are_refused_before_any_request() {
    let fake = Fake::start(blob("text/plain", vec![b'a'; 10])).await;
    let mut host = Host::connect(&fake).await;
    for range in ["0-99", "bytes=9-3", "bytes=0-4194304", "bytes=-5", "bytes=0-1,5-9"] {
        let result = host.call("fetch_blob", json!({"blob_id": "b", "range": range})).await;
        assert_eq!(result.code(), "invalid_range", "{range}");
    }
    for id in ["../x", "a/b", "", "a\\b"] {
        assert_eq!(host.call("fetch_blob", json!({"blob_id": id})).await.code(), "invalid_arguments", "{id}");
    }
    assert_eq!(fake.seen(), []);
    let outside = host.call("fetch_blob", json!({"blob_id": "b", "range": "bytes=10-"})).await;
    assert_eq!((outside.code(), outside.structured["http_status"].as_u64()), ("invalid_range", Some(416)));
}

#[tokio::test]
async fn a_server_that_ignores_the_range_is_cut_off() {
    let fake = Fake::start(|_| Reply::bytes(200, "application/zip", vec![0; 5 * 1024 * 1024])).await;
    let result = Host::connect(&fake).await.call("fetch_blob", json!({"blob_id": "b"})).await;
    assert_eq!(result.code(), "response_too_large");
}

/// A server that ignores the range and sends everything still gets the reader on.
#[tokio::test]
async fn a_server_that_ignores_the_range_does_not_lead_in_circles() {
    let bytes: Vec<u8> = (0..10_000_u32).map(|n| n.to_be_bytes()[3]).collect();
    let whole = bytes.clone();
    let fake = Fake::start(move |_| Reply::bytes(200, "application/zip", whole.clone())).await;
    let mut host = Host::connect(&fake).await;
    let mut arguments = json!({"blob_id": "b", "range": "bytes=0-"});
    let mut collected = Vec::new();
    for _ in 0..10 {
        let result = host.call("fetch_blob", arguments).await;
        collected.extend(STANDARD.decode(result.structured["bytes_base64"].as_str().unwrap()).unwrap());
        match result.structured["next"].get("args") {
            Some(next) => arguments = next.clone(),
            None => break,
        }
    }
    assert_eq!(collected, bytes);
}

/// Numbers no blob reaches, and bytes that are no text, are met without a panic and without standing still.
#[tokio::test]
async fn impossible_places_and_broken_text_are_survived() {
    let fake = Fake::start(|_| {
        Reply::bytes(206, "text/plain", vec![0x80; 9_000])
            .header("content-range", "bytes 18446744073709551615-18446744073709551615/18446744073709551615")
    })
    .await;
    let result = Host::connect(&fake).await.call("fetch_blob", json!({"blob_id": "b"})).await;
    assert!(!result.is_error, "{}", result.text);
    assert!(result.structured["size"].as_u64().unwrap() > 0);
}
