//! Puts the archive into a store.

use bytes::Bytes;
use pdpp_store::{Applied, BlobBinding, MAX_BATCH, OnConflict, Store, WriteTarget};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, RecordKey, StreamName, SubjectId};

use super::{SampleRecord, chat, notes, subject};

/// The ids a store gave to the archive's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The owner.
    pub subject_id: SubjectId,
    /// The chat at home.
    pub home: ConnectionId,
    /// The chat at work.
    pub work: ConnectionId,
    /// The notebook.
    pub notes: ConnectionId,
}

/// Registers the manifests, makes the connections, stores every record and the one blob.
pub async fn loaded(store: &dyn Store) -> Loaded {
    loaded_for(store, subject()).await
}

/// The same for another owner.
pub async fn loaded_for(store: &dyn Store, subject_id: SubjectId) -> Loaded {
    let (chat_manifest, notes_manifest) = (chat::manifest(), notes::manifest());
    let loaded = Loaded {
        home: connect(store, &subject_id, &chat_manifest, "Home").await,
        work: connect(store, &subject_id, &chat_manifest, "Work").await,
        notes: connect(store, &subject_id, &notes_manifest, "Notebook").await,
        subject_id,
    };
    load(store, &loaded.subject_id, &loaded.home, &chat_manifest, &chat::home()).await;
    load(store, &loaded.subject_id, &loaded.work, &chat_manifest, &chat::work()).await;
    load(store, &loaded.subject_id, &loaded.notes, &notes_manifest, &notes::records()).await;
    store_blob(store, &loaded).await;
    loaded
}

async fn connect(store: &dyn Store, subject_id: &SubjectId, manifest: &Manifest, name: &str) -> ConnectionId {
    store.put_manifest(subject_id, manifest, OnConflict::Refuse).await.expect("the store takes manifests");
    let made = store.create_connection(subject_id, manifest.key(), Some(name)).await;
    made.expect("the store takes connections").expect("the connector is registered").connection_id
}

/// Stores records of one connection, stream by stream, each of which must be accepted.
pub async fn load(
    store: &dyn Store,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    manifest: &Manifest,
    records: &[SampleRecord],
) {
    for stream in manifest.streams() {
        let own = records.iter().filter(|record| record.stream == stream.name().as_str());
        let admitted: Vec<_> = own.map(|record| record.admit(manifest)).collect();
        let target = target(subject_id, connection_id, stream.name());
        for batch in admitted.chunks(MAX_BATCH) {
            let applied = store.apply(&target, batch.to_vec()).await.expect("the store takes records");
            assert!(applied.into_iter().all(Applied::is_accepted), "the sample's records are accepted");
        }
    }
}

fn target(subject_id: &SubjectId, connection_id: &ConnectionId, stream: &StreamName) -> WriteTarget {
    WriteTarget {
        subject_id: subject_id.clone(),
        connection_id: connection_id.clone(),
        stream: stream.clone(),
    }
}

async fn store_blob(store: &dyn Store, loaded: &Loaded) {
    let mut writer = store.write_blob().await.expect("the store takes blobs");
    writer.write(Bytes::from_static(chat::BLOB)).await.expect("the store takes bytes");
    let binding = BlobBinding {
        subject_id: loaded.subject_id.clone(),
        connection_id: loaded.home.clone(),
        stream: StreamName::parse("attachments").expect("a plain name"),
        record_key: RecordKey::parse("a_1").expect("a plain key"),
        json_path: "/blob_ref".to_owned(),
        mime_type: "text/plain".to_owned(),
    };
    let receipt = writer.finish(binding).await.expect("the store keeps blobs");
    assert_eq!(receipt.blob_id, chat::blob_id());
}
