//! The chat: two connections of one connector, with the texts that break careless readers.

use pdpp_wire::{BlobId, manifest::Manifest};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::SampleRecord;

/// The bytes behind the sample's one blob.
pub const BLOB: &[u8] = b"Minutes of the harbour meeting\n\n1. Tides\n2. Ropes\n";

/// The chat's manifest.
pub fn manifest() -> Manifest {
    Manifest::parse(include_str!("chat.json")).expect("the sample manifest is valid")
}

/// The id of [`BLOB`].
pub fn blob_id() -> BlobId {
    BlobId::of_sha256(&Sha256::digest(BLOB).into())
}

/// The records of the connection called `Home`.
pub fn home() -> Vec<SampleRecord> {
    let mut records = vec![
        channel("c_garden", "garden", Some("Tomatoes and tools"), "2025-11-02T08:00:00Z"),
        channel("c_harbour", "harbour", None, "2025-12-01T08:00:00Z"),
        SampleRecord::new(
            "pins",
            json!({"id": "p_1", "channel_id": "c_harbour", "note": "Ropes before tides."}),
            "2025-12-02T08:00:00Z",
        ),
    ];
    records.extend(messages());
    records.extend(attachments());
    records
}

/// The records of the connection called `Work`: ids that also occur at home, with other contents.
pub fn work() -> Vec<SampleRecord> {
    let mut records = vec![channel("c_garden", "garden (work)", None, "2026-01-05T08:00:00Z")];
    records.extend((0..8).map(|n| {
        let sent_at = format!("2026-01-{:02}T09:30:00Z", 5 + n);
        let text = format!("Stand-up {n}: nothing blocks, the release moves on.");
        let author = ["mira", "noor"][n % 2];
        message(&format!("w_{n:02}"), json!({"author": author, "text": text, "sent_at": sent_at, "stars": n}))
    }));
    records.push(message(
        "m_00",
        json!({"author": "mira", "text": "Same key as at home, other words.", "sent_at": "2026-01-04T09:30:00Z"}),
    ));
    records
}

fn channel(id: &str, name: &str, topic: Option<&str>, created_at: &str) -> SampleRecord {
    let data = json!({"id": id, "name": name, "topic": topic, "archived": false, "created_at": created_at});
    SampleRecord::new("channels", data, created_at)
}

/// A message in the garden channel, with these members beside or instead of the usual ones.
fn message(id: &str, members: Value) -> SampleRecord {
    let mut data = json!({"id": id, "channel_id": "c_garden"});
    if let (Value::Object(data), Value::Object(members)) = (&mut data, members) {
        data.extend(members);
    }
    let sent_at = data.get("sent_at").and_then(Value::as_str).unwrap_or("2026-02-20T00:00:00Z").to_owned();
    SampleRecord::new("messages", data, &sent_at)
}

fn messages() -> Vec<SampleRecord> {
    let mut messages: Vec<_> = (0..24).map(everyday).collect();
    messages.extend(difficult());
    messages
}

/// Plain talk, two messages a day, some fields present only sometimes.
fn everyday(n: u8) -> SampleRecord {
    let author = ["anna", "ben", "chloë"][usize::from(n % 3)];
    let subject = ["tomatoes", "a spade", "the hose", "seed prices"][usize::from(n % 4)];
    let mut members = json!({
        "channel_id": if n % 4 == 3 { "c_harbour" } else { "c_garden" },
        "author": author,
        "text": format!("{author} asks about {subject}, message number {n}."),
        "sent_at": format!("2026-01-{:02}T{:02}:15:00Z", 1 + n / 2, 8 + 9 * (n % 2)),
        "stars": n % 5,
        "tags": [subject],
    });
    if n.is_multiple_of(2) {
        members["weight"] = json!(f64::from(n) / 4.0);
        members["edited"] = json!(n.is_multiple_of(4));
    }
    message(&format!("m_{n:02}"), members)
}

