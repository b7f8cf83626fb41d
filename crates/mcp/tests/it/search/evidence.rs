//! Evidence: what the server proved comes first, bounded, with the call that reads on; nothing else is shown as
//! proof.

use serde_json::{Value, json};

use super::{PREVIEW, calls, hit, hits, list, proven, search};
use crate::support::{Fake, Host, Reply};

/// S0-R1: the text alone has an id, a label of its source, and evidence or a next call for each hit.
#[tokio::test]
async fn the_text_alone_is_enough_to_decide() {
    let result = hits(&[proven("cin_s1", "messages", "m1", PREVIEW), hit("cin_s1", "messages", "m7")]).await;
    for id in ["cin_s1/messages:m1", "cin_s1/messages:m7"] {
        let line = result.text.lines().find(|line| line.contains(&format!(". id={id} "))).unwrap();
        assert!(line.contains("connector_key=slack stream=messages"), "{line}");
        assert!(line.contains("display_name=\"Acme Slack\""), "{line}");
    }
    assert!(
        result.text.contains("<mark>Hyperlane</mark>") && result.text.contains("`fetch`"),
        "{}",
        result.text
    );
}

/// S0-R1-S1: a proven window is previewed in the text, in the results and in the ladder, with a callable read.
#[tokio::test]
async fn a_proven_window_is_shown_everywhere_with_its_call() {
    let result = hits(&[proven("cin_s1", "messages", "m1", PREVIEW)]).await;
    let (tool, args) = calls(&result.text).remove(0);
    let wanted =
        json!({"id": "cin_s1/messages:m1", "field_path": "text", "offset_chars": 268, "limit_chars": 4096});
    assert_eq!((tool.as_str(), &args), ("read_record_field", &wanted));
    for excerpt in [
        &result.structured["results"][0]["evidence_excerpts"][0],
        &result.structured["content_ladder"]["records"][0]["evidence_excerpts"][0],
    ] {
        assert_eq!(excerpt["preview_text"], PREVIEW);
        assert_eq!(excerpt["read"], json!({"tool": "read_record_field", "args": wanted}));
        assert_eq!(
            (&excerpt["field_path"], &excerpt["preview_status"]),
            (&json!("text"), &json!("truncated"))
        );
    }
    let rung = &result.structured["content_ladder"]["records"][0];
    assert_eq!(rung["handle_semantics"], "live_lookup");
    assert_eq!((&rung["stream"], &rung["record_id"]), (&json!("messages"), &json!("m1")));
    assert_eq!(result.structured["content_ladder"]["kind"], "search_results");
    assert_eq!(result.structured["content_ladder"]["read_tool"], "read_record_field");
}

/// S1-R1-S1: with `structuredContent` ignored, the read built from the text opens the record on the match.
#[tokio::test]
async fn a_read_built_from_the_text_alone_lands_on_the_match() {
    let mut foreign = proven("cin_s1", "messages", "m1", PREVIEW);
    foreign["evidence_excerpts"][0].as_object_mut().unwrap().remove("read");
    let result = hits(&[foreign]).await;
    let (tool, args) = calls(&result.text).remove(0);
    assert_eq!(tool, "read_record_field");
    assert_eq!(
        args,
        json!({"id": "cin_s1/messages:m1", "field_path": "text", "q": "Hyperlane", "before_chars": 400, "after_chars": 400})
    );
}

#[tokio::test]
async fn q_is_offered_only_where_the_text_has_it_literally() {
    let mut foreign = proven("cin_s1", "messages", "m1", "nothing of that kind stands here");
    foreign["evidence_excerpts"][0].as_object_mut().unwrap().remove("read");
    let result = hits(&[foreign]).await;
    assert_eq!(calls(&result.text)[0].1, json!({"id": "cin_s1/messages:m1", "field_path": "text"}));
}

/// S0-R1-S2: without a proven window nothing is claimed of any field, and the hit still has its id and a next call.
#[tokio::test]
async fn metadata_proves_nothing() {
    let mut bare = hit("cin_s1", "messages", "m1");
    bare["title"] = json!("Hyperlane bridge");
    bare["field_windows"] =
        json!([{"field_path": "text", "size_chars": 900, "preview_status": "unavailable"}]);
    let result = hits(&[bare]).await;
    unproven(&result.text, &result.structured);
}

