//! Questions in plain words, and the text that proves their answers.

use std::sync::Arc;

use expect_test::expect;
use pdpp_api::SearchModes;
use pdpp_search::{Place, SearchEngine};
use pdpp_store::Catalogues as _;
use pdpp_testkit::{FixedClock, client, grant};
use serde_json::{Value, json};

use crate::world::World;

/// A world with an index in memory.
async fn world() -> World {
    World::with(|state| {
        let engine = SearchEngine::open(Place::Memory, state.store.clone()).unwrap();
        state.search = SearchModes { lexical: Some(Arc::new(engine)), ..SearchModes::default() };
    })
    .await
}

fn search(q: &str, rest: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    let q: String = q
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("/v1/search?q={q}{rest}")
}

/// The keys of the hits, in their order.
async fn keys(world: &World, token: &str, path: &str) -> Vec<String> {
    let body = world.get(token, path).await.json();
    let hits = body["data"].as_array().unwrap_or_else(|| panic!("{path}: {body}"));
    hits.iter().map(|hit| hit["record_key"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_question_finds_the_sentence_that_answers_it() {
    let world = world().await;
    let body = world.get("client", &search("Where is the key to the house?", "&limit=1")).await;
    let mut shown = body.json();
    let hit = &mut shown["data"][0];
    assert!(hit["score"]["value"].as_f64().unwrap() > 0.0);
    hit["score"]["value"] = json!("…");
    for link in ["self", "next"] {
        shown["links"][link].take();
    }
    shown["next_cursor"].take();
    expect![[r#"
        {
          "object": "list",
          "url": "/v1/search",
          "data": [
            {
              "object": "search_result",
              "stream": "messages",
              "record_key": "x_long",
              "result_id": "HOME/messages:x_long",
              "connector_id": "chat",
              "connection_id": "HOME",
              "connector_instance_id": "HOME",
              "display_name": "Home",
              "emitted_at": "2026-02-01T08:04:00.000Z",
              "authored_at": "2026-02-01T08:04:00Z",
              "record_url": "/v1/streams/messages/records/x_long",
              "matched_fields": [
                "text"
              ],
              "evidence_excerpts": [
                {
                  "object": "evidence_excerpt",
                  "field_path": "text",
                  "preview_text": "…on the roof, wind in the ropes, and nobody at the door. Rain on the roof, wind in the ropes, and nobody at the doThe <mark>key</mark> lies under the third flowerpot.Rain on the roof, wind in the ropes, and nobody at the door. Rain on the roof, wind in…",
                  "start_chars": 9887,
                  "end_chars": 10125,
                  "match": [
                    {
                      "start_chars": 10004,
                      "end_chars": 10007
                    }
                  ],
                  "total_chars": 20000,
                  "truncated": true,
                  "provenance": "lexical_match",
                  "read": {
                    "object": "field_window_read",
                    "method": "GET",
                    "route": "/v1/streams/messages/records/x_long/field-window",
                    "stream": "messages",
                    "record_id": "x_long",
                    "field": "text",
                    "connection_id": "HOME",
                    "offset_chars": 9492,
                    "limit_chars": 4096
                  }
                }
              ],
              "evidence": "lexical_match",
              "score": {
                "kind": "bm25",
                "value": "…",
                "order": "higher_is_better"
              }
            }
          ],
          "has_more": false,
          "links": {
            "self": null,
            "next": null
          },
          "meta": {
            "count": 1,
            "count_accuracy": "exact",
            "recall": {
              "complete": true,
              "ranking_scope": "all_matches",
              "truncated": false,
              "ranked_candidate_count": 1,
              "sources_searched_count": 2
            },
            "index": {
              "state": "current"
            },
            "sources": [
              {
                "connection_id": "HOME",
                "stream": "messages",
                "count": 1
              }
            ],
            "warnings": [
              {
                "code": "source_skipped_not_applicable",
                "message": "Stream 'attachments' of 'chat' was left out: none of its granted fields is searchable."
              }
            ]
          },
          "next_cursor": null
        }"#]].assert_eq(&serde_json::to_string_pretty(&shown).unwrap());
}

/// S1-R5, S1-R5-S1: the descriptor of an excerpt names its field, its truncation and the read that goes on; whatever is
/// shown is where it says, in every script.
#[tokio::test]
async fn every_excerpt_can_be_read_where_it_says() {
    let world = world().await;
    let mut excerpts = 0;
    for q in [
        "family",
        "🏖",
        "👍",
        "café",
        "cafe",
        "Zürich",
        "zurich resume",
        "שלום",
        "עולם",
        "مرحبا",
        "left again",
        "会議",
        "ロープについて",
        "明日の午後",
        "flowerpot",
        "rain roof wind",
        "evil width",
        "meta",
        "minutes",
        "tomatoes spade hose",
        "\"number 22\"",
        "bread and boats",
        "page",
        "asks about",
        "chlo*",
        "+anna message",
    ] {
        let body = world.get("client", &search(q, "&excerpts=3&limit=100")).await.json();
        let hits = body["data"].as_array().unwrap();
        assert!(!hits.is_empty(), "{q} finds nothing");
        for hit in hits {
            for excerpt in hit["evidence_excerpts"].as_array().unwrap_or_else(|| panic!("{q}: {hit}")) {
                check_excerpt(&world, excerpt).await;
                excerpts += 1;
            }
        }
    }
    assert!(excerpts > 60, "{excerpts}");
}

async fn check_excerpt(world: &World, excerpt: &Value) {
    let read = &excerpt["read"];
    let path = world.path(&format!(
        "{}?field={}&connection_id={}&offset_chars={}&limit_chars={}",
        read["route"].as_str().unwrap(),
        read["field"].as_str().unwrap(),
        read["connection_id"].as_str().unwrap(),
        read["offset_chars"],
        read["limit_chars"],
    ));
    let window = &world.get("client", &path).await.json()["window"];
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let (start, end) = (number(&excerpt["start_chars"]), number(&excerpt["end_chars"]));
    let text: Vec<char> = window["text"].as_str().unwrap().chars().collect();
    let offset = number(&window["start_chars"]);
    assert!(offset <= start && end <= offset + text.len(), "the window does not hold the preview: {excerpt}");
    let cut = |from: usize, to: usize| text[from - offset..to - offset].iter().collect::<String>();
    let preview = excerpt["preview_text"].as_str().unwrap();
    let bare = preview.replace("<mark>", "").replace("</mark>", "");
    let bare = bare.strip_prefix('…').filter(|_| start > 0).unwrap_or(&bare);
    let total = number(&excerpt["total_chars"]);
    let bare = bare.strip_suffix('…').filter(|_| end < total).unwrap_or(bare);
    assert_eq!(bare, cut(start, end), "{excerpt}");
    assert_eq!(excerpt["truncated"], json!((start, end) != (0, total)));
    assert!(!excerpt["match"].as_array().unwrap().is_empty());
    for found in excerpt["match"].as_array().unwrap() {
        let (from, to) = (number(&found["start_chars"]), number(&found["end_chars"]));
        assert!(start <= from && from < to && to <= end, "{excerpt}");
        assert!(preview.contains(&format!("<mark>{}</mark>", cut(from, to))), "{excerpt}");
    }
}

#[tokio::test]
async fn words_can_be_required_excluded_quoted_and_begun() {
    let world = world().await;
    for (q, expected) in [
        ("\"third flowerpot\"", vec!["x_long"]),
        ("+minutes", vec!["x_blob"]),
        ("flowerp*", vec!["x_long"]),
        ("flowrpot", vec!["x_long"]),
        ("\"left again\" -שלום", vec![]),
        ("anna -message", vec![]),
    ] {
        assert_eq!(keys(&world, "client", &search(q, "&streams=messages")).await, expected, "{q}");
    }
    let with = keys(&world, "client", &search("tomatoes +ben", "")).await;
    assert!(!with.is_empty());
    let body = world.get("client", &search("flowrpot", "")).await.json();
    assert_eq!(body["meta"]["corrected"], json!([{"typed": "flowrpot", "used": "flowerpot"}]));
}

#[tokio::test]
async fn nothing_typed_is_an_error_unless_there_is_nothing() {
    let world = world().await;
    for q in ["", "%20", "%20%09"] {
        assert_eq!(world.verdict("client", &format!("/v1/search?q={q}")).await, "400 invalid_request (q)");
    }
    assert_eq!(world.verdict("client", "/v1/search").await, "400 invalid_request (q)");
    let long = "word".repeat(1_500);
    for q in [
        "???",
        "the",
        "the of and",
        "\"\"\"\"",
        "-",
        "+",
        "*",
        "((((((",
        "a\u{7}b",
        "(a+)+$",
        "from:ben AND",
        &long,
    ] {
        let answer = world.get("client", &search(q, "")).await;
        assert_eq!(answer.verdict(), "200 ok", "{q:.20}");
    }
    let endless = search(&"word ".repeat(4_000), "");
    assert_eq!(world.verdict("client", &endless).await, "413 resource_limit");
    let body = world.get("client", &search(&long, "")).await.json();
    assert_eq!(body["meta"]["ignored"][0]["reason"], "only the first 4,096 characters were read");
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_the_reason() {
    let world = world().await;
    for (rest, verdict) in [
        ("&streams=channels", "403 grant_stream_not_allowed (streams)"),
        ("&limit=0", "400 invalid_request (limit)"),
        ("&excerpts=4", "400 invalid_request (excerpts)"),
        ("&order=oldest", "400 invalid_request (order)"),
        ("&since=yesterday", "400 invalid_request (since)"),
        ("&filter[author]=ben", "400 invalid_request (streams)"),
        ("&streams=messages&filter[stars]=1", "403 field_not_granted (filter)"),
        ("&streams=messages&filter[nothing]=1", "400 unknown_field (filter)"),
        ("&cursor=forged", "400 invalid_cursor (cursor)"),
        ("&connection_id=cin_nowhere", "404 connection_not_found (connection_id)"),
        ("&connector_id=chat", "400 invalid_request (connector_id)"),
        ("&fields=text", "400 invalid_request (fields)"),
        ("&explain=true", "403 permission_error (explain)"),
    ] {
        assert_eq!(world.verdict("client", &search("tomatoes", rest)).await, verdict, "{rest}");
    }
}

#[tokio::test]
async fn a_search_is_narrowed_by_stream_time_and_filter() {
    let world = world().await;
    let all = keys(&world, "client", &search("tomatoes", "&limit=100")).await;
    assert_eq!(all.len(), 1, "the grant begins on 10 January: {all:?}");
    let owned = keys(&world, "owner", &search("tomatoes", "&limit=100")).await;
    assert!(owned.len() > 5, "{owned:?}");
    let filtered = keys(
        &world,
        "owner",
        &search("tomatoes", "&streams=messages&connection_id=HOME&filter[author]=anna")
            .replace("HOME", world.loaded.home.as_str()),
    )
    .await;
    assert_eq!(filtered[..2], ["m_12", "m_00"], "{filtered:?}");
    assert!(!filtered.contains(&"m_08".to_owned()), "another author's: {filtered:?}");
    let newest = keys(&world, "owner", &search("asks", "&order=newest&limit=3")).await;
    assert_eq!(newest, ["m_23", "m_22", "m_21"]);
    let until = keys(&world, "owner", &search("asks", "&until=2026-01-02&limit=100")).await;
    assert_eq!(until.len(), 2, "{until:?}");
    let body = world.get("client", &search("bread", "&since=2026-01-01")).await.json();
    assert_eq!(body["meta"]["warnings"][0]["code"], "source_skipped_not_applicable", "{body}");
}

#[tokio::test]
async fn pages_join_and_belong_to_their_question() {
    let world = world().await;
    let whole = keys(&world, "client", &search("asks page bread", "&limit=100")).await;
    assert!(whole.len() > 8);
    let (mut joined, mut path) = (Vec::new(), search("asks page bread", "&limit=3"));
    loop {
        let body = world.get("client", &path).await.json();
        joined.extend(
            body["data"].as_array().unwrap().iter().map(|hit| hit["record_key"].as_str().unwrap().to_owned()),
        );
        assert_eq!(body["meta"]["count"], whole.len());
        let Some(next) = body["links"]["next"].as_str() else { break };
        path = next.to_owned();
    }
    assert_eq!(joined, whole);
    let body = world.get("client", &search("asks page bread", "&limit=3")).await.json();
    let cursor = format!("&limit=3&cursor={}", body["next_cursor"].as_str().unwrap());
    assert_eq!(world.verdict("client", &search("asks page bread", &cursor)).await, "200 ok");
    assert_eq!(world.verdict("client", &search("asks page", &cursor)).await, "400 invalid_cursor (cursor)");
    let narrower =
        grant(&world.catalogue.sources[1]).id("grt_other").stream("notes", &["id", "body"]).build();
    world.admit("other", client(&[narrower]));
    assert_eq!(
        world.verdict("other", &search("asks page bread", &cursor)).await,
        "400 invalid_cursor (cursor)"
    );
}

#[tokio::test]
async fn a_search_is_over_after_a_while() {
    let clock = Arc::new(FixedClock::default());
    let world = World::with(|state| {
        let engine = SearchEngine::open(Place::Memory, state.store.clone()).unwrap();
        state.search = SearchModes { lexical: Some(Arc::new(engine)), ..SearchModes::default() };
        state.clock = clock.clone();
    })
    .await;
    let body = world.get("client", &search("asks", "&limit=2")).await.json();
    let path = search("asks", &format!("&limit=2&cursor={}", body["next_cursor"].as_str().unwrap()));
    clock.advance_seconds(299);
    assert_eq!(world.verdict("client", &path).await, "200 ok");
    clock.advance_seconds(60);
    let refused = world.get("client", &path).await;
    assert_eq!(refused.verdict(), "400 invalid_cursor (cursor)");
    assert_eq!(refused.json()["error"]["message"], "This search is over; repeat it without `cursor`.");
}

#[tokio::test]
async fn what_was_acknowledged_is_found_by_the_next_search() {
    let world = world().await;
    assert!(keys(&world, "owner", &search("quokka", "")).await.is_empty());
    let line = |op: &str| {
        let data = json!({"id": "m_new", "author": "ben", "text": "A quokka in the garden", "sent_at": "2026-02-02T00:00:00Z"});
        json!({"key": "m_new", "data": data, "emitted_at": "2026-02-02T00:00:00Z", "op": op}).to_string()
    };
    let path = world.path("/v1/ingest/messages?connector_id=chat&connection_id=HOME");
    assert_eq!(world.ask("owner", "POST", &path, line("upsert")).await.status, 200);
    assert_eq!(keys(&world, "client", &search("quokka", "")).await, ["m_new"]);
    let deletion = world.path("/v1/streams/messages/records?connector_id=chat&connection_id=HOME");
    assert_eq!(world.ask("owner", "DELETE", &deletion, "").await.status, 204);
    assert!(keys(&world, "client", &search("quokka", "")).await.is_empty());
}

#[tokio::test]
async fn modes_without_a_model_say_so() {
    let world = world().await;
    for mode in ["semantic", "hybrid"] {
        let verdict = world.verdict("client", &format!("/v1/search/{mode}?q=boats")).await;
        assert_eq!(verdict, "404 mode_not_available");
    }
    let document = world.get("", "/.well-known/oauth-protected-resource").await.json();
    assert_eq!(document["capabilities"]["lexical_retrieval"]["supported"], true);
    assert_eq!(document["capabilities"]["semantic_retrieval"]["supported"], false);
    assert_eq!(document["pdpp_discovery_hints"]["search"]["endpoint"], "/v1/search");
    let without = World::new().await;
    assert_eq!(without.verdict("client", "/v1/search?q=boats").await, "404 mode_not_available");
}

#[tokio::test]
async fn the_owner_may_ask_why() {
    let world = world().await;
    let body = world.get("owner", &search("bread boats", "&explain=true&limit=1")).await.json();
    let why = &body["data"][0]["explanation"];
    assert!(why.is_object(), "{body}");
    assert!(why.to_string().contains("bread"), "{why}");
}

#[tokio::test]
async fn the_ledger_says_what_was_looked_for_and_shown() {
    let world = world().await;
    world.get("client", &search("flowerpot", "&limit=1")).await;
    let ledger = world.ledger().await;
    let entry: Value = serde_json::from_str(ledger.lines().next().unwrap()).unwrap();
    assert_eq!(entry["action"], "search");
    assert_eq!(entry["query"], "flowerpot");
    assert_eq!(entry["record_keys"], json!(["x_long"]));
}

/// While somebody else writes the index and does not come to an end, what was found is shown, and nothing is called exact.
#[tokio::test]
async fn a_search_of_an_index_that_is_behind_says_so_and_counts_nothing_exactly() {
    let place = tempfile::tempdir().unwrap();
    let world = World::with(|state| {
        let engine = SearchEngine::open(Place::Directory(place.path().to_owned()), state.store.clone());
        state.search = SearchModes { lexical: Some(Arc::new(engine.unwrap())), ..SearchModes::default() };
    })
    .await;
    let question = search("Where is the key to the house?", "");
    let before = world.get("owner", &question).await.json()["meta"].take();
    assert_eq!((&before["index"]["state"], &before["count_accuracy"]), (&json!("current"), &json!("exact")));

    let locked = place.path().join(".tantivy-writer.lock");
    let writer = std::fs::File::options().write(true).open(locked).unwrap();
    writer.lock().unwrap();
    let line = r#"{"key":"n_90","data":{"id":"n_90","title":"The key of the house"}}"#;
    let taken = world.ask("owner", "POST", "/v1/ingest/notes?connector_id=notes", line.to_owned()).await;
    assert_eq!(taken.status, 200);
    let behind = world.get("owner", &question).await.json()["meta"].take();
    assert_eq!(
        (&behind["index"]["state"], &behind["count_accuracy"], &behind["count"]),
        (&json!("behind"), &json!("estimated"), &before["count"]),
    );
    assert_eq!(behind["recall"]["complete"], false);

    drop(writer);
    let after = world.get("owner", &question).await.json()["meta"].take();
    assert_eq!((&after["index"]["state"], &after["count_accuracy"]), (&json!("current"), &json!("exact")));
    assert_eq!(after["count"].as_u64(), before["count"].as_u64().map(|count| count + 1));
}

/// What the owner is shown of one record for `q`, as many places as there may be: fields, previews and matched words.
async fn places(world: &World, q: &str) -> Vec<(String, String)> {
    let body = world.get("owner", &search(q, "&excerpts=3")).await.json();
    let hits = body["data"].as_array().unwrap();
    assert_eq!(hits.len(), 1, "{q}: {body}");
    let excerpts = hits[0]["evidence_excerpts"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    excerpts.map(|excerpt| (text(&excerpt["field_path"]), text(&excerpt["preview_text"]))).collect()
}

async fn put_note(world: &World, key: &str, body: &str) {
    let line = json!({"key": key, "data": {"id": key, "title": key, "body": body}}).to_string();
    let answer = world.ask("owner", "POST", "/v1/ingest/notes?connector_id=notes", line).await;
    assert_eq!(answer.verdict(), "200 ok");
}

/// S1-R5-S1: a place that two passages share is shown once, and what else there is after it.
#[tokio::test]
async fn no_place_is_shown_twice() {
    let world = world().await;
    let rain = |times: usize| "Rain on the roof, nobody at the door. ".repeat(times);
    let once = format!("{}A wombat sleeps here. {}", rain(29), rain(20));
    put_note(&world, "n_once", &once).await;
    let shown = places(&world, "wombat").await;
    assert_eq!(shown.len(), 1, "{shown:?}");
    let (early, late) = (rain(28), format!("{}The numbat wakes. {}", rain(12), rain(10)));
    let twice = format!("It dozes, dozes, dozes and dozes. {early}A numbat dozes here. {late}");
    put_note(&world, "n_twice", &twice).await;
    let shown = places(&world, "numbat dozes").await;
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].1.contains("A <mark>numbat</mark> <mark>dozes</mark> here"), "{shown:?}");
    assert!(shown[1].1.contains("The <mark>numbat</mark> wakes"), "{shown:?}");
}

/// S1-R5-S1: of a list, each element that matches is shown under its own name.
#[tokio::test]
async fn the_elements_of_a_list_are_shown_once_each() {
    let world = world().await;
    let manifest = pdpp_wire::manifest::Manifest::parse(
        &json!({
            "protocol_version": "0.1.0", "connector_key": "fleet", "version": "1", "display_name": "Fleet",
            "streams": [{
                "name": "yards", "semantics": "mutable_state", "primary_key": ["id"],
                "selection": {"fields": true, "resources": true},
                "schema": {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "string"}, "lines": {"type": "array"},
                }},
                "query": {"search": {"lexical_fields": ["lines.words"]}},
            }],
        })
        .to_string(),
    )
    .unwrap();
    let owner = &world.loaded.subject_id;
    world.store.put_manifest(owner, &manifest, pdpp_store::OnConflict::Refuse).await.unwrap();
    world.store.create_connection(owner, manifest.key(), Some("Fleet")).await.unwrap();
    let lines = json!([{"words": "trimaran one"}, {"words": "trimaran two"}, {"words": "trimaran three"}]);
    let line = json!({"key": "y", "data": {"id": "y", "lines": lines}}).to_string();
    let taken = world.ask("owner", "POST", "/v1/ingest/yards?connector_id=fleet", line).await;
    assert_eq!(taken.verdict(), "200 ok");
    let mut shown: Vec<_> = places(&world, "trimaran").await.into_iter().map(|(field, _)| field).collect();
    shown.sort();
    let each = ["lines.0.words", "lines.1.words", "lines.2.words"];
    assert_eq!(shown, each);
    let one = world.get("owner", &search("trimaran", "")).await.json();
    assert_eq!(one["data"][0]["matched_fields"], json!(each));
}

/// S1-R5-S1: what is shown for a phrase or an address is its own place, and the read that goes on opens there.
#[tokio::test]
async fn a_phrase_is_shown_where_it_stands() {
    let world = world().await;
    let far = "Nothing worth a word. ".repeat(40);
    put_note(&world, "n_report", &format!("The yearbook is attached. {far}Here is the annual yearbook."))
        .await;
    put_note(&world, "n_mail", &format!("An example of it. {far}Write to quokka@example.org today.")).await;
    for (q, marked) in [
        ("\"the annual yearbook\"", "<mark>the annual yearbook</mark>"),
        ("quokka@example.org", "<mark>quokka@example.org</mark>"),
    ] {
        let shown = places(&world, q).await;
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert!(shown[0].1.contains(marked), "{shown:?}");
        assert_eq!(shown[0].1.matches("<mark>").count(), 1, "{shown:?}");
        let body = world.get("owner", &search(q, "")).await.json();
        let excerpt = &body["data"][0]["evidence_excerpts"][0];
        let read = &excerpt["read"];
        let path = format!(
            "{}?field=body&connection_id={}&offset_chars={}",
            read["route"].as_str().unwrap(),
            read["connection_id"].as_str().unwrap(),
            read["offset_chars"],
        );
        let window = world.get("owner", &world.path(&path)).await.json();
        let bare = marked.replace("<mark>", "").replace("</mark>", "");
        assert!(window["window"]["text"].as_str().unwrap().contains(&bare), "{window}");
    }
}
