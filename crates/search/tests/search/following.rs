//! The index follows the store.

use pdpp_search::{Place, SearchEngine};
use pdpp_store::{OnConflict, SearchIndex as _};
use pdpp_testkit::owner;
use serde_json::json;

use crate::support::{Archive, asking, manifest, message, with};

#[tokio::test]
async fn what_was_written_is_found_by_the_next_search() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[message("a", 1, "The ferry leaves at noon.")]).await;
    assert_eq!(archive.keys("ferry").await, ["a"]);
    archive.put(&archive.home, "messages", &[message("b", 2, "Another ferry at night.")]).await;
    assert_eq!(archive.keys("ferry").await.len(), 2);
    assert!(archive.engine.is_current().await.unwrap());
}

#[tokio::test]
async fn updates_and_deletions_take_old_words_away() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[message("a", 1, "apples"), message("b", 1, "bananas")]).await;
    assert_eq!(archive.keys("apples").await, ["a"]);
    archive.put(&archive.home, "messages", &[message("a", 1, "cherries")]).await;
    assert!(archive.keys("apples").await.is_empty());
    assert_eq!(archive.keys("cherries").await, ["a"]);
    archive.delete(&archive.home, "a").await;
    assert!(archive.keys("cherries").await.is_empty());
    assert_eq!(archive.engine.passages(), 2, "one record, two fields with words");
}

#[tokio::test]
async fn purged_streams_and_removed_connections_are_gone_for_good() {
    let archive = Archive::new().await;
    for connection in [&archive.home, &archive.work] {
        archive
            .put(connection, "messages", &[message("a", 1, "apples"), message("b", 2, "apples too")])
            .await;
    }
    assert_eq!(archive.keys("apples").await.len(), 4);
    archive.store.purge_stream(&archive.target(&archive.home, "messages")).await.unwrap();
    assert_eq!(archive.keys("apples").await.len(), 2);
    archive.put(&archive.home, "messages", &[message("c", 3, "apples again")]).await;
    assert_eq!(archive.keys("apples").await.len(), 3);
    archive.store.remove_connection(&archive.subject_id, &archive.work).await.unwrap();
    assert_eq!(archive.keys("apples").await, ["c"]);
    // No search waits for what is outside its plan.
    archive.engine.catch_up().await.unwrap();
    assert_eq!(archive.engine.passages(), 2);
}

#[tokio::test]
async fn what_was_purged_is_not_left_in_the_files() {
    let home = tempfile::tempdir().unwrap();
    let archive = Archive::at(Place::Directory(home.path().join("search")), crate::support::store()).await;
    archive.put(&archive.home, "messages", &[message("unmistakable", 1, "apples")]).await;
    archive.put(&archive.work, "messages", &[message("b", 1, "harmless")]).await;
    archive.engine.catch_up().await.unwrap();
    assert!(occurs(home.path(), b"unmistakable"));
    archive.store.remove_connection(&archive.subject_id, &archive.home).await.unwrap();
    archive.engine.catch_up().await.unwrap();
    assert!(!occurs(home.path(), b"unmistakable"));
    assert_eq!(archive.keys("harmless").await, ["b"]);
}

/// Each catch-up has a writer of its own, and merges begin with about every fifth. A merge that outlived its writer once
/// wrote an older list of segments over a newer one, which named files that were gone.
#[tokio::test]
async fn a_writer_that_is_let_go_writes_nothing_later() {
    let archive = Archive::new().await;
    for n in 0..400_i64 {
        let (key, text) = (format!("m{}", n % 90), format!("apple number {n}"));
        archive.put(&archive.home, "messages", &[message(&key, 1, &text)]).await;
        archive.engine.catch_up().await.unwrap();
        // One search field has the text, another the author.
        let records = u64::try_from(n + 1).unwrap().min(90);
        assert_eq!(archive.engine.passages(), 2 * records, "after {n}");
    }
}

/// Whether a file of the index spells the key of a record.
fn occurs(home: &std::path::Path, key: &[u8]) -> bool {
    let files = std::fs::read_dir(home.join("search")).unwrap();
    let mut files = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.any(|bytes| bytes.windows(key.len()).any(|window| window == key))
}

#[tokio::test]
async fn a_restart_goes_on_where_the_last_commit_was() {
    let home = tempfile::tempdir().unwrap();
    let place = Place::Directory(home.path().join("search"));
    let archive = Archive::at(place.clone(), crate::support::store()).await;
    let messages: Vec<_> =
        (0..40).map(|n| message(&format!("m{n}"), 1, &format!("apple number {n}"))).collect();
    archive.put(&archive.home, "messages", &messages).await;
    archive.engine.catch_up().await.unwrap();
    let before = archive.engine.passages();
    let Archive { store, engine, subject_id, manifest, home: connection, work } = archive;
    drop(engine);
    let engine = SearchEngine::open(place, store.clone()).unwrap();
    let archive = Archive { store, engine, subject_id, manifest, home: connection, work };
    assert_eq!(archive.engine.passages(), before);
    assert_eq!(archive.keys("apple").await.len(), 40);
    archive.put(&archive.home, "messages", &[message("more", 2, "one more apple")]).await;
    assert_eq!(archive.keys("apple").await.len(), 41);
    assert_eq!(archive.engine.passages(), before + 2);
}