/// S1-R1-S3: a match only in metadata shows no window of the body, and a path to read it.
#[tokio::test]
async fn a_match_in_metadata_shows_no_body() {
    let mut bare = hit("cin_s1", "messages", "m1");
    bare["evidence"] = json!("metadata_match");
    bare["matched_fields"] = json!(["author"]);
    let result = hits(&[bare]).await;
    unproven(&result.text, &result.structured);
    assert!(result.text.contains(" evidence=metadata_match"), "{}", result.text);
}

fn unproven(text: &str, structured: &Value) {
    assert!(!text.contains("Evidence excerpts") && !text.contains("field_path="), "{text}");
    assert!(text.contains(". id=cin_s1/messages:m1 ") && text.contains("`fetch`"), "{text}");
    assert!(structured["results"][0].get("evidence_excerpts").is_none());
    assert!(!structured["content_ladder"].to_string().contains("preview_text"));
    assert_eq!(structured["content_ladder"]["records"][0]["id"], "cin_s1/messages:m1");
}

/// S0-R5: evidence stands before the summary, the hits and the sources.
/// S0-R5-S1: one line has field path, snippet, id and read call, and no URI.
#[tokio::test]
async fn evidence_comes_first_and_in_one_line() {
    let result = hits(&[proven("cin_s1", "messages", "m1", PREVIEW)]).await;
    assert!(
        result
            .text
            .starts_with("Evidence excerpts:\n1. result=1 id=cin_s1/messages:m1 field_path=text snippet=\"")
    );
    let line = result.text.lines().nth(1).unwrap();
    assert!(
        line.contains("Hyperlane") && line.contains(" complete=false read=read_record_field args={"),
        "{line}"
    );
    let at = |token: &str| result.text.find(token).unwrap_or_else(|| panic!("no {token} in {}", result.text));
    for later in ["search: 1 hit(s).", "Top results:", "source_mix=", "first_fetch_id="] {
        assert!(at("<mark>") < at(later), "{later}");
    }
    assert!(!result.visible().contains("pdpp://"), "{}", result.visible());
}

/// S1-R1-S2: the preview of a long window keeps the marked match whole, with words on both sides, and is bounded.
#[tokio::test]
async fn a_long_window_is_cut_around_its_mark() {
    let side = "Some words that surround the place in question. ".repeat(15);
    let long = format!("{side}we move funds with <mark>Hyperlane</mark> or LayerZero {side}");
    let result = hits(&[proven("cin_s1", "messages", "m1", &long)]).await;
    let preview = result.structured["results"][0]["evidence_excerpts"][0]["preview_text"].as_str().unwrap();
    assert!(preview.contains("funds with <mark>Hyperlane</mark> or LayerZero"), "{preview}");
    assert!((160..=270).contains(&preview.chars().count()), "{}", preview.chars().count());
    assert!(result.text.contains("with <mark>Hyperlane</mark> or"), "{}", result.text);
}

/// S1-R1-S2: words of a query that do not stand together, and a field that is nothing but the query.
#[tokio::test]
async fn scattered_words_and_bare_fields_are_previewed_too() {
    let side = "Some words that surround the place in question. ".repeat(10);
    let scattered = format!("{side}the <mark>bridge</mark> was chosen {side} late <mark>Friday</mark> night");
    let body =
        list(&[proven("cin_s1", "messages", "m1", &scattered), proven("cin_s1", "messages", "m2", "Friday")]);
    let result = search(body, json!({"q": "Friday bridge"})).await;
    let preview = |n: usize| result.structured["results"][n]["evidence_excerpts"][0]["preview_text"].clone();
    assert!(preview(0).as_str().unwrap().contains("the <mark>bridge</mark> was"), "{}", preview(0));
    assert_eq!(preview(1), "Friday");
}

#[tokio::test]
async fn a_window_without_marks_is_centred_on_the_query_and_not_marked() {
    let side = "Some words that surround the place in question. ".repeat(10);
    let result = hits(&[proven("c", "m", "1", &format!("{side} we chose hyperlane then {side}"))]).await;
    assert!(
        result.text.contains("chose hyperlane then") && !result.text.contains("<mark>"),
        "{}",
        result.text
    );
}

