//! Nodes that look for the bytes of one database in different places.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use pdpp_store::{Blobs as _, StoreError};
use pdpp_store_postgres::{DatabaseUrl, Options, PostgresStore};
use pdpp_testkit::FixedClock;

use super::blobs::Desk;
use crate::patient;
use crate::support::{Kept, connect, connect_at, objects, options};

/// The same desk as a node sees it that looks into another folder.
fn elsewhere(kept: &Kept, desk: &Desk, folder: &Path) -> Desk {
    Desk { store: Arc::new(connect_at(kept, folder, patient())), ..desk.clone() }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Says which place was refused for which.
#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, StoreError>, kept: &Path, given: &Path) {
    let Err(StoreError::Misplaced(said)) = outcome else { panic!("{outcome:?}") };
    let name = |path: &Path| path.canonicalize().unwrap().display().to_string();
    assert!(said.contains(&format!("are in {}, and {} is", name(kept), name(given))), "{said}");
    assert!(said.contains("--blobs-url") && said.contains("pdpp migrate --attachments-moved"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_another_place_is_told_where_the_bytes_are() {
    let (kept, other) = (Kept::new(), tempfile::tempdir().unwrap());
    let desk = Desk::new(connect(&kept, patient())).await;
    let stray = elsewhere(&kept, &desk, other.path());
    stray.store.check_blobs().await.unwrap();
    let receipt = desk.upload("one", "/a", b"words").await.unwrap();
    desk.put("one", &receipt.blob_id).await;
    let home = kept.objects.path();
    refused(stray.upload("two", "/a", b"others").await, home, other.path());
    refused(stray.store.check_blobs().await, home, other.path());
    refused(stray.store.sweep_blobs().await, home, other.path());
    // Everything that lies there says itself where it belongs, wherever it is brought.
    copy(home, other.path());
    assert_eq!(stray.read(&receipt.blob_id).await.as_deref(), Some(&b"words"[..]));
    stray.store.check_blobs().await.unwrap();
    stray.upload("two", "/a", b"others").await.unwrap();
}

/// A database that never had any refers to nothing, and would find everything unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_sweeps_nothing_where_another_keeps_its_bytes() {
    let (kept, empty) = (Kept::new(), Kept::new());
    let desk = Desk::new(connect(&kept, patient())).await;
    let receipt = desk.upload("one", "/a", b"words").await.unwrap();
    desk.put("one", &receipt.blob_id).await;
    let later = Arc::new(FixedClock::at_text("2100-01-01T00:00:00Z"));
    let stranger = connect_at(&empty, kept.objects.path(), Options { clock: later, ..patient() });
    let refused = stranger.sweep_unknown_blobs().await;
    assert!(
        matches!(&refused, Err(StoreError::Misplaced(said)) if said.contains("another database")),
        "{refused:?}"
    );
    assert_eq!(desk.read(&receipt.blob_id).await.as_deref(), Some(&b"words"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_is_the_right_one_when_whoever_brought_the_bytes_says_so() {
    let (kept, other) = (Kept::new(), tempfile::tempdir().unwrap());
    let desk = Desk::new(connect(&kept, patient())).await;
    desk.upload("one", "/a", b"words").await.unwrap();
    let url = DatabaseUrl::parse(&kept.url()).unwrap();
    PostgresStore::move_blobs(&url, &objects(other.path()), &options()).await.unwrap();
    let moved = elsewhere(&kept, &desk, other.path());
    moved.upload("two", "/a", b"others").await.unwrap();
    // The former place still carries the mark, as a copy would; nobody is kept from going back.
    desk.store.check_blobs().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_is_not_mounted_is_not_taken_for_the_place() {
    let kept = Kept::new();
    let desk = Desk::new(connect(&kept, patient())).await;
    desk.upload("one", "/a", b"words").await.unwrap();
    let home = kept.objects.path();
    std::fs::remove_dir_all(home).unwrap();
    std::fs::create_dir(home).unwrap();
    let again = elsewhere(&kept, &desk, home);
    for outcome in [desk.store.check_blobs().await, again.upload("two", "/a", b"others").await.map(drop)] {
        let Err(StoreError::Misplaced(said)) = outcome else { panic!("{outcome:?}") };
        assert!(said.contains("are not there now: see that it is mounted"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_place_of_another_database_is_refused() {
    let (kept, another) = (Kept::new(), Kept::new());
    let desk = Desk::new(connect(&kept, patient())).await;
    desk.upload("one", "/a", b"words").await.unwrap();
    let guest = Desk::new(connect_at(&another, kept.objects.path(), patient())).await;
    let Err(StoreError::Misplaced(said)) = guest.upload("one", "/a", b"words").await else { panic!() };
    assert!(said.contains("of another database"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_nodes_that_begin_at_once_none_is_left_behind() {
    let kept = Kept::new();
    let desk = Desk::new(connect(&kept, patient())).await;
    let nodes: Vec<_> = (0..4).map(|_| elsewhere(&kept, &desk, kept.objects.path())).collect();
    let uploads = nodes.iter().enumerate().map(|(number, node)| async move {
        node.upload(&format!("k{number}"), "/a", format!("words {number}").as_bytes()).await
    });
    for uploaded in futures_util::future::join_all(uploads).await {
        uploaded.unwrap();
    }
}