#[tokio::test]
async fn a_damaged_or_foreign_index_is_made_anew() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("search");
    let archive = Archive::at(Place::Directory(path.clone()), crate::support::store()).await;
    archive.put(&archive.home, "messages", &[message("a", 1, "apples")]).await;
    assert_eq!(archive.keys("apples").await, ["a"]);
    let Archive { store, engine, subject_id, manifest, home: connection, work } = archive;
    drop(engine);
    let meta = std::fs::read_to_string(path.join("meta.json")).unwrap();
    for damaged in ["{", &meta.replace(r#"{\"format\":"#, r#"{\"format\":9"#)] {
        assert_ne!(damaged, meta);
        std::fs::write(path.join("meta.json"), damaged).unwrap();
        let engine = SearchEngine::open(Place::Directory(path.clone()), store.clone()).unwrap();
        assert_eq!(engine.passages(), 0);
        assert!(!engine.is_current().await.unwrap());
        engine.catch_up().await.unwrap();
        assert_eq!(engine.passages(), 2);
    }
    let engine = SearchEngine::open(Place::Directory(path), store.clone()).unwrap();
    let archive = Archive { store, engine, subject_id, manifest, home: connection, work };
    assert_eq!(archive.keys("apples").await, ["a"]);
    archive.engine.rebuild().await.unwrap();
    assert_eq!((archive.keys("apples").await, archive.engine.passages()), (vec!["a".to_owned()], 2));
}

#[tokio::test]
async fn another_declaration_makes_the_passages_again() {
    let mut archive = Archive::new().await;
    let spoken = with(message("a", 1, "apples"), json!({"caption": "a basket"}));
    archive.put(&archive.home, "messages", &[spoken]).await;
    assert_eq!(archive.keys("basket").await, ["a"]);
    archive.manifest = manifest(&["text"]);
    let put = archive.store.put_manifest(&archive.subject_id, &archive.manifest, OnConflict::Replace);
    put.await.unwrap();
    assert!(archive.keys("basket").await.is_empty());
    assert_eq!((archive.keys("apples").await.len(), archive.engine.passages()), (1, 1));
}

#[tokio::test]
async fn a_second_reader_sees_what_the_writer_committed() {
    let home = tempfile::tempdir().unwrap();
    let place = Place::Directory(home.path().join("search"));
    let archive = Archive::at(place.clone(), crate::support::store()).await;
    archive.engine.start().unwrap();
    archive.put(&archive.home, "messages", &[message("a", 1, "apples")]).await;
    assert_eq!(archive.keys("apples").await, ["a"]);
    let reader = SearchEngine::open(place, archive.store.clone()).unwrap();
    assert!(reader.is_current().await.unwrap());
    archive.put(&archive.home, "messages", &[message("b", 1, "apples")]).await;
    let plan = archive.plan(&owner(&archive.subject_id), asking("apples")).await;
    let query = pdpp_evidence::parse_query("apples");
    let search = pdpp_store::Search { plan: &plan, query: &query, only: None, explain: false };
    assert_eq!(reader.rank(search).await.unwrap().hits.counts().iter().sum::<u64>(), 2);
}

#[tokio::test]
async fn an_idle_index_becomes_one_segment_with_the_same_answers() {
    let home = tempfile::tempdir().unwrap();
    let archive = Archive::at(Place::Directory(home.path().join("search")), crate::support::store()).await;
    let all: Vec<_> =
        (0..400).map(|n| message(&format!("m{n}"), 1 + n % 28, &format!("ferry number {n}"))).collect();
    for batch in all.chunks(100) {
        archive.put(&archive.home, "messages", batch).await;
        archive.engine.catch_up().await.unwrap();
    }
    archive.delete(&archive.home, "m7").await;
    archive.engine.catch_up().await.unwrap();
    assert!(!archive.engine.is_tidy().unwrap());
    let before =
        [archive.find("ferry").await, archive.find("number 7").await, archive.find("ferry 399").await];
    archive.engine.tidy().await.unwrap();
    assert!(archive.engine.is_tidy().unwrap());
    let files = std::fs::read_dir(home.path().join("search")).unwrap().flatten();
    let segments = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "store"));
    assert_eq!(segments.count(), 1);
    let after =
        [archive.find("ferry").await, archive.find("number 7").await, archive.find("ferry 399").await];
    assert_eq!(before, after);
    // Nothing is left to do, and a message more does not make it write everything again.
    archive.put(&archive.home, "messages", &[message("late", 2, "one more ferry")]).await;
    archive.engine.catch_up().await.unwrap();
    assert!(archive.engine.is_tidy().unwrap());
    assert_eq!(archive.keys("one more ferry").await[0], "late");
}
