//! `fetch_blob`: metadata always, content as far as a model can use it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::budget::assert_within_budget;
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

/// S3-R3-S2: a picture too large to be shown is said to be, with the way to it; its first bytes show nothing.
#[tokio::test]
async fn a_picture_too_large_to_be_shown_says_so() {
    let fake = Fake::start(blob("image/jpeg", vec![7; 3_000_000])).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("fetch_blob", json!({"blob_id": "blob_7", "connection_id": "cin_a"})).await;
    assert_eq!(
        result.text,
        "Fetched 0 bytes (image/jpeg). bytes=0..0 total_bytes=3000000 complete=false\n\
         not_shown=images larger than 1048576 bytes; export=pdpp read blob BLOB_ID --output FILE"
    );
    assert_eq!(result.structured["export"], "pdpp read blob BLOB_ID --output FILE");
    assert_eq!(
        (&result.structured["next"], &result.structured["bytes_base64"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(result.raw["content"].as_array().unwrap().len(), 1);
    // Whoever asks for some of its bytes gets them.
    let part = host.call("fetch_blob", json!({"blob_id": "blob_7", "range": "bytes=0-99"})).await;
    assert_eq!(part.structured["bytes_base64"], STANDARD.encode([7; 100]));
}

/// A call that shows a few kilobytes fetches a few kilobytes.
#[tokio::test]
async fn no_more_is_fetched_than_can_be_shown() {
    for media_type in ["text/plain", "application/zip", "image/png"] {
        let fake = Fake::start(blob(media_type, vec![b'a'; 3_000_000])).await;
        let mut host = Host::connect(&fake).await;
        let mut arguments = json!({"blob_id": "blob_7", "range": "bytes=2500000-"});
        for _ in 0..3 {
            fake.forget();
            let result = host.call("fetch_blob", arguments).await;
            let asked = fake.last().range.unwrap();
            let (start, end) = asked.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
            let length = end.parse::<usize>().unwrap() + 1 - start.parse::<usize>().unwrap();
            assert!(length <= 6 * 1024, "{media_type}: {asked}");
            arguments = result.structured["next"]["args"].clone();
            let printed = arguments["range"].as_str().unwrap();
            let end = result.structured["range"]["end"].as_u64().unwrap();
            assert!(printed.starts_with(&format!("bytes={end}-")) && !printed.ends_with('-'), "{printed}");
        }
    }
    let fake = Fake::start(blob("text/plain", vec![b'a'; 7_000])).await;
    let first = Host::connect(&fake).await.call("fetch_blob", json!({"blob_id": "blob_7"})).await;
    let last = first.structured["next"]["args"]["range"].as_str().unwrap();
    assert!(last.ends_with("-6999"), "{last}");
}

/// A range that ends inside a character does not stop the reader there.
#[tokio::test]
async fn a_range_inside_a_character_leads_on() {
    let fake = Fake::start(blob("text/plain", "aé漢".into())).await;
    let mut host = Host::connect(&fake).await;
    for (range, shown) in [("bytes=0-1", "a"), ("bytes=0-2", "aé"), ("bytes=1-1", "\u{fffd}")] {
        let result = host.call("fetch_blob", json!({"blob_id": "b", "range": range})).await;
        assert_eq!(result.structured["text"], shown, "{range}");
        assert!(result.structured["next"]["args"].is_object(), "{range}");
    }
}

/// A stored blob may be empty. No range of it can be given (RFC 9110, 15.5.17), so it is asked for whole.
#[tokio::test]
async fn an_empty_blob_is_no_error() {
    for media_type in ["text/plain", "image/png", "application/zip"] {
        let fake = Fake::start(move |seen| match seen.range {
            Some(_) => Reply::error(416, "invalid_range", "The range lies outside the blob's 0 bytes.")
                .header("content-range", "bytes */0"),
            None => Reply::bytes(200, media_type, []),
        })
        .await;
        let mut host = Host::connect(&fake).await;
        for arguments in [json!({"blob_id": "b"}), json!({"blob_id": "b", "range": "bytes=0-99"})] {
            let result = host.call("fetch_blob", arguments).await;
            assert!(!result.is_error, "{}", result.text);
            let expected = format!("Fetched 0 bytes ({media_type}). bytes=0..0 total_bytes=0 complete=true");
            assert!(result.text.starts_with(&expected), "{}", result.text);
            assert_eq!(result.raw["content"].as_array().unwrap().len(), 1);
            assert_eq!(result.structured["next"], json!(null));
        }
    }
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

/// S1-R4: a window of text is measured as it is shown: what acts unseen becomes a longer character, and quotes, line
/// breaks and what escapes them are escaped in both halves.
#[tokio::test]
async fn text_is_measured_as_it_is_shown() {
    let row = "\"a\",\"b\"\"c\"\"\",\"\",\"\\\"\r\n";
    for text in [
        "\u{1}".repeat(9_000),
        "\u{1}\u{7f}x".repeat(3_000),
        "\n".repeat(9_000),
        "\"".repeat(9_000),
        "\\".repeat(9_000),
        "\t\"\n".repeat(3_000),
        row.repeat(500),
        json!({"rows": vec![json!({"a": "b", "c": [1, "\n"]}); 300]}).to_string().repeat(2),
        "\u{202e}\u{200b}".repeat(1_500),
    ] {
        let fake = Fake::start(blob("text/csv", text.clone().into_bytes())).await;
        let mut host = Host::connect(&fake).await;
        let mut arguments = json!({"blob_id": "blob_7"});
        let mut collected = String::new();
        for _ in 0..100 {
            let result = host.call("fetch_blob", arguments).await;
            assert_within_budget(&result);
            collected.push_str(result.structured["text"].as_str().unwrap());
            match result.structured["next"].get("args") {
                Some(next) => arguments = next.clone(),
                None => break,
            }
        }
        let shown = pdpp_evidence::neutralise(&text).text;
        assert!(collected == shown, "{} of {} characters", collected.len(), shown.len());
    }
}

/// RFC 9110, 14.4: a server may leave open how long a blob is. As long as it sends all that is asked for, more may
/// follow, and the reader is told how to go on.
#[tokio::test]
async fn a_blob_of_unstated_length_is_read_to_its_end() {
    for (media_type, stated) in [("text/plain", true), ("application/zip", true), ("text/plain", false)] {
        let bytes: Vec<u8> = (0..20_000_u32).map(|n| b'a' + u8::try_from(n % 26).unwrap()).collect();
        let held = bytes.clone();
        let fake = Fake::start(move |seen| {
            let range = seen.range.as_deref().and_then(|range| range.strip_prefix("bytes=")).unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
            let end = end.min(start + 6_143).min(held.len() - 1);
            let part = Reply::bytes(206, media_type, &held[start..=end]);
            if stated { part.header("content-range", &format!("bytes {start}-{end}/*")) } else { part }
        })
        .await;
        let mut host = Host::connect(&fake).await;
        let mut arguments = json!({"blob_id": "b", "range": "bytes=0-6143"});
        let (mut collected, mut last) = (Vec::new(), json!(null));
        for _ in 0..20 {
            let result = host.call("fetch_blob", arguments).await;
            assert!(!result.is_error, "{}", result.text);
            match (result.structured["text"].as_str(), result.structured["bytes_base64"].as_str()) {
                (Some(text), _) => collected.extend(text.as_bytes()),
                (None, Some(encoded)) => collected.extend(STANDARD.decode(encoded).unwrap()),
                (None, None) => panic!("{}", result.text),
            }
            last = result.structured.clone();
            match last["next"].get("args") {
                Some(next) => {
                    let open = result.text.contains("total_bytes=unknown") && last["total_bytes"].is_null();
                    assert!(
                        open || last["total_bytes"].as_u64().unwrap()
                            >= last["range"]["end"].as_u64().unwrap()
                    );
                    assert_eq!(last["complete"], false);
                    arguments = next.clone();
                }
                None => break,
            }
        }
        assert_eq!(collected.len(), bytes.len(), "{last}");
        assert!(collected == bytes && last["total_bytes"] == 20_000, "{last}");
    }
    // A picture of which more may follow is not shown as if it were whole.
    let fake = Fake::start(|_| {
        Reply::bytes(206, "image/png", vec![7; 1024 * 1024]).header("content-range", "bytes 0-1048575/*")
    })
    .await;
    let result = Host::connect(&fake).await.call("fetch_blob", json!({"blob_id": "b"})).await;
    assert_eq!((&result.structured["complete"], &result.structured["size"]), (&json!(false), &json!(0)));
}
