//! What a window may cost, whatever its text costs and whatever the server sends.

use serde_json::{Value, json};

use super::{field_text, printed_arguments, windows_of};
use crate::support::{Fake, Host, Reply};

/// A window that would cost too much is lowered, says so by its range, and still holds its match.
#[tokio::test]
async fn a_window_is_lowered_to_its_budget() {
    let bpe = tiktoken_rs::o200k_base_singleton();
    let mut text: String = "漢字かな交じり文".repeat(5_000);
    text.push_str("needle");
    text.push_str(&"後".repeat(9_000));
    let fake = Fake::start(windows_of(&text)).await;
    let mut host = Host::connect(&fake).await;
    for arguments in [
        json!({}),
        json!({"limit_chars": 16384}),
        json!({"q": "needle", "before_chars": 8192, "after_chars": 8192}),
    ] {
        let mut whole = json!({"id": "cin_s1/messages:m9", "field_path": "text"});
        whole.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let result = host.call("read_record_field", whole).await;
        let cost = |text: &str| bpe.encode_ordinary(text).len();
        let asked_for_more = !arguments.as_object().unwrap().is_empty();
        assert!(cost(&result.text) <= if asked_for_more { 4_500 } else { 2_500 }, "{}", cost(&result.text));
        assert!(cost(&result.visible()) <= 9_000, "{}", cost(&result.visible()));
        assert!(printed_arguments(&result.text, "next").is_some());
        if arguments["q"] == "needle" {
            assert!(result.text.contains(r#" match="40000".."40006""#), "{}", result.text);
            let window = &result.structured["window"];
            let offset = |name: &str| usize::try_from(window[name].as_u64().unwrap()).unwrap();
            let place = offset("match_start_chars") - offset("start_chars");
            let shown: Vec<char> = field_text(&result.text).chars().collect();
            assert_eq!(String::from_iter(&shown[place..place + 6]), "needle");
            assert!(place > 50 && shown.len() > place + 50, "{place} of {}", shown.len());
        }
    }
}

/// Reads on as printed, within the budget each time, until no call is printed.
async fn put_together(host: &mut Host, mut arguments: Value) -> (String, usize) {
    let bpe = tiktoken_rs::o200k_base_singleton();
    let cost = |text: &str| bpe.encode_ordinary(text).len();
    let mut collected = String::new();
    for calls in 1..200 {
        let result = host.call("read_record_field", arguments).await;
        let costs = (cost(&result.text), cost(&result.visible()));
        let range = result.text.lines().next().unwrap();
        assert!(costs.0 <= 2_500 && costs.1 <= 9_000, "{costs:?} {range}");
        let shown = field_text(&result.text);
        assert_eq!(result.structured["window"]["text"], shown);
        let start = result.structured["window"]["start_chars"].as_u64().unwrap();
        assert_eq!(start, collected.chars().count() as u64, "windows meet");
        collected.push_str(&shown);
        match printed_arguments(&result.text, "next") {
            Some(next) => arguments = next,
            None => return (collected, calls),
        }
    }
    panic!("the calls lead nowhere")
}

/// S1-R2-S3: a text of which some parts cost far more than others is cut to what each window can hold, and the printed
/// calls put it together again.
#[tokio::test]
async fn an_uneven_text_fits_and_is_put_together_again() {
    let run = |first: u32, length: u32| -> String {
        (0..length).map(|n| char::from_u32(first + n % 500).unwrap()).collect()
    };
    let plain = "the boat lies at the north quay. ".repeat(60);
    for (name, text) in [
        ("rare ideographs", format!("{}{plain}", run(0x3400, 2_000))),
        ("uncommon ideographs", format!("{}{plain}", run(0x9B00, 2_000))),
        ("hieroglyphs", format!("{}{plain}", run(0x13000, 2_000))),
        ("at the end", format!("{plain}{plain}{}", run(0x13000, 2_000))),
        ("quotes", format!("{}{plain}", "\"\\\n".repeat(2_000))),
        ("lines", format!("{}{plain}", "\n\n \n\t".repeat(2_000))),
        ("bells", format!("{}{plain}", "\u{7}\u{202e}\u{9b}".repeat(1_000))),
    ] {
        let fake = Fake::start(windows_of(&text)).await;
        let mut host = Host::connect(&fake).await;
        let arguments = json!({"id": "cin_s1/messages:m9", "field_path": "text"});
        let (collected, calls) = put_together(&mut host, arguments).await;
        assert!(collected == pdpp_evidence::neutralise(&text).text, "{name}");
        assert!(calls <= 8, "{name}: {calls} calls");
        assert_eq!(fake.seen().iter().filter(|seen| seen.path.ends_with("/field-window")).count(), calls);
    }
}

/// A server that sends the whole field whatever is asked does not spend the budget, and does not lead in circles.
#[tokio::test]
async fn a_server_that_ignores_the_selection_is_read_window_by_window() {
    let text = (0..30_000).fold(String::new(), |text, n| text + &n.to_string() + " ");
    let total = text.chars().count();
    let whole = windows_of(&text);
    let fake = Fake::start(move |seen| {
        let mut asked = seen.clone();
        asked.query.retain(|(name, _)| name != "offset_chars" && name != "limit_chars");
        asked.query.push(("limit_chars".to_owned(), "10000000".to_owned()));
        whole(&asked)
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let arguments = json!({"id": "cin_s1/messages:m9", "field_path": "text"});
    let first = host.call("read_record_field", arguments.clone()).await;
    assert_eq!(first.structured["window"]["complete"], false);
    assert_eq!(first.structured["window"]["total_chars"], total);
    assert!(field_text(&first.text).chars().count() <= 4_096);
    let (collected, _) = put_together(&mut host, arguments).await;
    assert!(collected == text, "{} of {total}", collected.len());
    let short =
        json!({"id": "cin_s1/messages:m9", "field_path": "text", "offset_chars": 7, "limit_chars": 16});
    assert_eq!(field_text(&host.call("read_record_field", short).await.text), text[7..23]);
}

/// S1-R2-S3: however far behind the opening the match stands, the window that is shown holds it and says where.
#[tokio::test]
async fn a_window_that_is_cut_keeps_its_match() {
    let text = format!("{}needle{}", "龘".repeat(9_000), "靐".repeat(9_000));
    let fake = Fake::start(windows_of(&text)).await;
    let mut host = Host::connect(&fake).await;
    for (before, after) in [(0, 4_000), (3_000, 8), (4_000, 4_000), (8_192, 8_192)] {
        let arguments = json!({"id": "cin_s1/messages:m9", "field_path": "text", "q": "needle",
            "before_chars": before, "after_chars": after});
        let result = host.call("read_record_field", arguments).await;
        assert!(result.text.contains(r#" match="9000".."9006""#), "{before} {after}: {}", result.text);
        assert!(field_text(&result.text).contains("needle"));
        let window = &result.structured["window"];
        let end = window["end_chars"].clone();
        assert_eq!(window["next_offset_chars"], end);
        let next = printed_arguments(&result.text, "next").unwrap();
        assert_eq!(next["offset_chars"], end);
        let shown = host.call("read_record_field", next).await;
        assert_eq!(shown.structured["window"]["start_chars"], end);
        let previous = printed_arguments(&result.text, "previous").unwrap();
        let back = host.call("read_record_field", previous).await;
        assert!(back.structured["window"]["start_chars"].as_u64() < window["start_chars"].as_u64());
    }
}

/// What a server calls the type of a field is a name from outside, and members nobody knows are bounded by nothing.
#[tokio::test]
async fn names_and_members_of_a_window_are_bounded() {
    let fake = Fake::start(|_| {
        Reply::json(&json!({"object": "field_window",
            "field": {"path": "text", "type": format!("a\u{202e}\u{200b}\n{}", "b".repeat(50_000))},
            "window": {"text": "short", "start_chars": 0, "end_chars": 5, "total_chars": 5, "complete": true,
                "has_more": false, "html": "<p>".repeat(50_000), "match_start_chars": "c".repeat(50_000)}}))
    })
    .await;
    let arguments = json!({"id": "cin_a/orders:o1", "field_path": "text"});
    let result = Host::connect(&fake).await.call("read_record_field", arguments).await;
    assert_eq!(field_text(&result.text), "short");
    assert!(result.visible().len() < 2_000, "{}", result.visible().len());
    assert!(!result.visible().contains(['\u{202e}', '\u{200b}']), "{}", result.structured);
    assert_eq!(result.structured["field"]["text_like"], true);
}

/// A server with impossible numbers gets an answer, and the next call it is told to make is one we take.
#[tokio::test]
async fn impossible_offsets_are_survived() {
    let fake = Fake::start(|_| {
        Reply::json(&json!({"object": "field_window", "field": {"path": "text", "type": "string"}, "window": {
            "text": "word ".repeat(20_000), "start_chars": u64::MAX, "end_chars": u64::MAX, "total_chars": u64::MAX,
            "limit_chars": 65_536, "complete": false, "match_start_chars": u64::MAX, "match_end_chars": u64::MAX,
            "next_offset_chars": 5, "previous_offset_chars": u64::MAX}}))
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("read_record_field", json!({"id": "cin_a/orders:o1", "field_path": "text"})).await;
    assert!(!result.is_error, "{}", result.text);
    let bpe = tiktoken_rs::o200k_base_singleton();
    assert!(bpe.encode_ordinary(&result.text).len() <= 2_500);
    assert!(bpe.encode_ordinary(&result.visible()).len() <= 9_000);
    let next = host.call("read_record_field", result.structured["next"]["args"].clone()).await;
    assert_ne!(next.code(), "invalid_arguments");
}
