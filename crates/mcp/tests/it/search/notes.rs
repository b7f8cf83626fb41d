//! What the text says about an answer besides its hits.

use serde_json::json;

use super::{hit, list, search};

#[tokio::test]
async fn a_bounded_ranking_is_never_taken_for_everything() {
    let mut body = list(&[hit("c", "m", "1")]);
    body["meta"]["recall"] = json!({"complete": false, "ranking_scope": "candidate_window", "truncated": true,
        "ranked_candidate_count": 500, "candidate_window_limit": 500, "truncated_source_count": 2});
    let result = search(body.clone(), json!({"q": "x"})).await;
    for words in [
        "bounded candidate window",
        "more matches may exist",
        "do not treat this page as exhaustive",
        "ranked_candidate_count=500",
        "candidate_window_limit=500",
        "truncated_source_count=2",
    ] {
        assert!(result.text.contains(words), "{words}: {}", result.text);
    }
    assert_eq!(result.structured["data"]["meta"], body["meta"]);
    body["meta"]["recall"] = json!({"complete": false});
    let result = search(body, json!({"q": "x"})).await;
    assert!(result.text.contains("bounded candidate window; more matches may exist"), "{}", result.text);
}

#[tokio::test]
async fn recall_is_not_inferred() {
    for body in [
        json!({"data": [hit("c", "m", "1")], "has_more": true, "next_cursor": "p2"}),
        json!({"data": [hit("c", "m", "1")], "meta": {"count": 900}}),
        list(&[hit("c", "m", "1")]),
    ] {
        let result = search(body.clone(), json!({"q": "x"})).await;
        assert!(!result.text.contains("ecall") && !result.text.contains("exhaustive"), "{}", result.text);
        assert_eq!(result.structured["data"].get("meta"), body.get("meta"));
    }
}

#[tokio::test]
async fn corrections_ignored_words_and_a_late_index_are_told() {
    let mut body = list(&[hit("c", "m", "1")]);
    body["meta"]["count"] = json!(57);
    body["meta"]["count_accuracy"] = json!("lower_bound");
    body["meta"]["corrected"] = json!([{"typed": "hyprlane", "used": "hyperlane"}]);
    body["meta"]["ignored"] = json!([{"reason": "unbalanced quote", "text": "\""}]);
    body["meta"]["index"]["state"] = json!("behind");
    body["meta"]["warnings"] =
        json!([{"code": "source_skipped_not_applicable", "message": "mail has no time"}]);
    let result = search(body, json!({"q": "x"})).await;
    for words in [
        "matches>=57.",
        "Nothing matched \"hyprlane\"; looked for \"hyperlane\".",
        "Ignored \"\\\"\" (\"unbalanced quote\").",
        "Index behind:",
        "Warning source_skipped_not_applicable: \"mail has no time\".",
    ] {
        assert!(result.text.contains(words), "{words}: {}", result.text);
    }
}

#[tokio::test]
async fn nothing_found_says_so() {
    let result = search(list(&[]), json!({"q": "x"})).await;
    assert!(result.text.starts_with("search: 0 hit(s)."), "{}", result.text);
    for absent in ["first_fetch_id", "Top results", "Evidence", "source_mix", "id="] {
        assert!(!result.text.contains(absent), "{absent}: {}", result.text);
    }
    assert_eq!(result.structured["results"], json!([]));
    assert!(result.structured.get("content_ladder").is_none());
}

/// A server counts the records with a word of the query and no neighbours, so its count is told as it is.
#[tokio::test]
async fn what_a_server_counts_is_told_beside_neighbours_too() {
    let mut neighbour = hit("c", "m", "2");
    neighbour["evidence"] = json!("conversation_neighbour");
    let mut body = list(&[hit("c", "m", "1"), neighbour]);
    for (accuracy, told) in [("exact", " matches=28."), ("lower_bound", " matches>=28.")] {
        body["meta"]["count"] = json!(28);
        body["meta"]["count_accuracy"] = json!(accuracy);
        let result = search(body.clone(), json!({"q": "x"})).await;
        assert!(result.text.contains(told), "{}", result.text);
    }
}

/// Where the index is built anew nothing may be found, which says nothing about the words.
#[tokio::test]
async fn nothing_found_while_the_index_is_behind_is_asked_again() {
    let mut body = list(&[]);
    body["meta"]["index"] = json!({"state": "behind"});
    let result = search(body, json!({"q": "x"})).await;
    assert!(
        result.text.contains("Index behind") && result.text.contains("Repeat the call"),
        "{}",
        result.text
    );
    assert!(!result.text.contains("Try other words"), "{}", result.text);
}

/// While the index is behind, a server tells about how many match.
#[tokio::test]
async fn an_estimated_count_is_told_as_one() {
    let mut neighbour = hit("c", "m", "2");
    neighbour["evidence"] = json!("conversation_neighbour");
    for (hits, told) in [
        (vec![hit("c", "m", "1")], " matches=about 57."),
        (vec![hit("c", "m", "1"), neighbour], " matches=about 57."),
    ] {
        let mut body = list(&hits);
        body["meta"]["count"] = json!(57);
        body["meta"]["count_accuracy"] = json!("estimated");
        let result = search(body, json!({"q": "x"})).await;
        assert!(result.text.contains(told), "{}", result.text);
    }
}
