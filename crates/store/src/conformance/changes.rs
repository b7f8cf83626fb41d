//! Changes since a token: what a reader may notice, once, and nothing else.

use std::sync::Arc;

use pdpp_access::{Principal, RecordsRequest};
use serde_json::{Value, json};

use super::world::{Counting, World, data, entry, target};
use crate::{ChangeEntry, ChangesOutcome, Store};

/// One reader's sessions, one after the other.
struct Reader<'w> {
    world: &'w World,
    who: Principal,
    stream: &'static str,
    token: Option<String>,
}

impl<'w> Reader<'w> {
    fn owner(world: &'w World, stream: &'static str) -> Self {
        Self { world, who: world.owner(), stream, token: None }
    }

    fn client(world: &'w World, stream: &'static str, grant: Value) -> Self {
        Self { world, who: world.client(&[grant]), stream, token: None }
    }

    fn request(&self, limit: u32) -> RecordsRequest {
        let changes_since = self.token.clone().unwrap_or_else(|| "beginning".to_owned());
        RecordsRequest {
            target: target(self.stream),
            limit,
            changes_since: Some(changes_since),
            ..RecordsRequest::default()
        }
    }

    /// Reads a whole session, `limit` entries a page; between its pages, `meanwhile` happens once.
    async fn session(&mut self, limit: u32, meanwhile: impl AsyncFnOnce(&World)) -> Vec<ChangeEntry> {
        let (mut request, mut entries) = (self.request(limit), Vec::new());
        let (sealer, mut meanwhile) = (self.world.sealer().await, Some(meanwhile));
        for _ in 0..1000 {
            let plan = self.world.changes_plan(&self.who, &request).await;
            let outcome = self.world.store.list_changes(&plan).await.expect("changes are answered");
            let ChangesOutcome::Page(page) = outcome else { panic!("the history is still there") };
            assert!(page.entries.len() <= limit as usize, "a page holds its limit at most");
            entries.extend(page.entries);
            let Some(next) = page.next else {
                self.token = Some(sealer.seal_changes_since(&Counting, plan.binding(), &page.horizon));
                return entries;
            };
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile(self.world).await;
            }
            request.cursor = Some(sealer.seal_changes_page(&Counting, plan.binding(), &next));
        }
        panic!("the session does not end");
    }

    /// A session as text: `key` when live, `-key` when deleted.
    async fn read(&mut self) -> Vec<String> {
        let entries = self.session(100, async |_| {}).await;
        entries.iter().map(name).collect()
    }

    async fn is_expired(&self) -> bool {
        let plan = self.world.changes_plan(&self.who, &self.request(10)).await;
        let outcome = self.world.store.list_changes(&plan).await.expect("changes are answered");
        outcome == ChangesOutcome::Expired
    }
}

fn name(entry: &ChangeEntry) -> String {
    match entry {
        ChangeEntry::Live(row) => row.key.to_string(),
        ChangeEntry::Deleted { key, .. } => format!("-{key}"),
    }
}

async fn folders(store: Arc<dyn Store>, ids: &[&str]) -> World {
    let world = World::new(store).await;
    let folder = |id: &&str| json!({"id": id, "name": "n", "secret": "s"});
    world.put_all(&world.home, "folders", ids.iter().map(folder).collect()).await;
    world
}

pub async fn from_the_beginning_every_record_is_told_once(store: Arc<dyn Store>) {
    let world = folders(store, &["b", "a", "c"]).await;
    world.delete(&world.home, "folders", "a").await;
    let mut reader = Reader::owner(&world, "folders");
    assert_eq!(reader.read().await, ["b", "c"], "in the order of change, without what is gone");
    assert!(reader.read().await.is_empty(), "nothing new");
}

pub async fn new_and_changed_records_are_told(store: Arc<dyn Store>) {
    let world = folders(store, &["a", "b"]).await;
    let mut reader = Reader::owner(&world, "folders");
    reader.read().await;
    world.put_at(&world.home, "folders", json!({"id": "a", "name": "new"}), "2026-02-01").await;
    world.put(&world.home, "folders", json!({"id": "c"})).await;
    world.put(&world.home, "folders", json!({"id": "b", "name": "n", "secret": "s"})).await;
    let entries = reader.session(100, async |_| {}).await;
    assert_eq!(entries.iter().map(name).collect::<Vec<_>>(), ["a", "c"]);
    let ChangeEntry::Live(row) = &entries[0] else { panic!("the record is live") };
    assert_eq!(data(row), json!({"id": "a", "name": "new"}));
    assert_eq!(row.emitted_at.to_rfc3339(), "2026-02-01T00:00:00.000Z");
}

