//! A node over a store that others use too: what it needs, and what it leaves to the store.

use std::path::Path;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_store_sqlite::Options;
use pdpp_testkit::{FixedClock, SeededEntropy, sample};
use pdpp_wire::Instant;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::*;
use crate::{BlobsConfig, ConfigFile, DatabaseUrl, ServeError, Server};

/// A node with its own directory; any store behind the traits serves, as long as nobody asks which.
fn node(data: &Path, secrets_key_file: Option<PathBuf>) -> Personal {
    let outside: Outside = (Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
    let options = Options::new(Arc::clone(&outside.0), Arc::clone(&outside.1));
    let store = SqliteStore::in_memory(options).unwrap();
    over(Arc::new(store), (data, secrets_key_file), outside)
}

fn over(store: Arc<dyn Store>, (data, key): (&Path, Option<PathBuf>), outside: Outside) -> Personal {
    let blobs =
        BlobsConfig { place: data.join("objects").display().to_string(), endpoint: None, region: None };
    let url = DatabaseUrl::parse("postgres://ana:hunter2@db.test/pdpp").unwrap();
    let database = Some(DatabaseConfig { url, blobs, search_cache_bytes: 1 << 30 });
    let config = StoreConfig { data: data.to_owned(), subject: None, secrets_key_file: key, database };
    let clock = Arc::clone(&outside.0);
    Personal::of(&config, OpenedStore::Database { store, clock, is_unguarded: false }, outside)
}

/// The same node by another clock.
pub(crate) fn at(node: &Personal, now: Instant) -> Personal {
    over(
        node.store(),
        (node.data(), None),
        (Arc::new(FixedClock::at(now)), Arc::new(SeededEntropy::default())),
    )
}

/// Two nodes over one store.
pub(crate) fn two_nodes() -> (Personal, Personal) {
    let one = node(Path::new("/nowhere"), None);
    let two = at(&one, one.clock().now());
    (one, two)
}

async fn bind(personal: Personal) -> Result<Server, ServeError> {
    let file = ConfigFile { listen: Some("127.0.0.1:0".parse().unwrap()), ..ConfigFile::default() };
    Server::bind(personal, file.resolve().unwrap()).await
}

#[tokio::test]
async fn what_only_a_directory_can_do_is_refused_in_a_sentence() {
    let data = TempDir::new().unwrap();
    let personal = node(data.path(), None);
    let refused = personal.directory("verify").map(drop).unwrap_err().to_string();
    assert!(refused.starts_with("`pdpp verify` needs a data directory") && refused.contains("pg_dump"));
    assert_eq!(personal.place(), "postgres://ana@db.test/pdpp");
    assert!(!format!("{personal:?}").contains("hunter2"));
    personal.update_index().await;
    assert!(!data.path().join(SEARCH).exists(), "a local command leaves indexes to the nodes");
}

#[tokio::test]
async fn a_node_serves_only_with_the_key_all_nodes_share() {
    let data = TempDir::new().unwrap();
    let refused = bind(node(data.path(), None)).await.unwrap_err();
    assert!(matches!(refused, ServeError::SecretsKey(SecretsKeyError::Missing(_))), "{refused}");
    let key = data.path().join("shared.key");
    std::fs::write(&key, [7; 32]).unwrap();
    bind(node(data.path(), Some(key))).await.unwrap();
    std::fs::write(data.path().join("events.key"), [7; 32]).unwrap();
    bind(node(data.path(), None)).await.unwrap();
}

#[tokio::test]
async fn a_node_makes_the_index_of_the_owner_it_is_asked_for() {
    let data = TempDir::new().unwrap();
    let personal = node(data.path(), None);
    sample::loaded(&*personal.store()).await;
    let other = SubjectId::parse("ana").unwrap();
    sample::loaded_for(&*personal.store(), other.clone()).await;
    let (owner, secret) = crate::LocalOwner::open(&personal);
    // Without the shared key there are no events, and everything else is answered.
    let router = owner.router(&personal).await.unwrap();
    let ask = Request::builder()
        .uri("/v1/search?q=harbour")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", secret.reveal()));
    let answer = router.oneshot(ask.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(body["data"].is_array(), "{body:#}");
    assert!(data.path().join(SEARCH).join("owner_local").is_dir());
    assert!(!data.path().join(SEARCH).join(other.as_str()).exists(), "nobody asked for it");
}
