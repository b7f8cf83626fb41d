//! Declarations and connections.

use std::sync::Arc;

use pdpp_access::{AggregateRequest, FilterTerm, RecordsRequest};
use pdpp_wire::ConnectorKey;
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

use super::world::{Pending, World, all, keys, listing, manifest, subject, target};
use crate::{Ensured, ManifestOutcome, OnConflict, Store};

/// The suite's manifest, with the folders' name gone and a new sortable field instead.
fn replacement() -> Manifest {
    let mut document = manifest().document().clone();
    document["version"] = json!("2");
    let folders = &mut document["streams"][1];
    folders["schema"]["properties"]["size"] = json!({"type": "integer"});
    folders["query"]["range_filters"]["size"] = json!(["gte"]);
    folders["query"]["aggregations"]["sum"] = json!(["size"]);
    folders["cursor_field"] = json!("size");
    Manifest::from_document(document).expect("the suite's manifest is valid")
}

async fn put(world: &World, manifest: &Manifest, on_conflict: OnConflict) -> ManifestOutcome {
    world.store.put_manifest(&world.subject, manifest, on_conflict).await.expect("manifests are kept")
}

pub async fn a_fresh_subject_has_nothing(store: Arc<dyn Store>) {
    let catalogue = store.catalogue(&subject("nobody")).await.expect("catalogues are answered");
    assert_eq!(catalogue.subject_id, subject("nobody"));
    assert!(catalogue.sources.is_empty());
}

pub async fn a_manifest_is_added_once_and_kept_verbatim(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    assert_eq!(put(&world, &manifest(), OnConflict::Refuse).await, ManifestOutcome::Unchanged);
    assert_eq!(put(&world, &manifest(), OnConflict::Replace).await, ManifestOutcome::Unchanged);
    let catalogue = world.catalogue().await;
    assert_eq!(catalogue.sources.len(), 1);
    let source = &catalogue.sources[0];
    assert_eq!(source.manifest.document(), manifest().document());
    let snapshot = world.store.find_snapshot(&world.subject, &source.declaration_version).await;
    let snapshot = snapshot.expect("snapshots are looked for").expect("the snapshot is kept");
    let snapshot: Value = serde_json::from_str(&snapshot).expect("a snapshot is JSON");
    assert_eq!(&snapshot, manifest().document());
}

pub async fn another_document_needs_to_be_told_to_replace(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let before = world.catalogue().await.sources[0].declaration_version.clone();
    assert_eq!(put(&world, &replacement(), OnConflict::Refuse).await, ManifestOutcome::Conflict);
    assert_eq!(world.catalogue().await.sources[0].declaration_version, before);
    assert_eq!(put(&world, &replacement(), OnConflict::Replace).await, ManifestOutcome::Replaced);
    let after = world.catalogue().await.sources[0].declaration_version.clone();
    assert_ne!(after, before);
    for version in [before, after] {
        let snapshot = world.store.find_snapshot(&world.subject, &version).await;
        assert!(snapshot.expect("snapshots are looked for").is_some(), "every document stays");
    }
    let stranger = world.store.find_snapshot(&world.subject, "sha256:none").await;
    assert_eq!(stranger.expect("snapshots are looked for"), None);
}

pub async fn two_connectors_do_not_share_a_source_id(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let of_the_source = |key: &str| {
        let mut document = manifest().document().clone();
        document["connector_key"] = json!(key);
        document["manifest_uri"] = json!("https://registry.example/desk");
        Manifest::from_document(document).expect("the suite's manifest is valid")
    };
    let copy = of_the_source("copy");
    assert_eq!(put(&world, &of_the_source("original"), OnConflict::Refuse).await, ManifestOutcome::Added);
    for on_conflict in [OnConflict::Refuse, OnConflict::Replace] {
        assert_eq!(put(&world, &copy, on_conflict).await, ManifestOutcome::Conflict);
    }
    assert_eq!(world.catalogue().await.sources.len(), 2, "nothing was stored");
    let elsewhere = world.store.put_manifest(&subject("someone_else"), &copy, OnConflict::Refuse).await;
    assert_eq!(elsewhere.expect("manifests are kept"), ManifestOutcome::Added);
}

pub async fn a_newly_declared_field_is_queryable_in_older_records(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let folders = vec![
        json!({"id": "a", "rank": 1, "size": 30}),
        json!({"id": "b", "rank": 2, "size": 10}),
        json!({"id": "c", "rank": 3}),
    ];
    world.put_all(&world.home, "folders", folders).await;
    put(&world, &replacement(), OnConflict::Replace).await;
    let rows = world.all_pages(&world.owner(), &RecordsRequest { limit: 1, ..listing("folders") }).await;
    assert_eq!(keys(&rows), ["b", "a", "c"], "ordered by the new cursor field");
    let filter = vec![FilterTerm {
        field: "size".to_owned(),
        operator: Some("gte".to_owned()),
        operand: "20".to_owned(),
    }];
    let page = world.page(&world.owner(), &RecordsRequest { filter, ..listing("folders") }).await;
    assert_eq!(keys(&page.rows), ["a"]);
    let sum = AggregateRequest {
        target: target("folders"),
        metric: Some("sum".to_owned()),
        field: Some("size".to_owned()),
        ..AggregateRequest::default()
    };
    assert_eq!(world.aggregate(&world.owner(), &sum).await.value, Some(json!(40)));
}

