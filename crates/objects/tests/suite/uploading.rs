//! Promises about uploads.

use std::time::Duration;

use bytes::Bytes;
use pdpp_objects::Objects;

use super::{bytes, census, collect, read_all, store, subject};

/// More than four parts.
const LARGE: usize = 40 * 1024 * 1024 + 17;

pub(crate) async fn pieces_of_any_size_make_one_object(objects: &Objects) {
    let content = bytes(1_000_003);
    let whole = store(objects, &content).await;
    let mut upload = objects.start().await.unwrap();
    let mut rest = content.clone();
    for size in [0, 1, 2, 3, 500, 0, 65_536, 900_000].into_iter().chain(std::iter::repeat(7_000)) {
        upload.write(rest.split_to(size.min(rest.len()))).await.unwrap();
        if rest.is_empty() {
            break;
        }
    }
    let pieces = upload.finish(subject("ana")).await.unwrap();
    assert_eq!(pieces.name.blob(), whole.name.blob());
    assert_eq!(read_all(objects, &pieces).await.unwrap(), content);
}

pub(crate) async fn an_empty_object_is_one(objects: &Objects) {
    let upload = objects.start().await.unwrap();
    let stored = upload.finish(subject("ana")).await.unwrap();
    assert_eq!(stored.size_bytes, 0);
    // The digest of nothing.
    assert!(stored.name.to_string().starts_with("ana/e3/e3b0c44298fc1c14"), "{}", stored.name);
    assert_eq!(read_all(objects, &stored).await.unwrap(), Bytes::new());
}

pub(crate) async fn the_same_bytes_twice_are_two_names(objects: &Objects) {
    let content = bytes(1000);
    let (first, second) = (store(objects, &content).await, store(objects, &content).await);
    assert_eq!(first.name.blob(), second.name.blob());
    assert_ne!(first.name, second.name);
    objects.delete(&first.name).await.unwrap();
    assert_eq!(read_all(objects, &second).await.unwrap(), content);
}

pub(crate) async fn a_dropped_upload_leaves_nothing(objects: &Objects) {
    let mut small = objects.start().await.unwrap();
    small.write(bytes(1000)).await.unwrap();
    drop(small);
    let mut large = objects.start().await.unwrap();
    large.write(bytes(LARGE)).await.unwrap();
    assert_eq!(census(objects).await, (1, 0), "the large one waits");
    drop(large);
    let mut sealed = objects.start().await.unwrap();
    sealed.write(bytes(LARGE)).await.unwrap();
    drop(sealed.seal(subject("ana")).await.unwrap());
    // A bucket is told in the background.
    for _ in 0..100 {
        if census(objects).await == (0, 0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?} are left", census(objects).await);
}

pub(crate) async fn a_sealed_upload_is_not_there_until_it_is_published(objects: &Objects) {
    for size in [1000, LARGE] {
        let mut upload = objects.start().await.unwrap();
        upload.write(bytes(size)).await.unwrap();
        let sealed = upload.seal(subject("ana")).await.unwrap();
        let promised = sealed.stored().clone();
        let early = objects.head(&promised.name).await;
        assert!(matches!(early, Err(pdpp_objects::ObjectsError::Missing { .. })), "{early:?}");
        assert_eq!(sealed.publish().await.unwrap(), promised);
        assert_eq!(objects.head(&promised.name).await.unwrap(), size as u64);
    }
    assert_eq!(census(objects).await, (0, 2));
}

pub(crate) async fn more_than_one_part_is_streamed_both_ways(objects: &Objects) {
    let content = bytes(LARGE);
    let mut upload = objects.start().await.unwrap();
    let mut rest = content.clone();
    while !rest.is_empty() {
        upload.write(rest.split_to(rest.len().min(3_000_001))).await.unwrap();
    }
    let stored = upload.finish(subject("ana")).await.unwrap();
    assert_eq!(read_all(objects, &stored).await.unwrap(), content);
    let (start, end) = (8 * 1024 * 1024 - 5, 24 * 1024 * 1024 + 5);
    let part = collect(objects, &stored, start as u64..end as u64).await.unwrap();
    assert_eq!(part, content.slice(start..end));
    assert_eq!(census(objects).await, (0, 1));
}

pub(crate) async fn what_is_deleted_is_gone_and_may_be_deleted_again(objects: &Objects) {
    let stored = store(objects, &bytes(1000)).await;
    objects.delete(&stored.name).await.unwrap();
    let gone = objects.head(&stored.name).await;
    assert!(matches!(gone, Err(pdpp_objects::ObjectsError::Missing { .. })), "{gone:?}");
    objects.delete(&stored.name).await.unwrap();
}

pub(crate) async fn a_working_place_passes_its_checks(objects: &Objects) {
    objects.check().await.unwrap();
    objects.check_writable().await.unwrap();
    assert_eq!(census(objects).await, (0, 0));
}
