//! Archives of chat messages from a fixed seed, loaded through the router as any client would.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use pdpp_wire::SubjectId;
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

use crate::node::Node;

/// Lines in one request.
const LINES: usize = 5_000;
/// Records of an owner with a small archive.
const FEW: usize = 20;
/// Owners made at the same time.
const AT_ONCE: usize = 8;
pub(crate) const AUTHORS: usize = 200;

/// How many records an archive has.
#[derive(Clone, Copy)]
pub(crate) struct Size(pub(crate) usize);

const WORDS: [&str; 16] = [
    "harbour", "lantern", "berth", "choir", "tide", "crane", "ferry", "garden", "orchard", "winter",
    "letter", "market", "bridge", "copper", "violet", "anchor",
];

/// Loads an archive for an owner; gives their token and how long it took.
pub(crate) async fn load(node: &Node, owner: &str, size: Size) -> (String, Duration) {
    let token = make_owner(node, owner).await;
    let started = Instant::now();
    for start in (0..size.0).step_by(LINES) {
        let lines = lines(start..(start + LINES).min(size.0));
        let accepted = node.ask_json(&token, "/v1/ingest/messages?connector_id=bench", Some(lines)).await;
        assert_eq!(accepted["records_rejected"], json!(0), "{accepted}");
    }
    (token, started.elapsed())
}

/// Owners with small archives.
pub(crate) async fn load_many(node: &Node, numbers: Range<usize>) {
    let names: Vec<String> = numbers.map(|number| format!("small{number}")).collect();
    for together in names.chunks(AT_ONCE) {
        let loads = together.iter().map(|name| load(node, name, Size(FEW)));
        futures_util::future::join_all(loads).await;
    }
}

/// A token of an owner who has an archive.
pub(crate) async fn token(node: &Node, owner: &str) -> String {
    let (personal, subject) = (&node.personal, SubjectId::parse(owner).expect("a plain name"));
    let expires = personal.clock().now().plus_seconds(86_400);
    let token = personal.authority().owner_token(&subject, Some(expires)).await.expect("an owner token");
    token.access_token.reveal().to_owned()
}

async fn make_owner(node: &Node, owner: &str) -> String {
    let manifest = Manifest::from_document(manifest()).expect("the manifest is valid");
    let (store, subject) = (node.personal.store(), SubjectId::parse(owner).expect("a plain name"));
    store.create_subject(&subject).await.expect("an owner");
    store.put_manifest(&subject, &manifest, pdpp_store::OnConflict::Refuse).await.expect("registered");
    store.create_connection(&subject, manifest.key(), None).await.expect("connected");
    token(node, owner).await
}

fn lines(range: Range<usize>) -> String {
    let mut text = String::new();
    for number in range {
        let at = pdpp_wire::Instant::from_micros(1_600_000_000_000_000)
            .plus_seconds(i64::try_from(number * 90).unwrap_or(0));
        let words: Vec<&str> =
            (0..12 + number % 20).map(|turn| WORDS[(number * 7 + turn * turn * 3) % WORDS.len()]).collect();
        let line = json!({"key": format!("m_{number:07}"), "emitted_at": "2026-01-01T00:00:00Z", "data": {
            "id": format!("m_{number:07}"), "author": format!("author_{}", number * 37 % AUTHORS),
            "channel": format!("channel_{}", number % 40), "text": format!("{} rare{}", words.join(" "), number % 5_000),
            "stars": number % 6, "sent_at": at.to_rfc3339()}});
        let _ = writeln!(text, "{line}");
    }
    text
}

fn manifest() -> Value {
    json!({"connector_key": "bench", "streams": [{
        "name": "messages", "semantics": "mutable_state", "primary_key": ["id"], "cursor_field": "sent_at",
        "consent_time_field": "sent_at", "selection": {"fields": true, "resources": true},
        "schema": {"type": "object", "required": ["id"], "properties": {
            "id": {"type": "string"}, "author": {"type": "string", "x_pdpp_role": "actor"},
            "channel": {"type": "string", "x_pdpp_role": "thread"},
            "text": {"type": "string", "x_pdpp_role": "body"}, "stars": {"type": "integer"},
            "sent_at": {"type": "string", "format": "date-time"}}},
        "query": {"search": {"lexical_fields": ["text"]}, "range_filters": {"sent_at": ["gte", "lt"]},
            "aggregations": {"count": true, "group_by": ["author"], "sum": ["stars"]}}}]})
}
