//! Many owners' indexes on one node: made when they are asked for, and forgotten when they take too much.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pdpp_evidence::parse_query;
use pdpp_search::{IndexPool, Place, SearchEngine};
use pdpp_store::{Search, SearchIndex as _, Store};
use pdpp_testkit::{SeededEntropy, owner};
use pdpp_wire::SubjectId;
use tempfile::TempDir;

use crate::support::{Archive, asking, message, store};

const OWNERS: [&str; 3] = ["ana", "ben", "cleo"];

struct Node {
    pool: Arc<IndexPool>,
    store: Arc<dyn Store>,
    archives: Vec<Archive>,
    root: TempDir,
}

impl Node {
    /// A node over a store of three owners, each of whom wrote of a lighthouse and of themselves.
    async fn new(most_bytes: u64) -> Self {
        let store = store();
        let mut archives = Vec::new();
        for name in OWNERS {
            let subject = SubjectId::parse(name).unwrap();
            let archive = Archive::of(Place::Memory, store.clone(), subject).await;
            let text = format!("The lighthouse of {name} is painted");
            archive.put(&archive.home, "messages", &[message(&format!("m_{name}"), 3, &text)]).await;
            archives.push(archive);
        }
        let root = TempDir::new().unwrap();
        let pool = pool(root.path(), most_bytes, &store, 1);
        Self { pool, store, archives, root }
    }

    /// What an owner finds, and whether the index had caught up.
    async fn find(&self, name: &str, q: &str) -> (Vec<String>, bool) {
        let archive = self.archives.iter().find(|archive| archive.subject_id.as_str() == name).unwrap();
        let plan = archive.plan(&owner(&archive.subject_id), asking(q)).await;
        let query = parse_query(q);
        let search = Search { plan: &plan, query: &query, only: None, explain: false };
        let ranking = self.pool.rank(search).await.unwrap();
        let hits = ranking.hits.read(0..1_000).unwrap();
        (hits.iter().map(|hit| hit.key.to_string()).collect(), ranking.is_current)
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Lets the disk say that an index was last asked for so many minutes ago.
    fn age(&self, name: &str, minutes: u64) {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - 60 * minutes);
        File::options().write(true).open(self.folder(name).join("used")).unwrap().set_modified(at).unwrap();
    }

    fn kept(&self) -> Vec<&'static str> {
        OWNERS.into_iter().filter(|name| self.folder(name).exists()).collect()
    }
}

fn pool(root: &Path, most_bytes: u64, store: &Arc<dyn Store>, seed: u64) -> Arc<IndexPool> {
    let entropy = Arc::new(SeededEntropy::new(seed));
    Arc::new(IndexPool::new(root.to_owned(), most_bytes, store.clone(), entropy))
}

#[tokio::test]
async fn an_index_is_made_when_its_owner_is_first_asked_for() {
    let node = Node::new(u64::MAX).await;
    assert!(node.kept().is_empty());
    assert_eq!(node.find("ben", "lighthouse").await, (vec!["m_ben".to_owned()], true));
    assert_eq!(node.kept(), ["ben"], "nobody else's was made");
    let ben = &node.archives[1];
    ben.put(&ben.home, "messages", &[message("m_more", 4, "Another lighthouse")]).await;
    assert_eq!(node.find("ben", "another").await, (vec!["m_more".to_owned()], true), "it follows the log");
    for name in OWNERS {
        assert_eq!(node.find(name, &format!("lighthouse {name}")).await.0[0], format!("m_{name}"));
    }
}

#[tokio::test]
async fn what_was_not_asked_for_longest_is_forgotten_first_and_made_again() {
    let node = Node::new(0).await;
    for name in OWNERS {
        node.find(name, "lighthouse").await;
    }
    for (name, minutes) in [("ana", 5), ("ben", 30), ("cleo", 10)] {
        node.age(name, minutes);
    }
    assert_eq!(node.pool.evict().await.unwrap(), 2);
    assert_eq!(node.kept(), ["ana"], "the latest stays, however small the bound");
    assert_eq!(node.pool.evict().await.unwrap(), 0);
    for name in OWNERS {
        let found = node.find(name, "lighthouse").await;
        assert_eq!(found, (vec![format!("m_{name}")], true), "it is made again");
    }
}

