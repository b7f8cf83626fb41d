//! What the owner can later read about what was read.

use expect_test::expect;
use pdpp_store::StoreError;

use crate::world::World;

#[tokio::test]
async fn every_read_and_every_refusal_is_written_down_without_content() {
    let world = World::new().await;
    for path in [
        "/v1/schema?view=compact",
        "/v1/streams/messages/records?limit=2&fields=id,text&filter[author]=anna",
        "/v1/streams/messages/records/m_20?fields=author",
        "/v1/streams/messages/records/x_long/field-window?field=text&q=flowerpot&limit_chars=20",
        "/v1/streams/messages/aggregate?metric=count&group_by=author",
        "/v1/streams/channels/records",
        "/v1/streams/messages/records?fields=stars",
        "/v1/streams/messages/records?unheard_of=1",
    ] {
        world.get("client", path).await;
    }
    world.ask("client", "POST", "/v1/ingest/messages?connector_id=chat", "").await;
    expect![[r#"
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat","grt_notes"],"token_id":"tok_client","action":"ingest","refused":"permission_error","stream":"messages","record_count":0}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat","grt_notes"],"token_id":"tok_client","action":"records","refused":"invalid_request","stream":"messages","record_count":0}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat","grt_notes"],"token_id":"tok_client","action":"records","refused":"field_not_granted","stream":"messages","record_count":0}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat","grt_notes"],"token_id":"tok_client","action":"records","refused":"grant_stream_not_allowed","stream":"channels","record_count":0}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat"],"token_id":"tok_client","action":"aggregate","stream":"messages","connection_ids":["HOME"],"record_count":0,"fields":["author"]}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat"],"token_id":"tok_client","action":"field_window","stream":"messages","connection_ids":["HOME"],"record_count":1,"record_keys":["x_long"],"fields":["text"],"char_range":[10029,10049],"query":"flowerpot"}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat"],"token_id":"tok_client","action":"record","stream":"messages","connection_ids":["HOME"],"record_count":1,"record_keys":["m_20"],"fields":["author"]}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat"],"token_id":"tok_client","action":"records","stream":"messages","connection_ids":["HOME"],"record_count":2,"record_keys":["x_nested","x_cjk"],"fields":["id","text"],"filter_fields":["author"]}
        {"at":1772366400000000,"subject_id":"owner_local","request_id":"req_test","door":"rest","client_id":"assistant","grant_ids":["grt_chat","grt_notes"],"token_id":"tok_client","action":"schema","record_count":0}"#]].assert_eq(&world.ledger().await);
}

#[tokio::test]
async fn what_happens_before_authentication_is_not_a_disclosure() {
    let world = World::new().await;
    world.get("", "/v1/streams").await;
    world.get("unknown", "/v1/streams").await;
    world.get("", "/openapi.json").await;
    assert_eq!(world.ledger().await, "");
}

/// A ledger on a full disk.
struct Full;

#[async_trait::async_trait]
impl pdpp_store::Ledger for Full {
    async fn append_disclosures(&self, _: Vec<pdpp_store::Disclosure>) -> Result<(), StoreError> {
        Err(StoreError::Unwritable("no space left on /secret/disk".into()))
    }

    async fn list_disclosures(
        &self,
        _: &pdpp_wire::SubjectId,
        _: &pdpp_store::DisclosureFilter,
    ) -> Result<Vec<pdpp_store::Disclosure>, StoreError> {
        Ok(Vec::new())
    }

    async fn prune_disclosures(
        &self,
        _: &pdpp_wire::SubjectId,
        _: pdpp_wire::Instant,
    ) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[tokio::test]
async fn without_a_ledger_nothing_is_read() {
    let world = World::with(|state| state.ledger = std::sync::Arc::new(Full)).await;
    for path in ["/v1/streams/notes/records", "/v1/streams/channels/records", "/v1/schema"] {
        let answer = world.get("client", path).await;
        assert_eq!(answer.verdict(), "503 ledger_unavailable", "{path}");
        assert!(!answer.show().contains("secret"));
    }
}

#[tokio::test]
async fn a_caller_inside_the_process_stands_at_its_own_door() {
    let world = World::new().await;
    let mut request = crate::world::request("client", "GET", "/v1/connectors", axum::body::Body::empty());
    request.extensions_mut().insert(pdpp_store::Door::Mcp);
    world.send(request).await;
    assert!(world.ledger().await.contains(r#""door":"mcp""#));
}

#[tokio::test]
async fn attached_children_are_disclosures_of_their_own_stream() {
    let world = World::new().await;
    world.get("client", "/v1/streams/messages/records/x_blob?fields=id&expand=attachments").await;
    let entries = world.ledger().await;
    assert!(entries.contains(r#""stream":"messages","connection_ids":["HOME"],"record_count":1,"record_keys":["x_blob"],"fields":["id"]"#));
    assert!(entries.contains(r#""stream":"attachments","connection_ids":["HOME"],"record_count":1,"record_keys":["a_1"],"fields":["id","message_id","name"]"#), "{entries}");
}
