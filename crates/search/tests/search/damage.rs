//! An index whose files are damaged is found out and made anew.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pdpp_search::{Place, SearchEngine};
use pdpp_store::{Search, SearchIndex as _};
use pdpp_testkit::owner;

use crate::support::{Archive, asking, message, store};

const MESSAGES: usize = 900;

/// An archive with an index in this directory, in one piece, that nobody has open.
async fn archive(path: &Path) -> Archive {
    let archive = Archive::at(Place::Directory(path.to_owned()), store()).await;
    let words = ["ferry", "lantern", "harbour"];
    let text = |n: usize| format!("{} {} number {n}", words[n % 3], "choir ".repeat(n % 7));
    let all: Vec<_> = (0..MESSAGES).map(|n| message(&format!("m{n}"), 1, &text(n))).collect();
    archive.put(&archive.home, "messages", &all).await;
    archive.engine.catch_up().await.unwrap();
    archive.engine.tidy().await.unwrap();
    archive
}

fn files(path: &Path, extension: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|found| found == extension)).collect()
}

/// Writes over the middle of the files of a kind, as a failing disk does.
fn spoil(path: &Path, extension: &str) {
    spoil_within(path, extension, |bytes| 2..bytes.len() * 2 / 3);
}

/// Writes over where a file says how long its parts are: the last that stands before its checksum.
fn spoil_end(path: &Path, extension: &str) {
    spoil_within(path, extension, |bytes| {
        let (length, _) = bytes[bytes.len() - 8..].split_first_chunk().unwrap();
        let end = bytes.len() - 8 - u32::from_le_bytes(*length) as usize;
        end - 24..end - 8
    });
}

fn spoil_within(path: &Path, extension: &str, stretch: impl Fn(&[u8]) -> std::ops::Range<usize>) {
    for file in files(path, extension) {
        let mut bytes = std::fs::read(&file).unwrap();
        let stretch = stretch(&bytes);
        bytes[stretch].fill(0xff);
        // What has the old file open keeps it.
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, bytes).unwrap();
    }
}

/// How many hits a search has; `None` where it fails.
async fn found(archive: &Archive, engine: &SearchEngine, q: &str) -> Option<u64> {
    let plan = archive.plan(&owner(&archive.subject_id), asking(q)).await;
    let query = pdpp_evidence::parse_query(q);
    let search = Search { plan: &plan, query: &query, only: None, explain: false };
    let ranking = engine.rank(search).await.ok()?;
    ranking.is_current.then(|| ranking.hits.counts().iter().sum())
}

#[tokio::test]
async fn postings_that_lead_nowhere_are_made_anew() {
    for (extension, is_end) in [("idx", false), ("fast", false), ("fast", true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search");
        let archive = archive(&path).await;
        let expected = found(&archive, &archive.engine, "ferry choir").await;
        assert!(expected.is_some_and(|count| count > 0));
        if is_end {
            spoil_end(&path, extension);
        } else {
            spoil(&path, extension);
        }
        let engine = SearchEngine::open(Place::Directory(path), archive.store.clone()).unwrap();
        let mut last = None;
        for _ in 0..100 {
            last = found(&archive, &engine, "ferry choir").await;
            if last == expected {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(last, expected, "{extension}");
    }
}

/// Words that are there and other than they were would be missed without a word about it.
#[tokio::test]
async fn an_engine_that_starts_finds_out_what_no_search_would_notice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search");
    let archive = archive(&path).await;
    spoil(&path, "fieldnorm");
    let engine = SearchEngine::open(Place::Directory(path), archive.store.clone()).unwrap();
    // Lengths decide which are the best, and nothing fails by them.
    assert!(found(&archive, &engine, "ferry choir").await.is_some());
    engine.start().unwrap();
    let scratch = folder.path().join("scratch");
    let mut told = Some(String::new());
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        told = engine.compare_with_store(&scratch).await.unwrap();
        if told.is_none() {
            break;
        }
    }
    assert_eq!(told, None);
}

/// What `pdpp verify` is told.
#[tokio::test]
async fn a_spoiled_file_is_told_when_the_index_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search");
    let archive = archive(&path).await;
    let scratch = folder.path().join("scratch");
    assert_eq!(archive.engine.compare_with_store(&scratch).await.unwrap(), None);
    // Positions are not compared word by word.
    spoil(&path, "pos");
    let engine = SearchEngine::open(Place::Directory(path), archive.store.clone()).unwrap();
    let told = engine.compare_with_store(&scratch).await.unwrap();
    assert_eq!(told.as_deref(), Some("some files of the index are not as they were written"));
    engine.rebuild().await.unwrap();
    assert_eq!(engine.compare_with_store(&scratch).await.unwrap(), None);
}