#[tokio::test]
async fn a_whole_field_is_said_to_be_complete() {
    let mut whole = proven("cin_s1", "messages", "m1", "<mark>Hyperlane</mark> it is");
    whole["evidence_excerpts"][0]["truncated"] = json!(false);
    let result = hits(&[whole]).await;
    assert!(
        result.text.contains("snippet=\"<mark>Hyperlane</mark> it is\" complete=true"),
        "{}",
        result.text
    );
    assert_eq!(result.structured["results"][0]["evidence_excerpts"][0]["preview_status"], "complete");
}

/// An array of metadata does not hide another that holds text.
#[tokio::test]
async fn the_first_usable_array_wins() {
    let mut mixed = proven("cin_s1", "messages", "m1", PREVIEW);
    mixed["field_windows"] = json!([{"field_path": "text", "size_chars": 900}, {"text": "no field"}]);
    let result = hits(&[mixed]).await;
    assert!(result.text.contains("field_path=text snippet=\"…we move funds"), "{}", result.text);
    assert!(!result.text.contains("no field"), "{}", result.text);
}

/// Without a connection the field is read by `fetch`, because `read_record_field` would refuse the id.
#[tokio::test]
async fn a_hit_without_connection_continues_by_fetch() {
    let foreign = json!({"stream": "orders", "record_id": "o1",
        "match_windows": [{"field_path": "note.body", "text": "the Hyperlane invoice"}]});
    let result = hits(&[foreign]).await;
    assert_eq!(calls(&result.text), [("fetch".to_owned(), json!({"id": "orders:o1", "fields": ["note"]}))]);
    assert!(!result.text.contains("connection_id="), "{}", result.text);
}

#[tokio::test]
async fn evidence_of_a_neighbour_says_so() {
    let mut neighbour = proven("cin_s1", "messages", "m1", "see the message above");
    neighbour["evidence"] = json!("conversation_neighbour");
    neighbour["evidence_excerpts"][0]["provenance"] = json!("conversation_neighbour");
    neighbour["duplicates"] = json!(4);
    let result = hits(&[neighbour]).await;
    assert!(result.text.contains(" provenance=conversation_neighbour read="), "{}", result.text);
    assert!(result.text.contains(" evidence=conversation_neighbour duplicates=4"), "{}", result.text);
    assert_eq!(result.structured["results"][0]["duplicates"], 4);
}

/// A snippet names its field but proves no match: it stands in the hit's line, with the read of that field.
#[tokio::test]
async fn a_snippet_is_shown_but_not_as_evidence() {
    let mut plain = hit("cin_s1", "messages", "m1");
    plain["snippet"] = json!({"field": "text", "text": "minutes attached"});
    let result = hits(&[plain]).await;
    assert!(!result.text.contains("Evidence excerpts"), "{}", result.text);
    assert!(result.text.contains(" snippet=\"minutes attached\" read=read_record_field"), "{}", result.text);
    assert_eq!(calls(&result.text)[0].1, json!({"id": "cin_s1/messages:m1", "field_path": "text"}));
    assert_eq!(result.structured["results"][0]["snippet"], "minutes attached");
}

#[tokio::test]
async fn bytes_in_a_window_are_no_evidence() {
    let bytes = "QUJDRGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU2Nzg5Kysv".repeat(10);
    let result = hits(&[proven("cin_s1", "files", "f1", &bytes)]).await;
    assert!(!result.visible().contains(&bytes[..40]), "{}", result.visible());
    assert_eq!(result.structured["binary_redacted"], json!(["data.0.evidence_excerpts.0.preview_text"]));
}

/// W2, W3: the matched text stands once in the results, once in the ladder, and no call is made up.
#[tokio::test]
async fn nothing_is_repeated_or_invented() {
    let mut both = proven("cin_s1", "messages", "m1", PREVIEW);
    both["snippet"] = json!({"field": "text", "text": "Hyperlane"});
    let result = hits(&[both]).await;
    let entry = &result.structured["results"][0];
    assert!(entry.get("match_windows").is_none() && entry.get("snippet").is_none(), "{entry}");
    let rung = &result.structured["content_ladder"]["records"][0];
    assert!(rung.get("field_windows").is_none() && rung.get("json_fields").is_none(), "{rung}");
}

#[tokio::test]
async fn one_question_is_one_request() {
    let fake = Fake::start(|_| Reply::json(&list(&[proven("c", "m", "1", PREVIEW)]))).await;
    Host::connect(&fake).await.call("search", json!({"q": "x"})).await;
    assert_eq!(fake.seen().len(), 1);
}
