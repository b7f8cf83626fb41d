//! Bodies in the shapes of the specification parse and come out again unchanged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use pdpp_wire::{
    Aggregation, BlobReceipt, CompactSchema, DiscoveryIndex, ErrorEnvelope, FieldWindowBody, IngestReceipt,
    List, RecordBody, RecordEntry, StreamItem, StreamMetadata, StreamState,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

#[track_caller]
fn round_trip<T: DeserializeOwned + Serialize>(text: &str) {
    let parsed: T = serde_json::from_str(text).unwrap();
    let again: Value = serde_json::to_value(&parsed).unwrap();
    assert_eq!(again, serde_json::from_str::<Value>(text).unwrap());
}

#[test]
fn bodies_survive_a_round_trip() {
    round_trip::<List<RecordEntry>>(include_str!("golden/records.json"));
    round_trip::<RecordBody>(include_str!("golden/record.json"));
    round_trip::<List<StreamItem>>(include_str!("golden/streams.json"));
    round_trip::<StreamMetadata>(include_str!("golden/stream_metadata.json"));
    round_trip::<CompactSchema>(include_str!("golden/compact_schema.json"));
    round_trip::<FieldWindowBody>(include_str!("golden/field_window.json"));
    round_trip::<Aggregation>(include_str!("golden/aggregation_grouped.json"));
    round_trip::<Aggregation>(include_str!("golden/aggregation_value.json"));
    round_trip::<IngestReceipt>(include_str!("golden/ingest_receipt.json"));
    round_trip::<StreamState>(include_str!("golden/stream_state.json"));
    round_trip::<DiscoveryIndex>(include_str!("golden/discovery_index.json"));
    round_trip::<BlobReceipt>(include_str!("golden/blob_receipt.json"));
    round_trip::<ErrorEnvelope>(include_str!("golden/error.json"));
}

#[test]
fn payloads_keep_their_own_spelling() {
    let text = include_str!("golden/records.json");
    let page: List<RecordEntry> = serde_json::from_str(text).unwrap();
    let RecordEntry::Live(record) = &page.data[0] else { panic!("the first entry is live") };
    assert_eq!(record.data.get(), r#"{ "id": "l_31", "title": "Rent", "pages": 1.50, "tags": [] }"#);
}

#[test]
fn literal_members_refuse_another_word() {
    let text = include_str!("golden/streams.json").replacen("\"list\"", "\"page\"", 1);
    assert!(serde_json::from_str::<List<StreamItem>>(&text).is_err());
}
