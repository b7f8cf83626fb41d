//! Whoever follows the calls that documents print sees every field of the record, and comes to an end.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::budget::tokens;
use crate::samples::PROSE;
use crate::support::{Fake, Host, Reply, Seen};

/// What a window shows of this field.
fn window(seen: &Seen, value: &Value) -> Reply {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let number = |name: &str, default: usize| seen.param(name).map_or(default, |it| it.parse().unwrap());
    let total = text.chars().count();
    let (start, limit) = (number("offset_chars", 0).min(total), number("limit_chars", 4_096));
    let end = (start + limit).min(total);
    let shown: String = text.chars().skip(start).take(end - start).collect();
    Reply::json(&json!({"object": "field_window", "field": {"path": seen.param("field"), "type": "string"},
        "window": {"text": shown, "start_chars": start, "end_chars": end, "total_chars": total, "limit_chars": limit,
            "complete": end - start == total, "has_more": end < total, "match_start_chars": null,
            "match_end_chars": null, "next_offset_chars": (end < total).then_some(end),
            "previous_offset_chars": null}}))
}

/// A server with one record, which projects and cuts windows as ours does: a list of fields is taken apart at commas.
async fn server(stored: Value, connection: Option<&'static str>) -> Fake {
    Fake::start(move |seen| {
        if seen.path == "/v1/schema" {
            return Reply::json(&json!({"connectors": [{"streams": [{"name": "messages"}]}]}));
        }
        let stored = stored.as_object().unwrap();
        if seen.path.ends_with("/field-window") {
            return window(seen, &stored[seen.param("field").unwrap()]);
        }
        let fields = seen.params("fields");
        let wanted: Vec<&str> = fields.iter().flat_map(|list| list.split(',')).map(str::trim).collect();
        let kept = stored.iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(&name.as_str()));
        let data: Map<_, _> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut record = json!({"object": "record", "id": "m1", "stream": "messages", "data": data});
        if let Some(connection) = connection {
            record["connection_id"] = connection.into();
        }
        Reply::json(&record)
    })
    .await
}

/// Someone who sees text, and calls what it prints.
struct Reader {
    host: Host,
    stored: Value,
    /// What was seen whole.
    seen: BTreeMap<String, Value>,
    /// What no tool shows, with the request for it.
    exported: Vec<String>,
    made: Vec<Value>,
    next: Vec<Value>,
}

impl Reader {
    async fn of(stored: &Value, connection: Option<&'static str>) -> Self {
        let fake = server(stored.clone(), connection).await;
        let host = Host::connect(&fake).await;
        let id = connection.map_or("messages:m1".to_owned(), |id| format!("{id}/messages:m1"));
        let next = vec![json!({"tool": "fetch", "args": {"id": id}})];
        Self {
            host,
            stored: stored.clone(),
            seen: BTreeMap::new(),
            exported: Vec::new(),
            made: Vec::new(),
            next,
        }
    }

    /// As if these fields had been asked for first.
    fn asking(mut self, fields: &[&str]) -> Self {
        self.next[0]["args"]["fields"] = json!(fields);
        self
    }

    /// Follows every printed call.
    async fn read(mut self) -> Self {
        while let Some(call) = self.next.pop() {
            if self.made.contains(&call) {
                continue;
            }
            self.made.push(call.clone());
            assert!(self.made.len() < 100, "the calls come to an end");
            match call["tool"].as_str().unwrap() {
                "fetch" => self.document(&call).await,
                "read_record_field" => self.field(&call).await,
                _ => {}
            }
        }
        self
    }