pub async fn a_change_in_a_hidden_field_is_not_noticed(store: Arc<dyn Store>) {
    let world = folders(store, &["a", "b"]).await;
    let grant = json!([entry("folders", &[&world.home], &["id", "name"])]);
    let mut reader = Reader::client(&world, "folders", grant);
    reader.read().await;
    let hidden = json!({"id": "a", "name": "n", "secret": "other"});
    world.put_at(&world.home, "folders", hidden, "2026-02-01").await;
    assert!(reader.read().await.is_empty());
    let found = world.find(&reader.who, "folders", "a").await;
    assert_eq!(found[0].emitted_at.to_rfc3339(), "2026-01-01T00:00:00.000Z");
    let seen = json!({"id": "a", "name": "new", "secret": "other"});
    world.put_at(&world.home, "folders", seen, "2026-03-01").await;
    assert_eq!(reader.read().await, ["a"]);
}

pub async fn a_hidden_change_after_a_visible_one_does_not_repeat_it(store: Arc<dyn Store>) {
    let world = folders(store, &["a"]).await;
    let grant = json!([entry("folders", &[&world.home], &["id", "name"])]);
    let mut reader = Reader::client(&world, "folders", grant);
    reader.read().await;
    world.put(&world.home, "folders", json!({"id": "a", "name": "new", "secret": "s"})).await;
    assert_eq!(reader.read().await, ["a"]);
    world.put(&world.home, "folders", json!({"id": "a", "name": "new", "secret": "t"})).await;
    assert!(reader.read().await.is_empty());
}

pub async fn a_deletion_is_told_once(store: Arc<dyn Store>) {
    let world = folders(store, &["a", "b"]).await;
    let mut reader = Reader::owner(&world, "folders");
    reader.read().await;
    world.delete(&world.home, "folders", "a").await;
    let entries = reader.session(100, async |_| {}).await;
    let [ChangeEntry::Deleted { key, deleted_at, .. }] = &entries[..] else {
        panic!("one tombstone, not {entries:?}")
    };
    assert_eq!((key.as_str(), deleted_at.to_rfc3339().as_str()), ("a", "2026-01-02T00:00:00.000Z"));
    assert!(reader.read().await.is_empty());
}

pub async fn what_came_and_went_unseen_stays_unseen(store: Arc<dyn Store>) {
    let world = folders(store, &["a"]).await;
    let mut reader = Reader::owner(&world, "folders");
    reader.read().await;
    world.put(&world.home, "folders", json!({"id": "b"})).await;
    world.delete(&world.home, "folders", "b").await;
    assert!(reader.read().await.is_empty());
}

pub async fn a_record_that_came_back_is_live(store: Arc<dyn Store>) {
    let world = folders(store, &["a"]).await;
    let mut reader = Reader::owner(&world, "folders");
    reader.read().await;
    world.delete(&world.home, "folders", "a").await;
    world.put(&world.home, "folders", json!({"id": "a", "name": "again"})).await;
    assert_eq!(reader.read().await, ["a"]);
    world.delete(&world.home, "folders", "a").await;
    assert_eq!(reader.read().await, ["-a"]);
}

pub async fn a_record_deleted_twice_is_told_to_whoever_saw_its_first_life(store: Arc<dyn Store>) {
    let world = folders(store, &["a"]).await;
    let mut early = Reader::owner(&world, "folders");
    early.read().await;
    world.delete(&world.home, "folders", "a").await;
    let mut between = Reader::owner(&world, "folders");
    between.read().await;
    world.put(&world.home, "folders", json!({"id": "a", "name": "again"})).await;
    world.delete(&world.home, "folders", "a").await;
    assert_eq!(early.read().await, ["-a"]);
    assert!(between.read().await.is_empty(), "who saw neither life is told of neither");
}

