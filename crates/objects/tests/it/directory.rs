//! A directory that somebody else touches, and one that takes much.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use pdpp_objects::{Damage, Objects, ObjectsError, Settings, Stored};

use crate::suite::{DAY, bytes, census, collect, entropy, open, read_all, store, subject, tomorrow};

struct Root {
    objects: Objects,
    path: PathBuf,
    _keep: tempfile::TempDir,
}

fn root() -> Root {
    let keep = tempfile::tempdir().unwrap();
    let path = keep.path().join("objects");
    let objects = open(&format!("file://{}", path.display()), &Settings::default(), 1);
    Root { objects, path, _keep: keep }
}

fn file(root: &Root, object: &Stored) -> PathBuf {
    root.path.join(object.name.to_string())
}

fn damage(result: Result<Bytes, ObjectsError>) -> Damage {
    match result {
        Err(ObjectsError::Damaged { damage, .. }) => damage,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_was_changed_is_damaged() {
    let root = root();
    let stored = store(&root.objects, &bytes(1000)).await;
    let mut content = bytes(1000).to_vec();
    content[999] ^= 1;
    fs::write(file(&root, &stored), &content).unwrap();
    assert_eq!(damage(read_all(&root.objects, &stored).await), Damage::Content);
    fs::write(file(&root, &stored), &content[..999]).unwrap();
    let short = Damage::Short { expected: 1000, found: 999 };
    assert_eq!(damage(read_all(&root.objects, &stored).await), short);
    assert_eq!(damage(collect(&root.objects, &stored, 3..7).await), short);
}

#[tokio::test]
async fn a_file_that_shrinks_while_it_is_read_ends_in_an_error() {
    let root = root();
    let stored = store(&root.objects, &bytes(3_000_000)).await;
    let mut body = root.objects.read(&stored, 0..3_000_000).await.unwrap();
    body.try_next().await.unwrap().expect("a first piece");
    fs::File::options().write(true).open(file(&root, &stored)).unwrap().set_len(1_000_000).unwrap();
    let rest: Result<Vec<Bytes>, _> = body.try_collect().await;
    let Err(ObjectsError::Damaged { damage: Damage::Short { expected: 3_000_000, .. }, .. }) = rest else {
        panic!("{:?}", rest.map(|pieces| pieces.len()));
    };
}

#[tokio::test]
async fn a_directory_that_is_gone_is_out_of_reach_and_not_made_again() {
    let root = root();
    fs::remove_dir_all(&root.path).unwrap();
    assert!(matches!(root.objects.check().await, Err(ObjectsError::Unreachable(_))));
    assert!(root.objects.check_writable().await.is_err());
    assert!(matches!(root.objects.start().await, Err(ObjectsError::Unwritable(_))));
    assert!(!root.path.exists());
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_made_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(root().path).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_file_where_a_directory_belongs_is_refused() {
    let keep = tempfile::tempdir().unwrap();
    let path = keep.path().join("file");
    fs::write(&path, "").unwrap();
    let opened = Objects::open(path.to_str().unwrap(), &Settings::default(), entropy(1));
    assert!(matches!(opened, Err(ObjectsError::Unwritable(_))), "{opened:?}");
}

/// What a killed process leaves is found and removed, and strangers' files are left alone.
#[tokio::test]
async fn what_a_killed_process_left_is_swept() {
    let root = root();
    let mut upload = root.objects.start().await.unwrap();
    upload.write(bytes(10_000_000)).await.unwrap();
    std::mem::forget(upload);
    fs::create_dir_all(root.path.join("ana/zz")).unwrap();
    fs::write(root.path.join("ana/zz/README"), "mine").unwrap();
    assert_eq!(census(&root.objects).await, (1, 0));
    let swept = root.objects.sweep_staging(tomorrow(), DAY).await.unwrap();
    assert_eq!((swept.seen, swept.removed), (1, 1));
    assert_eq!(census(&root.objects).await, (0, 0));
    assert_eq!(files(&root.path), ["ana/zz/README"]);
}

#[tokio::test]
async fn a_write_that_was_abandoned_spoils_the_upload() {
    let root = root();
    let mut upload = root.objects.start().await.unwrap();
    {
        let mut write = Box::pin(upload.write(bytes(50_000_000)));
        assert!(futures_util::poll!(write.as_mut()).is_pending());
    }
    assert!(matches!(upload.write(bytes(1)).await, Err(ObjectsError::Unwritable(_))));
    assert!(matches!(upload.finish(subject("ana")).await, Err(ObjectsError::Unwritable(_))));
    assert_eq!(files(&root.path), [""; 0]);
}

/// Ten times what a buffer could reasonably hold goes through in both directions.
#[tokio::test]
async fn much_goes_through_little_memory() {
    let root = root();
    let piece = bytes(1_000_000);
    let before = anonymous_memory();
    let mut upload = root.objects.start().await.unwrap();
    let mut most = 0;
    for _ in 0..200 {
        upload.write(piece.clone()).await.unwrap();
        most = most.max(anonymous_memory());
    }
    let stored = upload.finish(subject("ana")).await.unwrap();
    let mut body = root.objects.read(&stored, 0..stored.size_bytes).await.unwrap();
    let mut read = 0;
    while let Some(piece) = body.try_next().await.unwrap() {
        read += piece.len();
        most = most.max(anonymous_memory());
    }
    assert_eq!(read, 200_000_000);
    let grown = most.saturating_sub(before);
    assert!(grown < 20_000_000, "grew by {grown} bytes");
}

/// Bytes of this process that are in memory and in no file.
fn anonymous_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    found
}