    async fn document(&mut self, call: &Value) {
        let result = self.host.call("fetch", call["args"].clone()).await;
        assert!(!result.is_error, "{call}: {}", result.text);
        assert!(tokens(&result.raw.to_string()) <= 9_000, "{call}");
        let document: Value = serde_json::from_str(&result.text).unwrap();
        let metadata = &document["metadata"];
        let text = document["text"].as_str().unwrap();
        let as_json = serde_json::from_str::<Value>(text).unwrap_or_default();
        let shows = |name: &str, value: &Value| {
            let member = serde_json::to_string_pretty(&json!({ name: value })).unwrap();
            as_json.get(name) == Some(value) || text.contains(&member[2..member.len() - 2])
        };
        for (name, value) in self.stored.as_object().unwrap() {
            let as_text = value.as_str().is_some_and(|it| it == text || document["title"] == it);
            if as_text || shows(name, value) || metadata["fields"].get(name) == Some(value) {
                self.seen.insert(name.clone(), value.clone());
            }
        }
        for printed in metadata["continuations"].as_array().into_iter().flatten() {
            assert_ne!(printed, call, "it leads back to itself");
            match printed["export"].as_str() {
                Some(request) => self.exported.push(request.to_owned()),
                None => self.next.push(printed.clone()),
            }
        }
        let ladder = &result.structured["content_ladder"];
        for kind in ["field_windows", "json_fields", "binary_fields"] {
            for field in ladder[kind].as_array().into_iter().flatten() {
                assert_ne!(&field["read"], call, "the ladder leads back to where it stands");
            }
        }
    }

    /// Reads on from one window to the last, as each says.
    async fn field(&mut self, call: &Value) {
        let name = call["args"]["field_path"].as_str().unwrap();
        let (mut text, mut args) = (String::new(), call["args"].clone());
        args["offset_chars"] = 0.into();
        loop {
            let result = self.host.call("read_record_field", args.clone()).await;
            assert!(!result.is_error, "{args}: {}", result.text);
            text.push_str(result.structured["window"]["text"].as_str().unwrap());
            match result.text.lines().find_map(|line| line.strip_prefix("next read_record_field args=")) {
                Some(next) => args = serde_json::from_str(next).unwrap(),
                None => break,
            }
        }
        let value = &self.stored[name];
        let whole = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(text, whole, "{name}");
        self.seen.insert(name.to_owned(), value.clone());
    }

    /// The fields that no call showed.
    fn unseen(&self) -> Vec<&String> {
        let stored = self.stored.as_object().unwrap();
        stored.keys().filter(|name| !self.seen.contains_key(*name)).collect()
    }
}

/// Structures of every size between what JSON over several lines and what JSON on one line have room for.
fn structures() -> Value {
    let mut data = json!({"later": vec![1; 150]});
    for n in (4..16).chain([18, 19, 20, 21, 40]) {
        data[format!("attendees{n}")] = vec![json!({"name": "Ana", "status": "accepted"}); n].into();
    }
    data
}

/// S3-R1-S1, S1-R4-S1: a text-only host follows what the document prints until it has seen every field.
#[tokio::test]
async fn every_field_is_reached_by_the_printed_calls() {
    let ordinary = json!({
        "title": "T", "text": "short", "summary": PROSE.repeat(8), "transcript": PROSE.repeat(90),
        "lines": (0..30).map(|n| json!({"sku": n})).collect::<Vec<_>>(),
        "address": {"street": PROSE.repeat(2), "zip": "1010"}, "tags": vec!["a tag of some length"; 14],
    });
    let mut many = json!({"title": format!("{}end", PROSE.repeat(3))});
    for n in 0..38 {
        many[format!("field{n}")] = format!("{n} {}", PROSE.repeat(1 + n % 15)).into();
    }
    let dense = json!({"ids": vec!["🦊🐻⽂\u{2f42}"; 190], "words": vec!["漢字\"\\"; 120], "text": "記録".repeat(9_000)});
    let hidden =
        json!({"text": "x", "metadata": {"rows": vec![json!({"a": PROSE}); 6], "more": vec![1; 300]}});
    for data in [ordinary, structures(), many, dense, hidden, json!({"only": vec!["a tag"; 100]})] {
        let reader = Reader::of(&data, Some("cin_a")).await.read().await;
        assert!(reader.unseen().is_empty(), "{:?} of {:?}", reader.unseen(), reader.made);
        assert!(reader.exported.is_empty());
    }
}