/// Texts whose characters, length, direction or absence need care.
fn difficult() -> Vec<SampleRecord> {
    let one = |id: &str, author: &str, sent_at: Option<&str>, text: String| {
        message(id, json!({"author": author, "text": text, "sent_at": sent_at}))
    };
    let day = |time: &str| format!("2026-02-01T{time}Z");
    vec![
        one(
            "x_emoji",
            "anna",
            Some(&day("08:00:00")),
            "Family 👩‍👩‍👧‍👦 at the 🏖️, flag 🇩🇪, thumbs 👍🏽 — done.".to_owned(),
        ),
        one(
            "x_marks",
            "ben",
            Some(&day("08:01:00")),
            "Cafe\u{301} Zu\u{308}rich, resume\u{301} attached.".to_owned(),
        ),
        one("x_rtl", "chloë", Some(&day("08:02:00")), "שלום עולם, مرحبا بالعالم and left again.".to_owned()),
        one(
            "x_cjk",
            "anna",
            Some(&day("08:03:00")),
            "港の会議は明日の午後です。潮とロープについて話しましょう。".to_owned(),
        ),
        one("x_long", "ben", Some(&day("08:04:00")), long_text()),
        one("x_base64", "ben", Some(&day("08:05:00")), base64_text()),
        one(
            "x_controls",
            "chloë",
            Some(&day("08:06:00")),
            "bell \u{7}, bidi \u{202e}evil\u{202c}, zero\u{200b}width".to_owned(),
        ),
        one("x_no_time", "anna", None, "Written nobody knows when.".to_owned()),
        message("x_bare", json!({})),
        message(
            "x_null_time",
            json!({"author": "ben", "sent_at": null, "text": "Null is a time that is missing."}),
        ),
        message(
            "x_nested",
            json!({"author": "anna", "sent_at": day("08:07:00"), "text": "See the meta.", "stars": -3, "weight": 2.5,
                "meta": {"reply_to": {"id": "m_03", "quote": "a spade"}, "client": ["ios", 17], "a.b": "literal"}}),
        ),
        message(
            "x_blob",
            json!({"author": "ben", "sent_at": day("08:08:00"), "text": "The minutes.", "blob_ref": blob_ref()}),
        ),
    ]
}

fn attachments() -> Vec<SampleRecord> {
    let one = |id: &str, data: Value| {
        let mut whole = json!({"id": id});
        if let (Value::Object(whole), Value::Object(data)) = (&mut whole, data) {
            whole.extend(data);
        }
        SampleRecord::new("attachments", whole, "2026-02-01T09:00:00Z")
    };
    vec![
        one("a_1", json!({"message_id": "x_blob", "name": "minutes.txt", "blob_ref": blob_ref()})),
        one("a_2", json!({"message_id": "m_00", "name": "photo.jpg", "content": base64_text()})),
        one("a_3", json!({"message_id": "m_00", "name": "list.txt", "content": "spade, hose, seeds"})),
    ]
}

fn blob_ref() -> Value {
    let blob_id = blob_id();
    json!({"blob_id": blob_id, "mime_type": "text/plain", "size_bytes": BLOB.len(), "sha256": blob_id.sha256_hex()})
}

/// 20,000 characters, with one sentence worth finding in the middle.
fn long_text() -> String {
    let needle = "The key lies under the third flowerpot.";
    let filler = "Rain on the roof, wind in the ropes, and nobody at the door. ";
    let before: String = filler.chars().cycle().take(10_000).collect();
    let after: String = filler.chars().cycle().take(10_000 - needle.len()).collect();
    format!("{before}{needle}{after}")
}

/// What a picture pasted as text looks like.
fn base64_text() -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |n: usize| char::from(alphabet[(n * n * 7 + n * 13 + n / 64) % 64]);
    (0..4_096).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_admitted_by_its_stream() {
        let manifest = manifest();
        for record in home().iter().chain(&work()) {
            record.admit(&manifest);
        }
    }

    #[test]
    fn the_long_text_has_twenty_thousand_characters() {
        assert_eq!(long_text().chars().count(), 20_000);
    }
}