pub async fn changes_are_told_in_the_order_of_the_latest_visible_one(store: Arc<dyn Store>) {
    let world = folders(store, &["a", "b", "c"]).await;
    let put = |id: &str, name: &str, secret: &str| json!({"id": id, "name": name, "secret": secret});
    for changed in [put("b", "new", "s"), put("a", "new", "s"), put("b", "new", "other")] {
        world.put(&world.home, "folders", changed).await;
    }
    assert_eq!(Reader::owner(&world, "folders").read().await, ["c", "a", "b"]);
    let wide = json!([entry("folders", &[&world.home], &["id", "name"])]);
    let mut narrow = entry("folders", &[&world.home], &["id", "name"]);
    narrow["resources"] = json!(["a", "b", "c"]);
    for grant in [wide, json!([narrow])] {
        let mut reader = Reader::client(&world, "folders", grant);
        assert_eq!(reader.read().await, ["c", "b", "a"], "a hidden change moves nothing");
    }
}

pub async fn a_tombstone_outside_the_grant_is_not_told(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let letter = |id: &str, at: Option<&str>| json!({"id": id, "sent_at": at});
    let letters = vec![
        letter("in", Some("2026-01-02T00:00:00Z")),
        letter("out", Some("2025-01-02T00:00:00Z")),
        letter("never", None),
    ];
    world.put_all(&world.home, "letters", letters).await;
    let mut bounded = entry("letters", &[&world.home], &["id"]);
    bounded["time_constraint"] = json!({"field": "sent_at", "since": "2026-01-01"});
    let mut chosen = entry("letters", &[&world.home], &["id"]);
    chosen["resources"] = json!(["in"]);
    for grant in [bounded, chosen] {
        let mut reader = Reader::client(&world, "letters", json!([grant]));
        assert_eq!(reader.read().await, ["in"]);
    }
    let mut bounded = entry("letters", &[&world.home], &["id"]);
    bounded["time_constraint"] = json!({"field": "sent_at", "since": "2026-01-01"});
    let mut reader = Reader::client(&world, "letters", json!([bounded]));
    reader.read().await;
    for id in ["in", "out", "never"] {
        world.delete(&world.home, "letters", id).await;
    }
    assert_eq!(reader.read().await, ["-in"]);
}

pub async fn pages_of_changes_neither_repeat_nor_skip(store: Arc<dyn Store>) {
    let world = folders(store, &["a", "b", "c", "d", "e"]).await;
    world.put_all(&world.work, "folders", vec![json!({"id": "x"}), json!({"id": "a"})]).await;
    let mut reader = Reader::owner(&world, "folders");
    reader.read().await;
    for id in ["b", "d"] {
        world.delete(&world.home, "folders", id).await;
    }
    for id in ["a", "e"] {
        world.put(&world.home, "folders", json!({"id": id, "name": "new"})).await;
    }
    world.put(&world.work, "folders", json!({"id": "a", "name": "new"})).await;
    let token = reader.token.clone();
    for limit in 1..=6 {
        reader.token.clone_from(&token);
        let entries = reader.session(limit, async |_| {}).await;
        let told: Vec<_> = entries.iter().map(name).collect();
        assert_eq!(told, ["-b", "-d", "a", "e", "a"], "{limit} a page");
    }
}

pub async fn a_session_ends_where_it_began_to_look(store: Arc<dyn Store>) {
    let world = folders(store, &["a", "b", "c"]).await;
    let mut reader = Reader::owner(&world, "folders");
    let meanwhile = async |world: &World| {
        world.put(&world.home, "folders", json!({"id": "d"})).await;
        world.put(&world.home, "folders", json!({"id": "b", "name": "new"})).await;
    };
    let entries = reader.session(1, meanwhile).await;
    let told: Vec<_> = entries.iter().map(name).collect();
    assert!(!told.contains(&"d".to_owned()), "what came after the first page waits: {told:?}");
    let later = reader.read().await;
    assert_eq!(later, ["d", "b"], "and is told in the next session");
}

pub async fn a_purge_ends_older_tokens(store: Arc<dyn Store>) {
    let world = folders(store, &["a"]).await;
    world.put(&world.work, "folders", json!({"id": "a"})).await;
    let mut reader = Reader::owner(&world, "folders");
    reader.read().await;
    let purge = world.store.purge_stream(&world.target(&world.work, "letters")).await;
    purge.expect("streams are purged");
    assert!(!reader.is_expired().await, "another stream's history is its own");
    let purge = world.store.purge_stream(&world.target(&world.work, "folders")).await;
    purge.expect("streams are purged");
    assert!(reader.is_expired().await);
    reader.token = None;
    assert_eq!(reader.read().await, ["a"]);
    assert!(!reader.is_expired().await);
}
