//! The change log: every accepted change, once, in order.

use std::sync::Arc;

use pdpp_wire::{Code, ConnectionId};
use serde_json::json;

use super::world::{World, stream, subject};
use crate::{Applied, Change, ChangeKind, Store};

async fn log(world: &World, after: u64, limit: u32) -> Vec<Change> {
    world.store.read_log(&world.subject, after, limit).await.expect("the log is read")
}

fn told(world: &World, entries: &[Change]) -> Vec<String> {
    let tell = |entry: &Change| {
        let place = if entry.connection_id == world.home { "home" } else { "work" };
        let stream = entry.stream.as_ref().map_or("*", AsRef::as_ref);
        match &entry.kind {
            ChangeKind::Upsert(key) => format!("{place} {stream} +{key}"),
            ChangeKind::Delete(key) => format!("{place} {stream} -{key}"),
            ChangeKind::PurgeStream => format!("{place} {stream} purged"),
            ChangeKind::RemoveConnection => format!("{place} {stream} removed"),
        }
    };
    entries.iter().map(tell).collect()
}

pub async fn every_accepted_change_is_logged_in_order(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "a"})).await;
    world.put(&world.work, "folders", json!({"id": "f"})).await;
    world.put(&world.work, "folders", json!({"id": "f"})).await;
    world.put(&world.work, "folders", json!({"id": "f", "name": "n"})).await;
    let conflict = world.put(&world.home, "letters", json!({"id": "a", "text": "t"})).await;
    assert_eq!(conflict, Applied::Rejected(Code::AppendOnlyConflict));
    world.delete(&world.home, "letters", "a").await;
    let entries = log(&world, 0, 100).await;
    let expected = ["home letters +a", "work folders +f", "work folders +f", "home letters -a"];
    assert_eq!(told(&world, &entries), expected);
    assert!(entries.is_sorted_by(|a, b| a.sequence < b.sequence));
    let head = world.store.log_head(&world.subject).await.expect("the log has a head");
    assert_eq!(entries.last().map(|entry| entry.sequence), Some(head));
}

/// What was purged may leave the log with its keys; that it was purged stays.
pub async fn a_purge_and_a_removal_are_told_to_whoever_follows(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for connection in [&world.home, &world.work] {
        world.put(connection, "letters", json!({"id": "a"})).await;
        world.put(connection, "folders", json!({"id": "f"})).await;
    }
    let before = world.store.log_head(&world.subject).await.expect("the log has a head");
    world.store.purge_stream(&world.target(&world.work, "folders")).await.expect("streams are purged");
    world.put(&world.work, "folders", json!({"id": "g"})).await;
    world.store.remove_connection(&world.subject, &world.home).await.expect("connections are removed");
    let entries = log(&world, before, 100).await;
    assert_eq!(told(&world, &entries), ["work folders purged", "work folders +g", "home * removed"]);
    let kept = log(&world, 0, 100).await;
    assert!(told(&world, &kept).contains(&"work letters +a".to_owned()), "the rest stays");
}

pub async fn the_log_is_read_in_pieces(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let ids = ["a", "b", "c", "d", "e"];
    world.put_all(&world.home, "letters", ids.iter().map(|id| json!({"id": id})).collect()).await;
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let piece = log(&world, after, 2).await;
        assert!(piece.len() <= 2);
        let Some(last) = piece.last() else { break };
        after = last.sequence;
        seen.extend(told(&world, &piece));
    }
    let expected: Vec<_> = ids.iter().map(|id| format!("home letters +{id}")).collect();
    assert_eq!(seen, expected);
}

/// Whether an index is behind for a reader depends on what the reader may see.
pub async fn the_latest_change_of_some_streams_is_told_whatever_else_came(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let head = async || world.store.log_head(&world.subject).await.expect("the log has a head");
    let latest = async |streams: &[(&ConnectionId, &str)], after: u64| {
        let streams: Vec<_> =
            streams.iter().map(|(connection, name)| ((*connection).clone(), stream(name))).collect();
        world.store.latest_of(&world.subject, &streams, after).await.expect("the log is asked")
    };
    let (home, work) = (&world.home, &world.work);
    world.put(home, "letters", json!({"id": "a"})).await;
    let letter = head().await;
    world.put(work, "letters", json!({"id": "a"})).await;
    world.put(home, "folders", json!({"id": "f"})).await;
    let folder = head().await;
    let both: [(&ConnectionId, &str); 2] = [(home, "letters"), (work, "folders")];
    assert_eq!(latest(&both, 0).await, Some(letter), "neither stream of the other connection");
    assert_eq!(latest(&both, letter).await, None);
    assert_eq!(latest(&[(home, "folders"), (home, "letters")], letter).await, Some(folder));
    assert_eq!(latest(&[], 0).await, None);
    world.delete(home, "letters", "a").await;
    assert_eq!(latest(&both, folder).await, Some(head().await));
    let deleted = head().await;
    world.store.purge_stream(&world.target(work, "letters")).await.expect("streams are purged");
    assert_eq!(latest(&both, deleted).await, None);
    assert_eq!(latest(&[(work, "letters")], deleted).await, Some(head().await));
    let purged = head().await;
    world.store.remove_connection(&world.subject, work).await.expect("connections are removed");
    assert_eq!(latest(&both, purged).await, Some(head().await), "a connection goes with all its streams");
    assert_eq!(latest(&[(home, "letters")], purged).await, None);
    let other =
        world.store.latest_of(&subject("someone_else"), &[(home.clone(), stream("letters"))], 0).await;
    assert_eq!(other.expect("the log is asked"), None);
}

pub async fn a_subject_has_a_log_of_its_own(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let head = async |id: &str| world.store.log_head(&subject(id)).await.expect("the log has a head");
    assert_eq!(head("someone_else").await, 0);
    world.put(&world.home, "letters", json!({"id": "a"})).await;
    assert_eq!(head("someone_else").await, 0);
    assert!(head("owner_local").await > 0);
    let other = world.store.read_log(&subject("someone_else"), 0, 10).await.expect("the log is read");
    assert!(other.is_empty());
}
