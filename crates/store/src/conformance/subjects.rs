//! Two owners in one store never meet.

use std::sync::Arc;

use pdpp_access::{AggregateRequest, RecordsRequest};
use serde_json::json;

use super::world::{World, data, listing, target};
use crate::{Applied, Store};

async fn two_owners(store: Arc<dyn Store>) -> (World, World) {
    let ours = World::of(Arc::clone(&store), "owner_local").await;
    let theirs = World::of(store, "someone_else").await;
    for (world, text) in [(&ours, "ours"), (&theirs, "theirs")] {
        let letter = json!({"id": "a", "text": text, "sent_at": "2026-01-01T00:00:00Z", "stars": 1});
        assert_eq!(world.put(&world.home, "letters", letter).await, Applied::Added);
    }
    (ours, theirs)
}

pub async fn each_owner_reads_their_own_records(store: Arc<dyn Store>) {
    let (ours, theirs) = two_owners(store).await;
    for (world, text) in [(&ours, "ours"), (&theirs, "theirs")] {
        let page = world.page(&world.owner(), &RecordsRequest { count: true, ..listing("letters") }).await;
        assert_eq!(page.total, Some(1));
        assert_eq!(data(&page.rows[0])["text"], text);
        assert_eq!(data(&world.find(&world.owner(), "letters", "a").await[0])["text"], text);
        let count = AggregateRequest {
            target: target("letters"),
            metric: Some("count".to_owned()),
            ..AggregateRequest::default()
        };
        assert_eq!(world.aggregate(&world.owner(), &count).await.value, Some(json!(1)));
    }
}

pub async fn a_connection_of_another_owner_cannot_be_written_to_or_removed(store: Arc<dyn Store>) {
    let (ours, theirs) = two_owners(store).await;
    let foreign =
        crate::WriteTarget { subject_id: theirs.subject.clone(), ..ours.target(&ours.home, "letters") };
    let batch = vec![super::world::upsert("letters", json!({"id": "intruder"}), "2026-01-01")];
    if let Ok(applied) = theirs.store.apply(&foreign, batch).await {
        assert!(!applied.into_iter().any(Applied::is_accepted), "nothing is accepted");
    }
    assert!(ours.find(&ours.owner(), "letters", "intruder").await.is_empty());
    let removed = theirs.store.remove_connection(&theirs.subject, &ours.home).await;
    assert_eq!(removed.expect("connections are removed"), None);
    assert_eq!(ours.find(&ours.owner(), "letters", "a").await.len(), 1);
}

pub async fn a_deletion_by_one_owner_leaves_the_others_record(store: Arc<dyn Store>) {
    let (ours, theirs) = two_owners(store).await;
    ours.delete(&ours.home, "letters", "a").await;
    ours.store.purge_stream(&ours.target(&ours.home, "letters")).await.expect("streams are purged");
    assert_eq!(theirs.find(&theirs.owner(), "letters", "a").await.len(), 1);
}