/// S1-R2, S1-R4-S1: of a name that cannot stand in a call, the document prints the request that hands out the value.
#[tokio::test]
async fn fields_with_hostile_names_are_reached_too() {
    let long = PROSE.repeat(60);
    let mut data = json!({"note": "x", "a/b": long, "c..d": [1, 2], "e/f": vec!["a tag"; 60], "g,h": vec!["a tag"; 60],
        "i,j": long, "k": long});
    let reader = Reader::of(&data, Some("cin_a")).await.read().await;
    assert_eq!(reader.unseen(), ["a/b"]);
    let export = "GET /v1/streams/messages/records/m1?fields=a%2Fb&connection_id=cin_a";
    assert!(reader.exported.iter().all(|request| request == export), "{:?}", reader.exported);
    assert!(!reader.exported.is_empty());
    // A name that acts unseen, and one without end.
    data["bo\u{202E}dy"] = long.clone().into();
    data["n".repeat(10_000)] = long.into();
    let reader = Reader::of(&data, Some("cin_a")).await.read().await;
    assert_eq!(reader.unseen().len(), 3);
    assert!(reader.exported.contains(&"GET /v1/streams/messages/records/m1?connection_id=cin_a".to_owned()));
}

/// S1-R2: where the server names no connection there are no windows, and no call leads in a circle.
#[tokio::test]
async fn without_a_connection_long_fields_are_exported() {
    let data = json!({"note": "x", "story": PROSE.repeat(60), "tags": vec!["a tag"; 60]});
    let reader = Reader::of(&data, None).await.read().await;
    assert_eq!(reader.unseen(), ["story"]);
    assert!(reader.exported.contains(&"GET /v1/streams/messages/records/m1?fields=story".to_owned()));
    assert!(reader.made.contains(&json!({"tool": "schema", "args": {"stream": "messages"}})));
}

/// S1-R2: a server that answers with all fields whatever was asked for does not lead in a circle either.
#[tokio::test]
async fn a_server_that_does_not_project_is_read_by_window() {
    let data = structures();
    let stored = data.clone();
    let reader = Reader::of(&data, Some("cin_a")).await;
    let fake = Fake::start(move |seen| match seen.param("field") {
        Some(field) => window(seen, &stored[field]),
        None => Reply::json(
            &json!({"object": "record", "id": "m1", "stream": "messages", "connection_id": "cin_a",
            "data": stored}),
        ),
    })
    .await;
    let reader = Reader { host: Host::connect(&fake).await, ..reader }.read().await;
    assert!(reader.unseen().is_empty(), "{:?} of {:?}", reader.unseen(), reader.made);
}

/// S1-R2, S3-R1-S1: several names in one word, as REST takes them, are as many fields.
#[tokio::test]
async fn fields_asked_for_in_one_word_are_reached_too() {
    let data: Map<String, Value> = ["a", "b", "c", "d", "e"]
        .into_iter()
        .map(|name| (name.to_owned(), PROSE.repeat(60).into()))
        .collect();
    let data = Value::from(data);
    for fields in [&["a,b,c,d,e"][..], &["a, b", "c,d ,e"]] {
        let reader = Reader::of(&data, Some("cin_a")).await.asking(fields).read().await;
        assert!(reader.unseen().is_empty(), "{:?} of {:?}", reader.unseen(), reader.made);
        assert!(reader.exported.is_empty());
    }
}

/// S1-R2: of long fields of which no fetch can be asked for, the first are read by window and the others exported.
#[tokio::test]
async fn long_fields_beyond_the_windows_are_exported() {
    let names = ["a,1", "b,2", "c,3", "d,4", "e,5"];
    let data: Map<String, Value> =
        names.into_iter().map(|name| (name.to_owned(), PROSE.repeat(60).into())).collect();
    let reader = Reader::of(&data.into(), Some("cin_a")).await.read().await;
    assert_eq!(reader.unseen(), ["d,4", "e,5"]);
    assert!(reader.exported.contains(&"GET /v1/streams/messages/records/m1?connection_id=cin_a".to_owned()));
}
