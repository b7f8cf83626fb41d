//! What every place that keeps objects promises: run over a directory by `it`, over a bucket by `s3`.

mod reading;
mod sweeping;
mod uploading;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use pdpp_access::Entropy;
use pdpp_objects::{Objects, ObjectsError, Settings, Stored};
use pdpp_testkit::SeededEntropy;
use pdpp_wire::{Instant, SubjectId};

pub(crate) use reading::*;
pub(crate) use sweeping::*;
pub(crate) use uploading::*;

/// One empty place.
pub(crate) struct Place {
    pub(crate) objects: Objects,
    /// Removed at the end, where it is a directory.
    pub(crate) keep: Option<tempfile::TempDir>,
}

/// Different numbers in each test that shares a bucket.
pub(crate) fn entropy(seed: u64) -> Arc<dyn Entropy> {
    Arc::new(SeededEntropy::new(seed))
}

pub(crate) fn open(place: &str, settings: &Settings, seed: u64) -> Objects {
    Objects::open(place, settings, entropy(seed)).expect("the place can be opened")
}

pub(crate) fn subject(text: &str) -> SubjectId {
    SubjectId::parse(text).unwrap()
}

/// Bytes that repeat nowhere near.
pub(crate) fn bytes(length: usize) -> Bytes {
    let mut bytes = vec![0; length];
    SeededEntropy::new(length as u64).fill(&mut bytes);
    bytes.into()
}

pub(crate) async fn store(objects: &Objects, content: &Bytes) -> Stored {
    let mut upload = objects.start().await.unwrap();
    upload.write(content.clone()).await.unwrap();
    upload.finish(subject("ana")).await.unwrap()
}

pub(crate) async fn read_all(objects: &Objects, object: &Stored) -> Result<Bytes, ObjectsError> {
    collect(objects, object, 0..object.size_bytes).await
}

pub(crate) async fn collect(
    objects: &Objects,
    object: &Stored,
    range: std::ops::Range<u64>,
) -> Result<Bytes, ObjectsError> {
    let pieces: Vec<Bytes> = objects.read(object, range).await?.try_collect().await?;
    Ok(pieces.concat().into())
}

/// Later than anything a test stores, by the clock of any store.
pub(crate) fn tomorrow() -> Instant {
    Instant::parse("2100-01-01T00:00:00Z").unwrap()
}

pub(crate) const DAY: Duration = Duration::from_hours(24);

/// How many things wait to be named, and how many objects `ana` has.
pub(crate) async fn census(objects: &Objects) -> (u64, usize) {
    let never = Duration::from_secs(u64::MAX);
    let waiting = objects.sweep_staging(tomorrow(), never).await.unwrap().seen;
    let pages: Vec<_> = objects.list(&subject("ana")).try_collect().await.unwrap();
    (waiting, pages.concat().len())
}

/// Makes a test of every promise, over places made by `$place`.
#[macro_export]
macro_rules! every_promise {
    ($place:ident: $($promise:ident)*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $promise() {
            let place = $place(stringify!($promise)).await;
            suite::$promise(&place.objects).await;
            drop(place.keep);
        })*
    };
}

/// The promises, named once.
#[macro_export]
macro_rules! promises {
    ($place:ident) => {
        $crate::every_promise! { $place:
            what_was_stored_is_read_again
            pieces_of_any_size_make_one_object
            a_range_has_exactly_its_bytes
            a_range_outside_the_object_is_refused
            an_absent_object_is_missing
            a_size_that_was_remembered_wrongly_is_damage
            an_empty_object_is_one
            the_same_bytes_twice_are_two_names
            a_dropped_upload_leaves_nothing
            a_sealed_upload_is_not_there_until_it_is_published
            more_than_one_part_is_streamed_both_ways
            what_is_deleted_is_gone_and_may_be_deleted_again
            the_list_has_names_sizes_and_times
            a_sweep_removes_the_unwanted_and_old_only
            an_upload_that_finishes_during_a_sweep_is_read_afterwards
            the_same_bytes_uploaded_again_during_a_sweep_survive_it
            a_sweep_whose_judge_fails_removes_nothing
            a_working_place_passes_its_checks
        }
    };
}