#[tokio::test]
async fn only_as_many_are_forgotten_as_the_bound_asks_for() {
    let node = Node::new(u64::MAX).await;
    for (name, minutes) in [("ana", 30), ("ben", 20), ("cleo", 10)] {
        node.find(name, "lighthouse").await;
        node.age(name, minutes);
    }
    assert_eq!(node.pool.evict().await.unwrap(), 0);
    let bytes = |name: &str| -> u64 {
        let folders = std::fs::read_dir(node.folder(name)).unwrap().flatten();
        let files = folders.filter(|entry| entry.path().is_dir()).flat_map(|entry| {
            std::fs::read_dir(entry.path()).unwrap().flatten().map(|file| file.metadata().unwrap().len())
        });
        files.sum()
    };
    // Room for two of the three, with a little for the notes beside them.
    let most = bytes("ben") + bytes("cleo") + 64;
    assert!(bytes("ana") > 64, "an index takes room");
    assert_eq!(pool(node.root.path(), most, &node.store, 2).evict().await.unwrap(), 1);
    assert_eq!(node.kept(), ["ben", "cleo"]);
}

/// The disk knows what the last process did.
#[tokio::test]
async fn a_node_that_starts_again_keeps_its_indexes() {
    let mut node = Node::new(u64::MAX).await;
    node.find("ana", "lighthouse").await;
    let inside = |node: &Node| -> Vec<PathBuf> {
        let folders = std::fs::read_dir(node.folder("ana")).unwrap().flatten().map(|entry| entry.path());
        folders.filter(|path| path.is_dir()).collect()
    };
    let before = inside(&node);
    node.pool = pool(node.root.path(), u64::MAX, &node.store, 2);
    assert_eq!(node.find("ana", "lighthouse").await, (vec!["m_ana".to_owned()], true));
    assert_eq!(inside(&node), before, "the same index is used");
}

/// While an index cannot catch up, its answers say so instead of guessing.
#[tokio::test]
async fn an_index_that_is_not_there_yet_says_that_it_is_behind() {
    let node = Node::new(u64::MAX).await;
    node.find("ana", "lighthouse").await;
    let folder = std::fs::read_dir(node.folder("ana")).unwrap().flatten().map(|entry| entry.path());
    let folder = folder.into_iter().find(|path| path.is_dir()).unwrap();
    // Another process holds the writer and does not go on.
    let held = File::options().write(true).open(folder.join(".tantivy-writer.lock")).unwrap();
    held.lock().unwrap();
    let ana = &node.archives[0];
    ana.put(&ana.home, "messages", &[message("m_late", 4, "A late lighthouse")]).await;
    assert_eq!(node.find("ana", "late").await, (Vec::new(), false));
    held.unlock().unwrap();
    assert_eq!(node.find("ana", "late").await, (vec!["m_late".to_owned()], true));
}

/// Each owner's index holds that owner's words alone, so eviction and size tell of nobody else.
#[tokio::test]
async fn an_index_of_the_pool_holds_one_owner() {
    let node = Node::new(u64::MAX).await;
    for name in OWNERS {
        node.find(name, "lighthouse").await;
        let folders = std::fs::read_dir(node.folder(name)).unwrap().flatten().map(|entry| entry.path());
        let folder = folders.into_iter().find(|path| path.is_dir()).unwrap();
        let engine = SearchEngine::open(Place::Directory(folder), node.store.clone()).unwrap();
        assert_eq!(engine.passages(), 2, "one message of {name}, its text and its author");
    }
}

/// What an owner removed does not stay on a node because nobody searches there any more.
#[tokio::test]
async fn an_index_that_nobody_asks_for_forgets_what_was_removed() {
    let node = Node::new(u64::MAX).await;
    for name in OWNERS {
        node.find(name, "lighthouse").await;
    }
    let spelled = |name: &str| {
        let folders = std::fs::read_dir(node.folder(name)).unwrap().flatten().map(|entry| entry.path());
        let folder = folders.into_iter().find(|path| path.is_dir()).unwrap();
        let files =
            std::fs::read_dir(folder).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
        let key = format!("m_{name}");
        files.into_iter().any(|bytes| bytes.windows(key.len()).any(|window| window == key.as_bytes()))
    };
    node.age("ben", 30);
    let before = std::fs::metadata(node.folder("ben").join("used")).unwrap().modified().unwrap();
    assert!(spelled("ben"));
    let ben = &node.archives[1];
    node.store.remove_connection(&ben.subject_id, &ben.home).await.unwrap();
    node.pool.tend().await;
    assert!(!spelled("ben"));
    assert!(spelled("ana") && spelled("cleo"));
    let after = std::fs::metadata(node.folder("ben").join("used")).unwrap().modified().unwrap();
    assert_eq!(before, after, "it was not asked for");
}
