//! What an operator allows an owner, as whoever asks notices it.

use pdpp_store::{Quota, Quotas as _};

use crate::world::World;

const NOTES: &str = "/v1/ingest/notes?connector_id=notes";

async fn allow(world: &World, quota: Quota) {
    assert!(world.store.set_quota(&world.loaded.subject_id, quota).await.unwrap());
}

#[tokio::test]
async fn lines_that_do_not_fit_are_refused_with_the_limit_and_what_to_do() {
    let world = World::new().await;
    let used = world.store.find_usage(&world.loaded.subject_id).await.unwrap().records;
    allow(&world, Quota { records: Some(used + 1), ..Quota::default() }).await;
    let lines = [
        r#"{"key":"n_90","data":{"id":"n_90","title":"New"}}"#,
        r#"{"key":"n_91","data":{"id":"n_91","title":"New"}}"#,
        r#"{"key":"n_90","op":"delete"}"#,
    ];
    let receipt = world.ask("owner", "POST", NOTES, lines.join("\n")).await.json();
    assert_eq!(
        (&receipt["records_accepted"], &receipt["records_rejected"]),
        (&2.into(), &1.into()),
        "{receipt:#}"
    );
    let refused = &receipt["rejections"][0];
    assert_eq!((&refused["input_index"], &refused["code"]), (&1.into(), &"quota_exceeded".into()));
    let full = used + 1;
    let expected = format!(
        "The quota is {full} records, {full} are used and this needs 1 more: delete something, or ask whoever runs the \
         server for a larger quota."
    );
    assert_eq!(refused["message"], expected);
}

#[tokio::test]
async fn an_upload_that_does_not_fit_is_refused_whole() {
    let world = World::new().await;
    let used = world.store.find_usage(&world.loaded.subject_id).await.unwrap();
    allow(&world, Quota { bytes: Some(used.bytes + 9), ..Quota::default() }).await;
    let path = world.path(
        "/v1/blobs?connector_id=chat&connection_id=HOME&stream=attachments&record_key=a&mime_type=text/plain",
    );
    let refused = world.ask("owner", "POST", &path, "ten bytes!").await;
    assert_eq!(refused.verdict(), "413 quota_exceeded");
    assert_eq!(refused.json()["error"]["type"], "request_entity_too_large_error");
    assert_eq!(world.store.find_usage(&world.loaded.subject_id).await.unwrap(), used);
    assert_eq!(world.ask("owner", "POST", &path, "and nine!").await.status, 200);
}

#[tokio::test]
async fn all_tokens_of_an_owner_share_one_rate() {
    let world = World::new().await;
    allow(&world, Quota { requests_per_minute: Some(3), ..Quota::default() }).await;
    for token in ["owner", "client", "owner"] {
        assert_eq!(world.verdict(token, "/v1/streams").await, "200 ok");
    }
    for token in ["client", "owner"] {
        let refused = world.get(token, "/v1/streams").await;
        assert_eq!(refused.verdict(), "429 rate_limit_exceeded");
        assert_eq!(refused.header("retry-after"), Some("60"));
        let said = "All tokens for this owner's data together have asked too often; wait 60 s.";
        assert_eq!(refused.json()["error"]["message"], said);
    }
}