pub async fn a_connection_needs_a_registered_connector(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let unknown = ConnectorKey::parse("unknown").expect("a plain key");
    let made = world.store.create_connection(&world.subject, &unknown, None).await;
    assert_eq!(made.expect("connections are made"), None);
}

/// The suite's connector, without connections.
async fn without_connections(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    for connection in [&world.home, &world.work] {
        let removed = world.store.remove_connection(&world.subject, connection).await;
        removed.expect("connections are removed");
    }
    world
}

async fn ensure(world: &World, name: Option<&str>) -> Ensured {
    let ensured = world.store.ensure_connection(&world.subject, manifest().key(), name).await;
    ensured.expect("connections are ensured")
}

pub async fn writers_who_come_first_together_share_one_connection(store: Arc<dyn Store>) {
    let world = without_connections(store).await;
    for name in [None, Some("Phone")] {
        let callers = (0..8).map(|_| Box::pin(ensure(&world, name)) as Pending<'_, Ensured>);
        let ensured = all(callers.collect()).await;
        let Ensured::One(first) = &ensured[0] else { panic!("one connection, not {ensured:?}") };
        assert_eq!(first.display_name.as_deref(), name);
        assert!(ensured.iter().all(|one| *one == ensured[0]), "{ensured:?}");
    }
    assert_eq!(world.catalogue().await.sources[0].connections.len(), 2);
}

pub async fn a_name_means_an_id_or_a_label(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let connections = world.catalogue().await.sources[0].connections.clone();
    for connection in &connections {
        for name in [Some(connection.connection_id.as_str()), connection.display_name.as_deref()] {
            assert_eq!(ensure(&world, name).await, Ensured::One(connection.clone()));
        }
    }
    let Ensured::One(made) = ensure(&world, Some("Three")).await else { panic!("a new label is new") };
    assert_eq!(made.display_name.as_deref(), Some("Three"));
    assert!(connections.iter().all(|known| known.connection_id != made.connection_id));
    assert_eq!(ensure(&world, Some("Three")).await, Ensured::One(made));
}

pub async fn among_several_connections_the_caller_chooses(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let connections = world.catalogue().await.sources[0].connections.clone();
    assert_eq!(ensure(&world, None).await, Ensured::Several(connections.clone()));
    for connection in [&world.home, &world.work] {
        let renamed = world.store.rename_connection(&world.subject, connection, Some("Same")).await;
        assert!(renamed.expect("connections are renamed"));
    }
    let Ensured::Several(same) = ensure(&world, Some("Same")).await else { panic!("two have the label") };
    assert_eq!(same.len(), 2);
    assert_eq!(world.catalogue().await.sources[0].connections.len(), 2, "none was made");
}

pub async fn an_unknown_connector_has_no_connection_to_ensure(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let unknown = ConnectorKey::parse("unknown").expect("a plain key");
    for name in [None, Some("One")] {
        let ensured = world.store.ensure_connection(&world.subject, &unknown, name).await;
        assert_eq!(ensured.expect("connections are ensured"), Ensured::UnknownConnector);
    }
}

pub async fn connections_are_listed_oldest_first_and_renamed(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let names = async || {
        let catalogue = world.catalogue().await;
        let connections = catalogue.sources[0].connections.iter();
        connections.map(|connection| connection.display_name.clone()).collect::<Vec<_>>()
    };
    let called = |name: &str| Some(name.to_owned());
    assert_eq!(names().await, [called("One"), called("Two")]);
    let first = world.catalogue().await.sources[0].connections[0].connection_id.clone();
    for (name, expected) in [(Some("Home ⌂"), called("Home ⌂")), (None, None)] {
        let renamed = world.store.rename_connection(&world.subject, &first, name).await;
        assert!(renamed.expect("connections are renamed"));
        assert_eq!(names().await, [expected, called("Two")]);
    }
    let stranger = world.store.rename_connection(&subject("someone_else"), &first, Some("x")).await;
    assert!(!stranger.expect("connections are renamed"));
}

pub async fn a_removed_connection_takes_everything_with_it(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for connection in [&world.home, &world.work] {
        world.put_all(connection, "letters", vec![json!({"id": "a"}), json!({"id": "b"})]).await;
        world.put(connection, "folders", json!({"id": "f"})).await;
    }
    world.delete(&world.home, "letters", "a").await;
    let remove = async || {
        let removed = world.store.remove_connection(&world.subject, &world.home).await;
        removed.expect("connections are removed")
    };
    let counts = remove().await.expect("there was one");
    assert_eq!((counts.records, counts.blobs), (2, 0));
    assert_eq!(remove().await, None, "it is gone");
    let catalogue = world.catalogue().await;
    let readable = catalogue.find_connection(world.home.as_str()).filter(|(_, found)| found.is_readable());
    assert!(readable.is_none());
    assert_eq!(keys(&world.page(&world.owner(), &listing("letters")).await.rows), ["a", "b"]);
    assert_eq!(world.page(&world.owner(), &listing("folders")).await.rows.len(), 1);
}

pub async fn the_sealing_key_stays_the_same(store: Arc<dyn Store>) {
    let first = store.sealing_key().await.expect("a store has a sealing key");
    let again = store.sealing_key().await.expect("a store has a sealing key");
    assert_eq!(first, again);
    assert_ne!(first, [0; 32]);
}

pub async fn a_healthy_store_is_ready(store: Arc<dyn Store>) {
    store.check_ready().await.expect("a fresh store is ready");
}
