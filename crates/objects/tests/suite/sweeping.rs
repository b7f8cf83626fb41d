//! Promises about listing and sweeping.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use pdpp_objects::{ObjectName, Objects, ObjectsError, Stored, Unwanted};
use pdpp_wire::Instant;

use super::{DAY, bytes, read_all, store, subject, tomorrow};

/// A database of names, with something that happens between its answer and what follows from it.
#[derive(Default)]
struct Database {
    wanted: Mutex<BTreeSet<ObjectName>>,
    meanwhile: Option<Box<dyn Meanwhile>>,
}

#[async_trait]
trait Meanwhile: Send + Sync {
    async fn happens(&self, database: &Database);
}

impl Database {
    fn insert(&self, name: &ObjectName) {
        self.wanted.lock().unwrap().insert(name.clone());
    }
}

#[async_trait]
impl Unwanted for Database {
    async fn unwanted(&self, found: &[ObjectName]) -> Result<Vec<ObjectName>, Box<dyn Error + Send + Sync>> {
        let answer = {
            let wanted = self.wanted.lock().unwrap();
            found.iter().filter(|name| !wanted.contains(name)).cloned().collect()
        };
        if let Some(meanwhile) = &self.meanwhile {
            meanwhile.happens(self).await;
        }
        Ok(answer)
    }
}

/// Uploads by the four steps of the crate's header, in the worst moment.
struct UploadsNow {
    objects: Objects,
    size: usize,
    stored: std::sync::Arc<Mutex<Option<Stored>>>,
}

#[async_trait]
impl Meanwhile for UploadsNow {
    async fn happens(&self, database: &Database) {
        let mut upload = self.objects.start().await.unwrap();
        upload.write(bytes(self.size)).await.unwrap();
        let sealed = upload.seal(subject("ana")).await.unwrap();
        database.insert(&sealed.stored().name);
        *self.stored.lock().unwrap() = Some(sealed.publish().await.unwrap());
    }
}

pub(crate) async fn the_list_has_names_sizes_and_times(objects: &Objects) {
    let (first, second) = (store(objects, &bytes(10)).await, store(objects, &bytes(20)).await);
    let mut other = objects.start().await.unwrap();
    other.write(bytes(30)).await.unwrap();
    // A name that begins like the other's.
    other.finish(subject("anabel")).await.unwrap();
    let pages: Vec<_> = objects.list(&subject("ana")).try_collect().await.unwrap();
    let mut found: Vec<_> =
        pages.concat().into_iter().map(|found| (found.name, found.size_bytes, found.modified)).collect();
    found.sort_by_key(|(_, size, _)| *size);
    let lower = Instant::parse("2026-01-01").unwrap();
    assert!(found.iter().all(|(_, _, modified)| *modified > lower && *modified < tomorrow()), "{found:?}");
    let found: Vec<_> = found.into_iter().map(|(name, size, _)| (name, size)).collect();
    assert_eq!(found, [(first.name, 10), (second.name, 20)]);
    let mut subjects = objects.subjects().await.unwrap();
    subjects.sort();
    assert_eq!(subjects, [subject("ana"), subject("anabel")]);
    assert!(objects.list(&subject("nobody")).try_next().await.unwrap().is_none());
}

pub(crate) async fn a_sweep_removes_the_unwanted_and_old_only(objects: &Objects) {
    let (wanted, unwanted) = (store(objects, &bytes(10)).await, store(objects, &bytes(20)).await);
    let database = Database::default();
    database.insert(&wanted.name);
    let pages: Vec<_> = objects.list(&subject("ana")).try_collect().await.unwrap();
    let newest = pages.concat().iter().map(|found| found.modified).max().unwrap();
    let young = objects.sweep(&subject("ana"), newest.plus_seconds(86_399), DAY, &database).await.unwrap();
    assert_eq!((young.seen, young.removed), (2, 0));
    let old = objects.sweep(&subject("ana"), newest.plus_seconds(86_400), DAY, &database).await.unwrap();
    assert_eq!((old.seen, old.removed, old.removed_bytes), (2, 1, 20));
    assert!(matches!(read_all(objects, &unwanted).await, Err(ObjectsError::Missing { .. })));
    assert_eq!(read_all(objects, &wanted).await.unwrap(), bytes(10));
}

pub(crate) async fn an_upload_that_finishes_during_a_sweep_is_read_afterwards(objects: &Objects) {
    // Something old, so that the sweep has something to ask about; no grace, so that only the claim protects.
    store(objects, &bytes(10)).await;
    let stored = std::sync::Arc::default();
    let meanwhile =
        UploadsNow { objects: objects.clone(), size: 5000, stored: std::sync::Arc::clone(&stored) };
    let mut database = Database { meanwhile: Some(Box::new(meanwhile)), ..Database::default() };
    let swept = objects.sweep(&subject("ana"), tomorrow(), Duration::ZERO, &database).await.unwrap();
    assert!(swept.removed >= 1, "{swept:?}");
    database.meanwhile = None;
    objects.sweep(&subject("ana"), tomorrow(), Duration::ZERO, &database).await.unwrap();
    let stored = stored.lock().unwrap().clone().expect("the upload happened");
    assert_eq!(read_all(objects, &stored).await.unwrap(), bytes(5000));
}

pub(crate) async fn the_same_bytes_uploaded_again_during_a_sweep_survive_it(objects: &Objects) {
    // The old copy was just found unwanted when the same bytes are uploaded again.
    let old = store(objects, &bytes(5000)).await;
    let stored = std::sync::Arc::default();
    let meanwhile =
        UploadsNow { objects: objects.clone(), size: 5000, stored: std::sync::Arc::clone(&stored) };
    let database = Database { meanwhile: Some(Box::new(meanwhile)), ..Database::default() };
    let swept = objects.sweep(&subject("ana"), tomorrow(), Duration::ZERO, &database).await.unwrap();
    assert!(swept.removed >= 1, "{swept:?}");
    let new = stored.lock().unwrap().clone().expect("the upload happened");
    assert_eq!(new.name.blob(), old.name.blob());
    assert_eq!(read_all(objects, &new).await.unwrap(), bytes(5000));
    assert!(matches!(read_all(objects, &old).await, Err(ObjectsError::Missing { .. })));
}

pub(crate) async fn a_sweep_whose_judge_fails_removes_nothing(objects: &Objects) {
    struct Broken;
    #[async_trait]
    impl Unwanted for Broken {
        async fn unwanted(&self, _: &[ObjectName]) -> Result<Vec<ObjectName>, Box<dyn Error + Send + Sync>> {
            Err("the database is gone".into())
        }
    }
    let stored = store(objects, &bytes(10)).await;
    let failed = objects.sweep(&subject("ana"), tomorrow(), Duration::ZERO, &Broken).await;
    assert!(matches!(failed, Err(ObjectsError::Unjudged(_))), "{failed:?}");
    assert_eq!(read_all(objects, &stored).await.unwrap(), bytes(10));
}
