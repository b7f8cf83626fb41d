//! The promises over a bucket of an S3-compatible server that is not ours. `cargo xtask objects` starts one and runs
//! this; it has no place among tests that need nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../suite/mod.rs"]
mod suite;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use bytes::Bytes;
use pdpp_objects::{Credentials, ObjectsError, Settings, Verify};
use suite::{DAY, Place, bytes, census, collect, open, read_all, store, subject, tomorrow};

const ENDPOINT: &str = "PDPP_TEST_S3_ENDPOINT";
const BUCKET: &str = "PDPP_TEST_S3_BUCKET";

fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run `cargo xtask objects`, which starts a store"))
}

fn settings() -> Settings {
    let credentials = Credentials {
        access_key_id: "pdpp-tests".to_owned(),
        secret_access_key: "not-a-secret".to_owned(),
        session_token: None,
    };
    Settings {
        endpoint: Some(variable(ENDPOINT)),
        credentials: Some(credentials),
        // The server answers one request at a time, and one copy of the tests asks a lot.
        patience: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// A prefix of its own for each test, and numbers that are only its own.
async fn place(test: &str) -> Place {
    let mut hasher = DefaultHasher::new();
    test.hash(&mut hasher);
    let name = format!("s3://{}/tests/{test}", variable(BUCKET));
    let objects = open(&name, &settings(), hasher.finish());
    objects.check().await.expect("the store answers");
    Place { objects, keep: None }
}

promises!(place);

#[tokio::test]
async fn a_bucket_that_is_not_there_is_no_lost_object() {
    let objects = open("s3://no-such-bucket-here", &settings(), 1);
    assert!(matches!(objects.check().await, Err(ObjectsError::Denied(_))));
    let mut upload = objects.start().await.unwrap();
    upload.write(bytes(10)).await.unwrap();
    assert!(matches!(upload.finish(subject("ana")).await, Err(ObjectsError::Denied(_))));
}

#[tokio::test]
async fn an_upload_of_a_killed_process_is_swept() {
    let place = place("an_upload_of_a_killed_process_is_swept").await;
    let objects = &place.objects;
    let mut upload = objects.start().await.unwrap();
    upload.write(bytes(20 * 1024 * 1024)).await.unwrap();
    // Whoever is killed drops nothing.
    std::mem::forget(upload);
    assert_eq!(census(objects).await, (1, 0));
    let swept = objects.sweep_staging(tomorrow(), DAY).await.unwrap();
    assert_eq!((swept.seen, swept.removed), (1, 1));
    assert_eq!(census(objects).await, (0, 0));
}

#[tokio::test]
async fn an_upload_that_was_swept_away_fails_and_others_are_left_alone() {
    let place = place("an_upload_that_was_swept_away_fails").await;
    let objects = &place.objects;
    let kept = store(objects, &bytes(1000)).await;
    let mut upload = objects.start().await.unwrap();
    upload.write(bytes(20 * 1024 * 1024)).await.unwrap();
    let sealed = upload.seal(subject("ana")).await.unwrap();
    assert_eq!(objects.sweep_staging(tomorrow(), DAY).await.unwrap().removed, 1);
    let late = sealed.publish().await;
    assert!(matches!(late, Err(ObjectsError::Missing { .. })), "{late:?}");
    assert_eq!(read_all(objects, &kept).await.unwrap(), bytes(1000));
}

#[tokio::test]
async fn a_store_that_is_trusted_is_asked_for_the_size_only() {
    let settings = Settings { verify: Verify::Length, ..settings() };
    let place = format!("s3://{}/tests/trusted/deeper", variable(BUCKET));
    let objects = open(&place, &settings, 77);
    let content: Bytes = bytes(9 * 1024 * 1024);
    let stored = store(&objects, &content).await;
    assert_eq!(collect(&objects, &stored, 1..3).await.unwrap(), content.slice(1..3));
}
